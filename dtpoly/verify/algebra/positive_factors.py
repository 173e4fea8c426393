"""Say which factors are above 0 whatever data are, and move them inside of a maximum.

For c > 0 the maximum of all c * x is c times that of all x, and so is the minimum (lemma 14). In
numbers of a machine this is exact, too: of two numbers the larger one has the larger product, or
both products are rounded to the same number.
"""

from __future__ import annotations

from fractions import Fraction

from dtpoly.verify.algebra.numerals import finite
from dtpoly.verify.algebra.rounding import split
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Literal,
    Place,
    Term,
    Total,
    choose,
    rebuilt,
)
from dtpoly.verify.algebra.whole import Whole

# What a shape says of a tensor is at least 0. Other names may be below 0, as indices of data are.
OF_SHAPE = ".shape["
# A factor, and each number that it is made of, is between these.
LEAST, MOST = Fraction(1, 2**100), Fraction(2**100)
MOST_SIZE, MOST_ROOT = Fraction(2**48), Fraction(2**24)
Bounds = tuple[Fraction, Fraction]
INFINITE = (Literal("-inf"), Literal("inf"))


def is_positive(term: Term) -> bool:
    """Return whether a number is above 0, and made of written numbers and of shapes alone.

    It may be infinite where a size is 0, as `rsqrt(len(k))` is (see `sizes_in`). Elsewhere it is
    neither so small nor so large that a number of 32 bits would be 0 or infinite.
    """
    return _bounds(term) is not None


def _bounds(term: Term, *, is_divisor: bool = False) -> Bounds | None:
    """Return the least and the largest value of a factor above 0; None if it is none.

    Sizes are at least 1 here, and below 2^48, as those of all tensors are. A size may only divide:
    where it is 0 the whole factor is infinite, and never 0.
    """
    found: Bounds | None = None
    match term:
        case Literal(text=text):
            number = finite(text)
            found = None if number is None else (number, number)
        case Place(value=value) if is_divisor and _is_extent(value):
            found = (Fraction(1), MOST_SIZE)
        case AppliedOperation(operation="sqrt", operands=(Place(value=value),)) if (
            is_divisor and _is_extent(value)
        ):
            found = (Fraction(1), MOST_ROOT)
        case AppliedOperation(operation="rsqrt", operands=(Place(value=value),)) if (
            not is_divisor and _is_extent(value)
        ):
            found = (1 / MOST_ROOT, Fraction(1))
        case AppliedOperation(operation="div", operands=(a, b)):
            below = _bounds(b, is_divisor=not is_divisor)
            found = _product(_bounds(a, is_divisor=is_divisor), _below_one(below))
        case AppliedOperation(operation="mul", operands=(a, b)):
            found = _product(*(_bounds(one, is_divisor=is_divisor) for one in (a, b)))
        case AppliedOperation(operands=(a,)) if split(term)[0] == "may":
            found = _bounds(a, is_divisor=is_divisor)
        case _:
            pass
    is_held = found is not None and found[0] >= LEAST and found[1] <= MOST
    return found if is_held else None


def _below_one(of: Bounds | None) -> Bounds | None:
    return None if of is None else (1 / of[1], 1 / of[0])


def _product(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    return None if one is None or other is None else (one[0] * other[0], one[1] * other[1])


def sizes_in(factor: Term) -> tuple[Whole, ...]:
    """Return the sizes that a factor divides by: where one of them is 0, it is infinite."""
    match factor:
        case Place(value=value):
            return (value,)
        case AppliedOperation(operands=operands):
            return tuple(size for one in operands for size in sizes_in(one))
        case _:
            return ()


def _is_extent(value: Whole) -> bool:
    """Return whether a whole number is a sum of products of shapes, so that it is at least 0."""
    return bool(value.terms) and all(
        times > 0 and all(isinstance(one, str) and OF_SHAPE in one for one in monomial)
        for monomial, times in value.terms
    )


def multiplied(term: Term, by: Term, operation: str = "") -> Term:
    """Return a term times a number that is above 0; an infinity stays as it is.

    If it is reduced by a maximum or a minimum, which is the `operation`, the factor goes into those
    in it, too.
    """
    match term:
        case Literal(text="-inf" | "inf"):
            return term
        case Choose(condition=condition, yes=yes, no=no):
            sides = (multiplied(one, by, operation) for one in (yes, no))
            return choose(condition, *sides)
        case AppliedOperation(operation=own, operands=operands) if own == operation:
            return rebuilt(term, tuple(multiplied(one, by, own) for one in operands))
        case Total(operation=own, body=body) if own == operation:
            return rebuilt(term, (multiplied(body, by, own),))
        case AppliedOperation(operation="where", operands=(test, yes, no)) if no in INFINITE:
            return rebuilt(term, (test, multiplied(yes, by, operation), no))
        case _:
            return AppliedOperation("mul", (term, by))
