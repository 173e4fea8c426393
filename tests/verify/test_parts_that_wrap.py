"""Numbers of 32 bits that are made of data for an address, and wrap: none of them is proved."""

import pytest

from dtpoly.checking import check
from dtpoly.cli.without_algorithm import STRUCTURE, algorithm_of
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import deciding, verify
from tests.verify.running_data import declared
from tests.verify.texts import changed

TEXT = """\
import triton
import triton.language as tl

# tensors: X[v, n, 128], ids[r].i32, out(Y[r, 128])
# verify: k[(len(r),)](X, ids, Y, len(n), len(v))
# assume: reach(X) < 2**31, reach(Y) < 2**31, 0 <= ids[...] < len(v), len(n) >= 1, len(v) <= 2**30
@triton.jit
def k(X, ids, Y, n, v):
    r = tl.program_id(0)
    i = tl.load(ids + r)
    d = tl.arange(0, 128)
    x = tl.load(X + i * n * 128 + d)
    tl.store(Y + r * 128 + d, x)
"""
LOAD = "x = tl.load(X + i * n * 128 + d)"
# The value of the address may be the right one modulo 2**32, but it is used in other ways, too.
WRAPS = {
    "a quotient of it": "x = tl.load(X + (i * n * 256) // 2 + d)",
    "something is taken away": "x = tl.load(X + (i * n * 256 - i * n * 128) + d)",
    "something is taken away in two steps": "x = tl.load(X + i * n * 256 - i * n * 128 + d)",
    "taken away in 64 bits": (
        "x = tl.load(X + (i * n * 256).to(tl.int64) - (i * n).to(tl.int64) * 128 + d)"
    ),
    "added with another sign": "x = tl.load(X + i * n * 256 + (-(i * n * 128)) + d)",
    "a mask of it": "x = tl.load(X + i * n * 128 + d, mask=i * n * 256 >= 0)",
    "a choice by it": "x = tl.load(X + tl.where(i * n * 512 >= 0, i, 0) * n * 128 + d)",
    "a branch by it": (
        "x = tl.zeros((128,), tl.float32)\n    if i * n * 256 < 0:\n"
        "        x = tl.load(X + i * n * 128 + 128 * v + d)"
    ),
    "a remainder": "x = tl.load(X + (i * n * 256) % 128 + i * n * 128 + d)",
    "the smaller one": "x = tl.load(X + tl.minimum(i * n * 128, i * n * 256) + d)",
    "beyond the end": "x = tl.load(X + i * n * 128 + 1 + d)",
    "beyond the reach": "x = tl.load(X + i * n * 129 + d)",
    "where nothing is loaded": "x = tl.load(X + (i * n * 256 - i * n * 128) + d, mask=i < v)",
    "a bound of a loop": (
        "x = tl.zeros((128,), tl.float32)\n    for j in range(i * n * 256, i * n * 256 + 1):\n"
        "        x += tl.load(X + (j - i * n * 256) + d)"
    ),
}
PROMISES = {
    "no reach": ("reach(X) < 2**31, ", ""),
    "no range": ("0 <= ids[...] < len(v), ", ""),
    "numbers below 0": ("0 <= ids[...]", "-1 <= ids[...]"),
}


def verdict(text: str) -> LayerVerdict:
    """Return what is known of a kernel without an algorithm."""
    made = check(Source("k.py", algorithm_of(declared(text))))
    assert made.program is not None
    return verify(made.program, text, only=STRUCTURE, run_of=deciding).verdict


def test_a_part_of_an_address_is_bounded_by_the_reach() -> None:
    assert verdict(TEXT) is LayerVerdict.PROVED
    masked = changed(TEXT, LOAD, "x = tl.load(X + i * n * 128 + d, mask=i < v)")
    assert verdict(masked) is LayerVerdict.PROVED


@pytest.mark.parametrize("one", WRAPS)
def test_what_shows_a_wrap_is_not_proved(one: str) -> None:
    assert verdict(changed(TEXT, LOAD, WRAPS[one])) is not LayerVerdict.PROVED


@pytest.mark.parametrize("one", PROMISES)
def test_each_promise_is_needed(one: str) -> None:
    assert verdict(changed(TEXT, *PROMISES[one])) is not LayerVerdict.PROVED
