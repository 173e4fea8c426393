"""A remainder by a size is the number itself where that is known to be below the size."""

from pathlib import Path

import pytest

from tests.cli.conftest import Entry, call
from tests.cli.test_compile_verified import here

__all__ = ["call", "here"]

MODULE = """\
import triton
import triton.language as tl


# tensors: x[e, n], ids[r].i64, out(y[r, n])
# verify: k[(len(r), cdiv(len(n), 64))](x, ids, y, len(n))
# assume: len(n) % 64 == 0, len(n) <= 2**20, reach(x) < 2**31, reach(y) < 2**31
# assume: 0 <= ids[...] < len(e)
@triton.jit
def k(x, ids, y, n):
    row = tl.program_id(0)
    at = (tl.program_id(1) * 64 + tl.arange(0, 64)) % n
    e = tl.load(ids + row)
    tl.store(y + row * n + at, tl.load(x + e * n + at))
"""
WRONG = {
    "sizes are no multiples": ("len(n) % 64 == 0, ", ""),
    "they are multiples of less": ("len(n) % 64 == 0", "len(n) % 32 == 0"),
    "lanes begin below 0": ("tl.arange(0, 64)) % n", "tl.arange(0, 64) - 1) % n"),
    "lanes end above the size": ("tl.arange(0, 64)) % n", "tl.arange(0, 64) + 1) % n"),
    "the divisor is another size": (
        "* 64 + tl.arange(0, 64)) % n",
        "* 64 + tl.arange(0, 64)) % row",
    ),
    "data are outside": ("0 <= ids[...] < len(e)", "0 <= ids[...] <= len(e)"),
}


def test_it_may_be_stored_at_and_beside_data(call: Entry, here: Path) -> None:
    (here / "m.py").write_text(MODULE)
    code, out, err = call("verify", "--kernel", "m.py::k")
    assert code == 0, out + err


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_a_wrong_kernel_is_not_proved(call: Entry, here: Path, change: tuple[str, str]) -> None:
    assert change[0] in MODULE
    (here / "m.py").write_text(MODULE.replace(*change))
    assert call("verify", "--kernel", "m.py::k")[0] != 0
