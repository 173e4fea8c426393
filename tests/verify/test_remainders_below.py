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


MASKED = """\
import triton
import triton.language as tl


# tensors: x[r, n], s[b], ids[r].i32, out(y[r, n])
# verify: k[(cdiv(len(r), 64), len(n))](x, s, ids, y, len(r), len(n))
# assume: len(r) <= 2**20, len(n) <= 2**20, reach(x) < 2**31, reach(y) < 2**31
# assume: len(b) == cdiv(len(r), 16)
@triton.jit
def k(x, s, ids, y, r, n):
    column = tl.program_id(1)
    row = tl.program_id(0) * 64 + tl.arange(0, 64)
    there = row < r
    row = row % r
    v = tl.load(x + row * n + column) * tl.load(s + row // 16)
    i = tl.load(ids + row, mask=there, other=0)
    tl.store(y + row * n + column, v + i, mask=there)
"""
WRONG_MASKS = {
    "no mask": ("v + i, mask=there)", "v + i)"),
    "the mask of what is always below": ("row = row % r\n", "row = row % r\n    there = row < r\n"),
    "the mask lets one more through": ("there = row < r", "there = row <= r"),
    "the remainder of the next row": ("row = row % r", "row = (row + 1) % r"),
    "the remainder by another size": ("row = row % r", "row = row % n"),
    "a quotient by less": ("row // 16", "row // 8"),
    "a quotient and one more": ("row // 16", "row // 16 + 1"),
    "too few blocks": ("cdiv(len(r), 16)", "len(r) // 16"),
    "a choice beside a remainder": ("+ row // 16", "+ tl.where(there, row + 1, row % r) // 16"),
}


def test_a_mask_makes_it_the_number_itself(call: Entry, here: Path) -> None:
    (here / "m.py").write_text(MASKED)
    code, out, err = call("verify", "--kernel", "m.py::k")
    assert code == 0, out + err


@pytest.mark.parametrize("change", WRONG_MASKS.values(), ids=WRONG_MASKS)
def test_a_wrong_mask_is_not_proved(call: Entry, here: Path, change: tuple[str, str]) -> None:
    assert change[0] in MASKED
    (here / "m.py").write_text(MASKED.replace(*change))
    assert call("verify", "--kernel", "m.py::k")[0] != 0
