"""Arithmetic of numbers as written is exact only as far as floats have them: else it is not done.

A kernel reduces what its masked lanes hold. Where that is nothing by the laws of real numbers, and
is a nan or 0 in f32, a wrong kernel was proved.
"""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.handwritten import launch
from tests.verify.texts import written

SUM = written("Func f; In A; Var i; RVar j; f[i] = rsum(A[i, j], j);")
KERNEL = """\
import triton
import triton.language as tl

# verify: sums[(len(i),)](A, f, len(j), A.stride(0), B=next_power_of_2(len(j)))
# assume: len(i) <= 2**30, reach(A) < 2**31


@triton.jit
def sums(a, o, m, s, B: tl.constexpr):
    i = tl.program_id(0)
    j = tl.arange(0, B)
    x = tl.load(a + i * s + j, mask=j < m, other={other})
    z = tl.full((B,), {number}, tl.float32)
    y = tl.where(j < m, x, {nothing})
    tl.store(o + i, tl.sum(y, axis=0))
"""
# A number, and what becomes of it.
RIGHT = {
    "0 times 0": ("0.0", "z * z"),
    "a number less itself": ("3.5", "z - z"),
    "a product less itself": ("1152921504606846976.0", "z * z - z * z"),
    "a whole number less itself": ("4096.0", "z * z - z * z"),
    "a sum less itself": ("1.0e38", "(z + z) - (z + z)"),
    "0 times a number": ("2.0", "(z - z) * z"),
}
WRONG = {
    "a product that is too large": ("3.0e38", "z * 10.0 - z * 10.0"),
    "a whole number that is": ("1267650600228229401496703205376.0", "z * z - z * z"),
    "a sum that is": ("3.0e38", "(z + z) - (z + z)"),
    "a difference that is": ("-3.0e38", "(z - 3.0e38) - (z - 3.0e38)"),
    "0 times what is": ("3.0e38", "(z - z) * (z * 2.0)"),
    "a cube that is": ("1.0e13", "z * z * z - z * z * z"),
}
# Of what is too small all is lost. These are powers of two, which f32 has with all digits.
UP, DOWN = "1.2676506002282294e30", "7.888609052210118e-31"  # 2**100, 2**-100
SMALL = {
    "a square that is too small": (DOWN, f"z * z * {UP} * {UP} - 1.0"),
    "a cube that is": (DOWN, f"z * z * z * {UP} * {UP} * {UP} - 1.0"),
    "a product with a number": (DOWN, f"z * {DOWN} * {UP} * {UP} - 1.0"),
    "a sum of squares": (DOWN, f"(z * z + z * z) * {UP} * {UP} - 2.0"),
    "a difference times it": (DOWN, f"(2.0 * z - z) * z * {UP} * {UP} - 1.0"),
}
# What f32 rounds, multiplied: neighbours are 2 apart from 2**24 on.
ROUNDED = {
    "a sum that is rounded": ("16777216.0", "((z + 1.0) - z - 1.0) * 1.0e6"),
    "a difference that is": ("-16777216.0", "((z - 1.0) - z + 1.0) * 1.0e6"),
    "a product that is": ("4097.0", "(z * z - 16785408.0 - 1.0) * 1.0e6"),
    "a sum with a part of one": ("8388608.0", "((z + 0.25) - z - 0.25) * 1.0e6"),
    "a larger product": ("5793.0", "(z * z - 33558848.0 - 1.0) * 1.0e6"),
}


def kernel(number: str, nothing: str) -> str:
    return KERNEL.format(other="0.0", number=number, nothing=nothing)


@pytest.mark.parametrize("name", RIGHT)
def test_numbers_that_floats_have_are_computed_with(name: str) -> None:
    assert verify(SUM, kernel(*RIGHT[name])).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("name", WRONG)
def test_what_is_too_large_for_a_float_is_not_nothing(name: str) -> None:
    text = kernel(*WRONG[name])
    assert verify(SUM, text).verdict is not LayerVerdict.PROVED
    with pytest.raises(Exception, match="should be"):
        launch(SUM, text, {"i": 2, "j": 5})


@pytest.mark.parametrize("name", SMALL)
def test_what_is_too_small_for_a_float_is_not_kept(name: str) -> None:
    text = kernel(*SMALL[name])
    assert verify(SUM, text).verdict is not LayerVerdict.PROVED
    with pytest.raises(Exception, match="should be"):
        launch(SUM, text, {"i": 2, "j": 5})


@pytest.mark.parametrize("name", ROUNDED)
def test_what_a_float_rounds_is_not_carried_out(name: str) -> None:
    text = kernel(*ROUNDED[name])
    assert verify(SUM, text).verdict is not LayerVerdict.PROVED
    with pytest.raises(Exception, match="should be"):
        launch(SUM, text, {"i": 2, "j": 5})


def test_what_is_proved_is_right() -> None:
    launch(SUM, kernel(*RIGHT["a product less itself"]), {"i": 2, "j": 5})
