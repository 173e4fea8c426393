"""What a module sets in a thing that stands for Triton where it is missing."""

from pathlib import Path

import pytest

from tests.cli.conftest import Entry, call
from tests.cli.test_compile_verified import here

__all__ = ["call", "here"]

MODULE = """\
try:
    import triton
    import triton.language as tl

    HAS = True
except ImportError:
    HAS = False

if not HAS:
    from unittest.mock import MagicMock

    def same(function):
        return function

    triton = MagicMock()
    triton.jit = same
    tl = MagicMock()


# tensors: x[n], out(y[n])
# verify: k[(cdiv(len(n), 64),)](x, y, len(n))
# assume: len(n) <= 2**20
@triton.jit
def k(x, y, n):
    at = tl.program_id(0) * 64 + tl.arange(0, 64)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
"""
SET = "    triton.jit = same\n"
OTHERS = {
    "a part of Triton itself": (SET, "if HAS:\n" + SET),
    "before the thing is made": (
        "    triton = MagicMock()\n" + SET,
        SET + "    triton = MagicMock()\n",
    ),
    "of what was imported again": (SET, "    import triton\n" + SET),
    "of what a call was asked for": ("triton = MagicMock()", "triton = MagicMock('triton')"),
    "of another name": (SET, "    tl.load = same\n"),
}


def test_a_part_of_a_stand_in_is_no_part_of_triton(call: Entry, here: Path) -> None:
    (here / "m.py").write_text(MODULE)
    code, out, err = call("verify", "--kernel", "m.py::k")
    assert code == 0, out + err
    assert "'triton' of 'm.py' is 'triton', as line 2 says, and not what line 15 gives it" in out


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_other_parts_are(call: Entry, here: Path, change: tuple[str, str]) -> None:
    assert change[0] in MODULE
    (here / "m.py").write_text(MODULE.replace(*change))
    assert call("verify", "--kernel", "m.py::k")[0] != 0
