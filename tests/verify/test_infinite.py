"""Tests what minus infinity decides where values are promised to be finite.

The promise is of inputs, and of what the algorithm makes of them. What a kernel makes besides, as
`exp(x + 1000)`, may be too large for its type: infinity less infinity is a nan.
"""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.handwritten import launch
from tests.verify.texts import written

SUM = written("Func f; In A; Var i; RVar j; f[i] = rsum(exp(A[i, j]), j);")
KERNEL = """\
import triton
import triton.language as tl

# verify: sums[(len(i),)](A, f, len(j), A.stride(0), B=next_power_of_2(len(j)))
# assume: len(i) <= 2**30, reach(A) < 2**31, finite


@triton.jit
def sums(a, o, m, s, B: tl.constexpr):
    i = tl.program_id(0)
    j = tl.arange(0, B)
    x = tl.load(a + i * s + j, mask=j < m, other=0.0)
    y = tl.where(j < m, x, {nothing})
    tl.store(o + i, tl.sum(tl.exp(y), axis=0))
"""
RIGHT = {
    "minus infinity": '-float("inf")',
    "less a value": '-float("inf") - x',
    "and its opposite": '-x - float("inf")',
    "less a size": '-float("inf") - tl.abs(x)',
    "and the larger of two": 'tl.maximum(x, -3.0) - float("inf")',
    "and a number": '5.0 - float("inf")',
}
# Each is infinity less infinity.
TOO_LARGE = {
    "an exponential": 'tl.exp(x + 1000.0) - float("inf")',
    "a power of two": 'tl.exp2(x + 1000.0) - float("inf")',
    "a product": '(x + 3.0e38) * 8.0 - float("inf")',
    "a sum": '(x + 3.0e38) + (x + 3.0e38) - float("inf")',
    "a difference": '-float("inf") - ((x - 3.0e38) - (x + 3.0e38))',
    "the opposite of an exponential": '-float("inf") + tl.abs(-tl.exp(x + 1000.0))',
    "the larger of two": 'tl.maximum(tl.exp(x + 1000.0), x) - float("inf")',
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_finite_value_changes_no_infinity(name: str) -> None:
    assert verify(SUM, KERNEL.format(nothing=RIGHT[name])).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_a_kernel_makes_itself_may_be_infinite(name: str) -> None:
    text = KERNEL.format(nothing=TOO_LARGE[name])
    assert verify(SUM, text).verdict is not LayerVerdict.PROVED
    with pytest.raises(Exception, match="should be"):
        launch(SUM, text, {"i": 2, "j": 5})


def test_what_is_proved_is_right() -> None:
    launch(SUM, KERNEL.format(nothing=RIGHT["less a value"]), {"i": 2, "j": 5})
