"""Numbers of which rounding leaves open which they are; what they may explain is not refuted."""

import math
from collections.abc import Callable
from random import Random

import pytest
import torch

from dtpoly.verify.algebra.between import (
    MONOTONE,
    Between,
    NoNumberError,
    alike,
    ends,
    leeway,
    spread,
)
from dtpoly.verify.algebra.evaluate import differ
from dtpoly.verify.algebra.number_operations import OF_ONE
from dtpoly.verify.algebra.term_building import literal, rounded
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Element,
    Literal,
    Pair,
    PlaceOf,
    Term,
    Total,
)
from dtpoly.verify.algebra.whole import name, number, within

NONE = frozenset[str]()
TORCH = {
    "tl.float8e4nv": torch.float8_e4m3fn,
    "tl.float8e5": torch.float8_e5m2,
    "tl.float16": torch.float16,
    "tl.bfloat16": torch.bfloat16,
    "tl.float32": torch.float32,
    "tl.float64": torch.float64,
}
OF_TWO: dict[str, Callable[[float, float], float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "maximum": max,
    "minimum": min,
    "pow": math.pow,
    "lt": lambda a, b: float(a < b),
    "ge": lambda a, b: float(a >= b),
    "eq": lambda a, b: float(a == b),
    "ne": lambda a, b: float(a != b),
}
ALONE: dict[str, Callable[[float], float]] = {
    **OF_ONE,
    "neg": lambda a: -a,
    "abs": abs,
    "floor": lambda a: float(math.floor(a)),
    "ceil": lambda a: float(math.ceil(a)),
}
THIRD, SINGLE_THIRD = literal(1 / 3), rounded("tl.float32", literal(1 / 3))
MAY = rounded("tl.float32", THIRD, may=True)


@pytest.mark.parametrize("kind", TORCH)
def test_what_a_type_makes_of_a_number_is_in_it(kind: str) -> None:
    random = Random(3)
    for _ in range(500):
        value = random.uniform(-1, 1) * 2.0 ** random.randint(-20, 8)
        least, most = ends(leeway(value, kind, NONE))
        found = torch.tensor(value, dtype=torch.float64).to(TORCH[kind]).item()
        assert least <= found <= most
        assert least <= value <= most


def test_a_number_of_the_type_is_itself() -> None:
    assert leeway(0.375, "tl.float8e5", NONE) == 0.375
    assert leeway(2**24, "tl.float32", NONE) == 2**24
    assert leeway(-math.inf, "tl.float16", NONE) == -math.inf
    assert leeway(0.1, "tl.float64", NONE) == 0.1


def test_what_may_be_an_infinity_is_open_to_it() -> None:
    assert leeway(-1e6, "tl.float16", NONE) == Between(-math.inf, -1e6)
    assert leeway(-1e6, "stored A B", frozenset("A")) != Between(-math.inf, -1e6)
    assert leeway(-1e6, "stored A B", frozenset("AB")) == Between(-math.inf, -1e6)


@pytest.mark.parametrize(
    ("value", "kind"), [(3e38, "tl.float8e5"), (500, "tl.float8e4nv"), (1e39, "tl.float32")]
)
def test_what_is_beyond_is_no_number(value: float, kind: str) -> None:
    with pytest.raises(NoNumberError):
        leeway(value, kind, NONE)


@pytest.mark.parametrize("operation", [*ALONE, *OF_TWO])
def test_what_is_computed_of_them_is_in_it(operation: str) -> None:
    random = Random(operation)
    count = 1 if operation in ALONE else 2

    def carried_out(numbers: list[float]) -> float:
        if operation in ALONE:
            return ALONE[operation](numbers[0])
        return OF_TWO[operation](numbers[0], numbers[1])

    tried = 0
    for _ in range(400):
        starts = [random.uniform(-2, 2) for _ in range(count)]
        given = [Between(start, start + 0.5 * random.random()) for start in starts]
        try:
            least, most = ends(spread(operation, given, carried_out))
        except (NoNumberError, ValueError):
            continue
        for _ in range(20):
            found = carried_out([random.uniform(one.least, one.most) for one in given])
            assert least - 1e-12 <= found <= most + 1e-12
        tried += 1
    assert tried > 20


def test_what_jumps_is_no_number() -> None:
    for operation in ("rem", "mod", "floordiv", "xor"):
        assert operation not in MONOTONE
        with pytest.raises(NoNumberError):
            spread(operation, [Between(1.0, 1.5), 0.25], lambda ways: math.fmod(ways[0], ways[1]))


def test_they_are_alike_if_they_may_be() -> None:
    assert alike(Between(1.0, 2.0), Between(1.5, 3.0))
    assert alike(Between(1.0, 2.0), Between(2.0 + 1e-9, 3.0))
    assert not alike(Between(1.0, 2.0), 2.001)
    assert not alike(0.999, Between(1.0, 2.0))
    assert not alike(2**60, 2**60 + 1)
    assert alike(math.nan, math.nan)
    assert not alike(math.nan, Between(1.0, 2.0))


def _product(factor: Term, count: int) -> Term:
    domain = within(number(0), name("k"), number(count))
    return Total("mul", ("k",), domain, factor)


@pytest.mark.parametrize("count", [1, 9, 40])
def test_what_rounding_makes_of_a_product_is_not_refuted(count: int) -> None:
    """Of nine factors the rounded and the unrounded differ by more than a share of 10⁻⁷."""
    mine, theirs = (_product(one, count) for one in (SINGLE_THIRD, MAY))
    assert not differ(mine, theirs, {}, frozenset({"tl.float32"}))
    assert differ(mine, _product(THIRD, count), {}, NONE) == (count > 1)
    assert differ(_product(literal(0.3334), count), theirs, {}, frozenset({"tl.float32"}))


def test_a_number_that_rounding_may_give_is_an_operand_of_any_operation() -> None:
    """An operation that no one knows depends on each bit; a power of a number does not."""
    for operation, is_known in (("pow", True), ("a function", False)):
        exact = AppliedOperation(operation, (THIRD, literal(3)))
        mine, theirs = (
            AppliedOperation(operation, (one, literal(3))) for one in (SINGLE_THIRD, MAY)
        )
        assert not differ(mine, theirs, {}, frozenset({"tl.float32"}))
        assert not differ(exact, exact, {}, NONE)
        other = AppliedOperation(operation, (literal(0.34), literal(3)))
        assert differ(other, theirs, {}, frozenset({"tl.float32"})) == is_known
        assert differ(other, exact, {}, NONE)


def test_what_no_float_has_is_not_refuted() -> None:
    large, larger, small = (literal(one) for one in (1e30, 1e31, 1e-30))
    for one, other in ((large, larger), (small, literal(1e-31))):
        assert differ(one, other, {}, NONE)
        squares = [
            AppliedOperation("mul", (value, AppliedOperation("mul", (value, literal(0.3)))))
            for value in (one, other)
        ]
        assert not differ(squares[0], squares[1], {}, NONE)


def test_the_place_of_the_largest_is_one_if_that_is_sure() -> None:
    def of(first: Term, second: Term) -> Term:
        pairs = (Pair(first, Literal("0")), Pair(second, Literal("1")))
        return PlaceOf(AppliedOperation("argmax", pairs))

    allowed = frozenset({"tl.float32"})
    assert not differ(of(SINGLE_THIRD, THIRD), of(MAY, THIRD), {}, allowed)
    assert differ(of(SINGLE_THIRD, literal(0.3)), of(literal(0.3), MAY), {}, allowed)


def test_callers_may_decide_on_other_types() -> None:
    """To round to that of one input shows only where the other's is wider."""
    one = Element("A", (name("x"),), 0, ())
    value = AppliedOperation("exp", (one,))
    types = {"A": "stored A", "B": "stored B"}
    allowed = frozenset({"stored A B"})
    theirs = rounded("stored A B", value, may=True)
    assert differ(rounded("stored A", value), theirs, {"x": 1}, allowed, types)
    assert not differ(rounded("stored A B", value), theirs, {"x": 1}, allowed, types)
