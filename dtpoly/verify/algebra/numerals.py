"""Work out which number of a float type a written number becomes.

The number is written in a kernel or in an algorithm. The result counts as known only if all ways to
it end at the same number. The ways are to round the written number directly, and to round it to f64
and f32 first, as Python, Triton and torch do when they bring a number to a narrower type.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.terms import AppliedOperation, Literal, Term, of_truth
from dtpoly.verify.algebra.whole import FALSE, TRUE

# The written values that are no numbers.
NOT_NUMBERS = ("nan", "undefined", "True", "False")

# For each type the smallest number that has all of the type's digits, as the exponent of a power of
# 2; below it, LARGEST has the largest number of each type.
NORMAL = {
    "tl.float8e4nv": -6,
    "tl.float8e5": -14,
    "tl.float16": -14,
    "tl.bfloat16": -126,
    "tl.float32": -126,
    "tl.float64": -1022,
}
LEAST_NORMAL = Fraction(1, 2**126)
LARGEST = {
    "tl.float8e4nv": Fraction(448),
    "tl.float8e5": Fraction(57344),
    "tl.float16": Fraction(65504),
    "tl.bfloat16": Fraction(2**128 - 2**120),
    "tl.float32": Fraction(2**128 - 2**104),
    "tl.float64": Fraction(2**1024 - 2**971),
}
# A number that is brought to one of these types does not always become the nearest one.
COARSE = ("tl.float8e4nv", "tl.float8e5")
WAYS = ("tl.float64", "tl.float32")
# Arithmetic of numbers as written, which is exact.
CARRIED_OUT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
}
# FAR is finite in all types with the range of f32, and too large for all types with less range.
# FARTHEST is the largest number of that kind.
FAR = Fraction(2**127)
FARTHEST = LARGEST["tl.bfloat16"]


def finite(text: str) -> Fraction | None:
    """Return the number that a text stands for; None for truths, nan, infinities and names."""
    if not text.lstrip("-").replace("/", "", 1).isdigit():
        return None
    return Fraction(text)


def is_in_range(value: Fraction) -> bool:
    """Return whether f32 holds the number up to rounding: it becomes neither 0 nor infinite."""
    return value == 0 or LEAST_NORMAL <= abs(value) <= LARGEST["tl.float32"]


def is_single(value: Fraction) -> bool:
    """Return whether f32 holds the number exactly."""
    return is_in_range(value) and nearest(value, "tl.float32") == value


def nearest(value: Fraction, kind: str) -> Fraction | None:
    """Return the nearest number of a type, with ties to even; None if it is too small or large."""
    if value == 0:
        return value
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    if exponent < NORMAL[kind]:
        return None
    step = Fraction(2) ** (exponent - kinds.DIGITS[kind] + 1)
    # Python's `round` of a fraction breaks ties to even.
    found = round(value / step) * step
    return found if abs(found) <= LARGEST[kind] else None


@cache
def brought_to(kind: str, text: str) -> tuple[str, bool]:
    """Return the number that a written number becomes in a type, and whether that is known.

    If it is not known, the first part is a number that becomes the same in the type. All numbers
    that are beyond the type, but are not infinite on the way to it, become the same: the largest
    number of the type, an infinity or a nan, whichever the type has. FAR stands for all of these.
    """
    value = finite(text)
    if value is None or kind not in kinds.FLOATS:
        return text, False
    ways = {nearest(value, kind), _by_way(value, kind)}
    found = ways.pop() if len(ways) == 1 else None
    if found is not None and (kind not in COARSE or found == value):
        return str(found), True
    is_far = 2 * LARGEST[kind] <= abs(value) <= FARTHEST
    return str(FAR if value > 0 else -FAR) if is_far else text, False


def _by_way(value: Fraction, kind: str) -> Fraction | None:
    """Round a number to each wider type first, one after the other, and then to the type."""
    found: Fraction | None = value
    for one in (*WAYS, kind):
        if found is not None and (one == kind or kinds.DIGITS[one] > kinds.DIGITS[kind]):
            found = nearest(found, one)
    return found


@cache
def options(term: Term, *, is_sure: bool = False) -> frozenset[str]:
    """Return all numbers that a term can be, if it is a written number that is or may be rounded.

    The set is empty if the term is no number, or if one of the possible numbers is not known. With
    `is_sure` the set has only numbers that are possible whatever types the callers decide.
    """
    match term:
        case Literal(text=text) if finite(text) is not None:
            return frozenset((text,))
        case AppliedOperation(operation="neg", operands=(inner,)):
            return frozenset(str(-Fraction(text)) for text in options(inner, is_sure=is_sure))
        case AppliedOperation(operation=operation, operands=(inner,)):
            word, _, kind = operation.partition(" ")
            if word not in ("round", "may"):
                return frozenset()
            types = _types(kind, may=word == "may", is_sure=is_sure)
            inside = options(inner, is_sure=is_sure)
            found = [brought_to(one, text) for one in types for text in inside]
            if not types or not all(is_known for _, is_known in found):
                return frozenset()
            rounded = frozenset(text for text, _ in found)
            return rounded | inside if word == "may" else rounded
        case _:
            return frozenset()


def results(term: Term) -> frozenset[str]:
    """Return all numbers that arithmetic on written numbers may give.

    That is so whatever types the callers decide. Each number may be rounded where the term says so,
    and nowhere else. The set is empty if the possible numbers are not known.
    """
    match term:
        case AppliedOperation(operation=operation, operands=(left, right)) if (
            operation in CARRIED_OUT
        ):
            ways = product(results(left), results(right))
            return frozenset(str(CARRIED_OUT[operation](*map(Fraction, way))) for way in ways)
        case AppliedOperation(operation="neg", operands=(inner,)):
            return frozenset(str(-Fraction(text)) for text in results(inner))
        case AppliedOperation(operation=operation, operands=(AppliedOperation() as inner,)) if (
            operation.startswith("may ")
        ):
            kept = results(inner)
            one_of = (
                options(AppliedOperation(operation, (Literal(text),)), is_sure=True)
                for text in kept
            )
            return kept.union(*one_of)
        case _:
            return options(term, is_sure=True)


def is_whole(term: Term) -> bool:
    """True if a term is a whole number, whatever it is rounded to."""
    found = options(term)
    return bool(found) and all("/" not in text for text in found)


def _types(kind: str, *, may: bool, is_sure: bool) -> tuple[str, ...]:
    """Return the types to which a number is rounded.

    If it only may be rounded (`may`), the types that hold all numbers of these are allowed as well.
    """
    if kinds.members(kind):
        return () if is_sure else kinds.FLOATS
    reals = ("tl.float64",) if is_sure else ("tl.float32", "tl.float64")
    own = reals if kind == kinds.REAL else (kind,)
    if not set(own) <= set(kinds.FLOATS):
        return ()
    return tuple(
        one
        for one in kinds.FLOATS
        if one in own or (may and any(kinds.holds(one, narrow) for narrow in own))
    )


def compared(operation: str, first: str, second: str) -> Term:
    """Compare two written numbers; a nan is equal to no number."""
    if first in NOT_NUMBERS or second in NOT_NUMBERS:
        if {first, second} & {"undefined", "True", "False"}:
            return AppliedOperation(operation, (Literal(first), Literal(second)))
        if "nan" in (first, second):
            return of_truth(TRUE if operation == "ne" else FALSE)
    left, right = (float(one) if "inf" in one else Fraction(one) for one in (first, second))
    found = {
        "lt": left < right,
        "le": left <= right,
        "gt": left > right,
        "ge": left >= right,
        "eq": left == right,
        "ne": left != right,
    }
    return of_truth(TRUE if found[operation] else FALSE)
