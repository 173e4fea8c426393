"""Numbers as written that are brought to a type of floats: carried out as machines do, or left."""

from fractions import Fraction
from random import Random

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.verify.algebra.numerals import FARTHEST, LARGEST, brought_to, nearest, options
from dtpoly.verify.algebra.term_building import applied, literal, rounded
from dtpoly.verify.algebra.terms import AppliedOperation, Literal
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import changed, text_of, written

TORCH = {
    "tl.float16": torch.float16,
    "tl.bfloat16": torch.bfloat16,
    "tl.float32": torch.float32,
    "tl.float64": torch.float64,
}
CAST = written("Func f; In A: f16; Var x; f[x] = cast(0.1, f16) * A[x]; f.compile();")
BEYOND = written(
    "Func f, g; In A: f16; Var x; f[x] = cast(9223372036854775807, f16); g[x] = A[x] * f[x];"
    "f.inline(); g.compile();"
)
BESIDE = written("Func f; In A: i32; Var x; f[x] = 1e-05 != pad(A, 3)[x + 3]; f.compile();")
SINGLE = written("Func f; In A: f32; Var x; f[x] = A[x] * -cast(1e+16, f32); f.compile();")
DOUBLE = written("Func f; In A: f64; Var x; f[x] = A[x] * cast(1e+16, f64); f.compile();")
WHOLE = written(
    "Func f: i64; In C: i16; Var x; f[x] = C[x] * where(C[x] > 3, 2, 9223372036854775807);"
    "f.compile();"
)
FARTHER = written("Func f: f8e5m2; Var x; f[x] = ceil(3e38); f.compile();")
ALONE = written("Func g: f16; RVar k; Var l; g[l] = rprod(div_rn(7, 0.1) + k, k); g.compile();")
OF_ONE = written("Func f; In A: f32; Var x; f[x] = A[x] * exp(0.1); f.compile();")
WIDE = written("Func f; In A: f64; Var x; f[x] = A[x] * exp(0.1); f.compile();")
CALLERS = written("Func f; In A; Var x; f[x] = A[x] * exp(0.1) * 0.1; f.compile();")
ALL = (CAST, BEYOND, BESIDE, SINGLE, DOUBLE, WHOLE, FARTHER, ALONE, OF_ONE, WIDE, CALLERS)
NARROW_EXP = "tl.exp(tl.full((), 0.1, tl.float32)).to(tl.float16)"
WRONG = {
    "another number of the type": (CAST, "0.1, tl.float16", "0.1001, tl.float16"),
    "rounded once more": (
        CAST,
        "tl.full((), 0.1, tl.float16)",
        "tl.full((), 0.1, tl.bfloat16).to(tl.float16)",
    ),
    "not rounded": (CAST, "0.1, tl.float16", "0.1, tl.float32"),
    "the largest that there is": (BEYOND, "9.223372036854776e18", "65504.0"),
    "below nothing": (BEYOND, "9.223372036854776e18", "-9.223372036854776e18"),
    "an infinity on the way": (BEYOND, "9.223372036854776e18", "float('inf')"),
    "another sign": (SINGLE, "-tl.full((), 1e16", "tl.full((), 1e16"),
    "the next number": (SINGLE, "1e16", "10000001638690816.0"),
    "rounded where it must not be": (DOUBLE, "1e16, tl.float64", "1e16, tl.float32"),
    "what it is beside is like it": (BESIDE, "1e-05", "3.0"),
    "rounded it is like it": (BESIDE, "1e-05", "3.00000001"),
    "as far below nothing": (FARTHER, "3e38", "-3e38"),
    "a number that the type has": (FARTHER, "3e38", "32768.0"),
    "a number that may become the largest": (FARTHER, "3e38", "60000.0"),
    "a number that is an infinity on the way": (FARTHER, "3e38", "1e39"),
    "a number that is an infinity on some ways": (FARTHER, "3e38", "3.4e38"),
    "among numbers, the next that its type has": (ALONE, "0.1, tl", "0.10000001, tl"),
    "among numbers, one of a narrower type": (ALONE, "0.1, tl.float32", "0.1, tl.float16"),
    "among numbers, rounded by the way": (
        *(ALONE, "0.1, tl.float32)", "0.1, tl.bfloat16).to(tl.float32)"),
    ),
    "what is made of a number is rounded": (
        *(OF_ONE, "tl.exp(tl.full((), 0.1, tl.float32))", NARROW_EXP),
    ),
    "a number of 32 bits where something has 64": (WIDE, "0.1, tl.float64", "0.1, tl.float32"),
    "a number of 32 bits where something may have 64": (CALLERS, "0.1, real", "0.1, tl.float32"),
    "beside what may have 64 bits, a number of 32": (
        *(CALLERS, "* 0.1)", "* tl.full((), 0.1, tl.float32))"),
    ),
    "another residue": (WHOLE, "9223372036854775807, tl.int64", "9223372036854775806, tl.int64"),
    "wrapped in more": (
        WHOLE,
        "9223372036854775807, tl.int64)",
        "32767, tl.int64)",
    ),
}


@pytest.mark.parametrize("kind", TORCH)
def test_it_is_what_torch_makes_of_it(kind: str) -> None:
    random = Random(7)
    for _ in range(2000):
        value = random.uniform(-2, 2) * 2.0 ** random.randint(-140, 140)
        text, is_known = brought_to(kind, str(Fraction(value)))
        found = torch.tensor(value, dtype=torch.float64).to(TORCH[kind]).item()
        assert not is_known or float(Fraction(text)) == found
        if not is_known and Fraction(text) != Fraction(value):
            assert found == float("inf" if value > 0 else "-inf")


def test_of_two_that_are_as_near_it_is_the_even_one() -> None:
    assert nearest(Fraction(2**24 + 1), "tl.float32") == 2**24
    assert nearest(Fraction(2**24 + 3), "tl.float32") == 2**24 + 4
    assert nearest(Fraction(2049), "tl.float16") == 2048


def test_by_two_ways_that_part_it_is_left() -> None:
    """By way of f32 it is a tie, and becomes 2048; it is more than that."""
    text = str(2049 + Fraction(1, 2**30))
    assert brought_to("tl.float16", text) == (text, False)


def test_below_the_smallest_with_all_digits_it_is_left() -> None:
    assert brought_to("tl.float16", "1/100000") == ("1/100000", False)


@pytest.mark.parametrize("kind", LARGEST)
def test_what_may_become_the_largest_is_left(kind: str) -> None:
    text = str(LARGEST[kind] * Fraction(5, 4))
    assert brought_to(kind, text) == (text, False)


def test_beyond_the_type_all_are_one_number_up_to_an_infinity() -> None:
    first = rounded("tl.float16", literal(2.0**60))
    assert (
        first
        == rounded("tl.float16", literal(3.0e38 / 4))
        != rounded("tl.float16", literal(-(2.0**60)))
    )
    assert first == rounded("tl.float16", literal(3.0e38))
    assert first != rounded("tl.float16", literal(3.4e38)) != rounded("tl.float16", literal(1e300))


@pytest.mark.parametrize("kind", [torch.float8_e5m2, torch.float8_e4m3fn, torch.float16])
def test_all_that_is_far_beyond_a_type_becomes_one_number(kind: torch.dtype) -> None:
    for by in (torch.float64, torch.float32, torch.bfloat16):
        far = (torch.tensor(one, dtype=torch.float64) for one in (2.0**127, 3e38, float(FARTHEST)))
        # By its text, so that a nan is like itself.
        assert len({repr(one.to(by).to(kind).item()) for one in far}) == 1


def test_what_a_caller_decides_is_no_leave_for_the_narrowest() -> None:
    found = rounded("real", literal(0.1), may=True)
    single = str(nearest(Fraction(0.1), "tl.float32"))
    assert options(found) == {str(Fraction(0.1)), single}
    assert options(found, is_sure=True) == {str(Fraction(0.1))}


def test_a_comparison_that_rounding_decides_is_left() -> None:
    near = rounded("tl.float32", literal(3.00000001), may=True)
    assert options(near) == {str(Fraction(3.00000001)), "3"}
    assert applied("ne", [near, literal(3)]) == AppliedOperation("ne", (near, literal(3)))
    assert applied("ne", [near, literal(4)]) == Literal("True")
    assert applied("lt", [near, literal(3)]) == Literal("False")


def test_what_a_caller_decides_may_be_any_type() -> None:
    assert options(rounded("stored A", literal(1e-5), may=True)) == frozenset()
    assert len(options(rounded("real", literal(0.1), may=True))) == 2


@pytest.mark.parametrize("program", ALL)
def test_as_it_is_emitted_it_is_proved(program: Program) -> None:
    report = verify(program, text_of(program))
    assert report.verdict is LayerVerdict.PROVED, report.layers


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_it_is_not_proved(name: str) -> None:
    program, old, new = WRONG[name]
    assert verify(program, changed(text_of(program), old, new)).verdict is not LayerVerdict.PROVED
