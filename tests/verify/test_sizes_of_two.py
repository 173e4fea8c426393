"""Methods of sizes that are 2 at least, branches that numbers leave out, and blocks of data."""

from pathlib import Path

import pytest

from tests.cli.conftest import Entry, call
from tests.cli.test_compile_verified import here

__all__ = ["call", "here"]

MODULE = """\
import triton
import triton.language as tl


# tensors: x[n], lens[r].i32, out(y[n]), out(z[r, 64])
# verify: k[(cdiv(len(n), 64), len(r))](x, lens, y, z, len(n), 2)
# assume: 2 <= len(n), len(n) <= 2**20, len(r) == 1, 0 <= lens[...] <= 1024, reach(z) < 2**31
@triton.jit
def k(x, lens, y, z, n, kind: int, BLOCKS: "tl.constexpr" = 64):
    at = tl.program_id(0) * 64 + tl.arange(0, 64)
    row = tl.program_id(1)
    v = tl.load(x + at, mask=at < n)
    if kind == 0:
        tl.store(x + at, v, mask=at < n)
    elif kind == 2:
        v = v / n.to(tl.float32)
    tl.store(y + at, v, mask=at < n)
    blocks = tl.cdiv(tl.load(lens + row), 16)
    lane = tl.arange(0, BLOCKS)
    if tl.program_id(0) == 0:
        tl.store(z + row * 64 + lane, tl.where(lane < blocks, 1.0, 0.0))
        tl.store(z + row * 64 + blocks, 0.0, mask=blocks < 0)
"""
RIGHT = MODULE.replace("        tl.store(z + row * 64 + blocks, 0.0, mask=blocks < 0)\n", "")
WRONG = {
    "a size may be 1": ("2 <= len(n)", "1 <= len(n)"),
    "a size that is computed": ("n.to(tl.float32)", "(n - 1).to(tl.float32)"),
    "the branch is taken": ("len(n), 2)", "len(n), 0)"),
    "the number is not known": ("len(n), 2)", "len(n), len(r) - 1)"),
    "another text": ('"tl.constexpr"', '"tl.int32"'),
    "blocks of data reach too far": (
        "lane < blocks, 1.0, 0.0))",
        "lane < blocks, 1.0, 0.0), mask=lane < blocks)",
    ),
    "an address of blocks of data": ("+ row * 64 + lane,", "+ row * 64 + lane + blocks,"),
}


def test_these_are_read(call: Entry, here: Path) -> None:
    (here / "m.py").write_text(RIGHT)
    code, out, err = call("verify", "--kernel", "m.py::k")
    assert code == 0, out + err


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_a_wrong_kernel_is_not_proved(call: Entry, here: Path, change: tuple[str, str]) -> None:
    assert change[0] in RIGHT
    (here / "m.py").write_text(RIGHT.replace(*change))
    code, out, _ = call("verify", "--kernel", "m.py::k")
    assert code != 0 or "PROVED*" in out


BLOCKS = """\
import triton
import triton.language as tl


# tensors: lens[r].i32, w[64], out(z[r])
# verify: k[(len(r),)](lens, w, z)
# assume: len(r) <= 2**20, 0 <= lens[...] <= 1008
@triton.jit
def k(lens, w, z):
    row = tl.program_id(0)
    last = tl.cdiv(tl.load(lens + row), 16)
    tl.store(z + row, tl.load(w + last))
"""


@pytest.mark.parametrize(
    ("said", "is_inside"),
    [
        ("0 <= lens[...] <= 1008", True),
        ("0 <= lens[...] <= 1009", False),
        ("-15 <= lens[...] <= 1008", True),
        ("-40 <= lens[...] <= 1008", False),
        ("0 <= lens[...]", False),
    ],
)
def test_blocks_of_data(call: Entry, here: Path, said: str, is_inside: bool) -> None:
    (here / "m.py").write_text(BLOCKS.replace("0 <= lens[...] <= 1008", said))
    code, out, err = call("verify", "--kernel", "m.py::k")
    assert (code == 0) == is_inside, out + err
