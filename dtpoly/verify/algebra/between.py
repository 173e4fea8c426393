"""Intervals of numbers, for values of which it is open whether and how they are rounded.

`evaluate` computes terms at one point to find an example where a kernel is wrong. If the language
leaves it open whether a value is rounded, the value is `Between` two numbers. Two terms differ for
sure only if no choice of roundings makes them the same number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds

CLOSE = 1e-7
# Numbers that are not below LARGEST, or are less than LEAST, do not have all the digits of their
# type.
LARGEST = {"tl.float16": 65520.0, "tl.float8e5": 57344.0, "tl.float8e4nv": 448.0}
LEAST = {"tl.float16": 2.0**-14, "tl.float8e5": 2.0**-14, "tl.float8e4nv": 2.0**-6}
LEAST_OF_OTHERS = 2.0**-100
# Most values are computed in f32. Above MOST it has only infinity; below SMALLEST its numbers have
# fewer digits.
MOST, SMALLEST = 2.0**128 - 2.0**104, 2.0**-126
DIGITS = {**kinds.DIGITS, kinds.REAL: 24, "tf32": 11}
# All that is known of `tf32x3` is that it has more digits than `tf32` and fewer than f32.
LEAST_DIGITS = {**DIGITS, "tf32x3": 11}
# Operations whose least and largest results are at the ends of the intervals of their operands.
MONOTONE = {
    *("add", "sub", "mul", "div", "div_rn", "neg", "maximum", "minimum", "and", "or", "not"),
    *("exp", "exp2", "log", "log2", "sqrt", "sqrt_rn", "rsqrt", "erf", "tanh", "sigmoid"),
    *("lt", "le", "gt", "ge", "floor", "ceil", "nearest", "trunc", "pow"),
}
COMPARED = ("eq", "ne")
# Operations of which a small error of a float may change the result altogether.
ORDERED = ("lt", "le", "gt", "ge")
TO_WHOLE = ("floor", "ceil", "trunc")
# Floats of this type are computed without an error, if they have all digits of the result.
USUAL = "tl.float32"


class NoNumberError(Exception):
    """A term cannot be computed to a number, since it depends on something that is not in it."""


@dataclass(frozen=True, slots=True)
class Between:
    """An unknown number from `least` to `most`."""

    least: float
    most: float


Plain = float | Between


def is_nan(one: object) -> bool:
    """Return whether a value is NaN."""
    return isinstance(one, float) and math.isnan(one)


def ends(of: Plain) -> tuple[float, float]:
    """Return the least and the largest number that a value can be."""
    return (of.least, of.most) if isinstance(of, Between) else (of, of)


def between(found: Sequence[float]) -> Plain:
    """Return a value that is one of some numbers, or between two of them."""
    if any(math.isnan(one) for one in found):
        raise NoNumberError
    least, most = min(found), max(found)
    return least if least == most else Between(least, most)


def alike(first: Plain, second: Plain) -> bool:
    """Return whether two values may be the same number, if small errors of floats are ignored."""
    if isinstance(first, int) and isinstance(second, int):
        return first == second
    (a, b), (c, d) = ends(first), ends(second)
    if any(math.isnan(one) for one in (a, c)):
        return math.isnan(a) and math.isnan(c)
    if a <= d and c <= b:
        return True
    near, far = (b, c) if b < c else (d, a)
    return abs(near - far) <= CLOSE * max(abs(near), abs(far))


def jump(operation: str, numbers: Sequence[float]) -> Plain | None:
    """Return what an operation on floats may give where a small error decides; None elsewhere.

    Floats are computed here in more digits than kernels have: `i * 0.1 == 0.7` holds for 7 in f32,
    and would not hold here.
    """
    match numbers:
        case [a, b] if operation in (*COMPARED, *ORDERED) and _is_near(a, b):
            return Between(0, 1)
        case [a, b] if operation in ("add", "sub") and _is_float(a, b):
            error = CLOSE * max(abs(a), abs(b))
            found = a + b if operation == "add" else a - b
            return Between(found - error, found + error) if 0 < abs(found) <= error else None
        case [a] if operation in TO_WHOLE and _is_near(a, round(a)):
            return between([round(a) - 1.0, round(a) + 1.0])
        case [a] if operation == "nearest" and _is_near(a - math.floor(a), 0.5):
            return between([math.floor(a), math.ceil(a)])
        case [a] if operation.startswith("cast tl.") and kinds.is_whole(operation[5:]):
            if _is_near(a, round(a)) and a != round(a):
                raise NoNumberError
            return None
        case [a, b] if operation in ("mod", "rem") and b and _is_near(a / b, round(a / b)):
            raise NoNumberError
        case _:
            return None


def _is_float(*numbers: float) -> bool:
    return all(map(math.isfinite, numbers)) and any(isinstance(one, float) for one in numbers)


def _is_near(first: float, second: float) -> bool:
    """Return whether two floats, of which one was computed, may or may not be the same."""
    if not _is_float(first, second):
        return False
    if first == second:
        # What f32 does not hold was rounded in some step, perhaps to two numbers.
        return not _is_held(first)
    return abs(first - second) <= CLOSE * max(abs(first), abs(second))


def _is_held(found: float) -> bool:
    try:
        return nearest(found, USUAL) == found
    except NoNumberError:
        return False


def leeway(found: Plain, kind: str, narrow: frozenset[str]) -> Plain:
    """Return what becomes of a number that may be rounded to a type of floats, or may not be."""
    own = resolved(kind, narrow)
    if own not in LEAST_DIGITS:
        raise NoNumberError
    return between([end for one in ends(found) for end in _leeway(one, own)])


def _leeway(found: float, kind: str) -> tuple[float, ...]:
    size = abs(found)
    if size == 0 or not math.isfinite(found):
        return (found,)
    if size > MOST or (kind in kinds.EIGHTS and size >= LARGEST[kind]):
        raise NoNumberError
    if size >= LARGEST.get(kind, math.inf):
        return (found, math.copysign(math.inf, found))
    least = LEAST.get(kind, LEAST_OF_OTHERS)
    if size >= least and kind in DIGITS and nearest(found, kind) == found:
        return (found,)
    # The error may be the whole distance of two numbers of the type, not half of it: machines
    # differ in how they round to 8 bits.
    error = max(size, least) * 2.0 ** (1 - LEAST_DIGITS[kind])
    ways = (found - error, found, found + error)
    return ways if size >= least else (*ways, 0.0)


def resolved(kind: str, narrow: frozenset[str]) -> str:
    """Return the type of a kind for callers that pass f16 for the inputs `narrow`, else f32."""
    known = {
        one if one in kinds.DIGITS else "tl.float16" if one in narrow else "tl.float32"
        for one in kinds.members(kind)
    }
    if {"tl.float16", "tl.bfloat16"} <= known:
        known.add("tl.float32")
    return max(known, key=lambda one: kinds.DIGITS[one]) if known else kind


def nearest(found: float, kind: str) -> float:
    """Return the nearest number of a type of floats."""
    digits = DIGITS.get(kind)
    if digits is None:
        raise NoNumberError
    if found == 0 or not math.isfinite(found):
        return found
    if not LEAST.get(kind, LEAST_OF_OTHERS) <= abs(found) < LARGEST.get(kind, math.inf):
        raise NoNumberError
    fraction, exponent = math.frexp(found)
    return math.ldexp(round(math.ldexp(fraction, digits)), exponent - digits)


def computed(found: Plain) -> Plain:
    """Return a computed number, unless f32 does not hold it with all of its digits.

    Raises NoNumberError for such a number.
    """
    for one in ends(found):
        size = abs(one)
        if isinstance(one, float) and math.isfinite(one) and size > MOST:
            raise NoNumberError
        if isinstance(found, float) and 0 < size < SMALLEST:
            raise NoNumberError
    return found


def spread(
    operation: str, operands: Sequence[Plain], carried_out: Callable[[list[float]], float]
) -> Plain:
    """Carry out an operation on numbers, some of which are only known to be in an interval."""
    if operation == "where":
        condition, yes, no = operands
        if isinstance(condition, Between):
            return between([*ends(yes), *ends(no)])
        return yes if condition else no
    all_ends = [ends(one) for one in operands]
    if operation in COMPARED:
        (a, b), (c, d) = all_ends
        return Between(0.0, 1.0) if a <= d and c <= b else float(operation == "ne")
    if operation == "abs":
        ((least, most),) = all_ends
        crossing = [0.0] if least < 0 < most else []
        return between([abs(least), abs(most), *crossing])
    if operation in ("sin", "cos"):
        ((least, most),) = all_ends
        middle = carried_out([least])
        return between([middle - (most - least), middle + (most - least)])
    is_cast = operation.startswith("cast tl.")
    if operation not in MONOTONE and not is_cast:
        raise NoNumberError
    is_quotient = operation in ("div", "div_rn")
    if is_quotient and all_ends[1][0] <= 0 <= all_ends[1][1]:
        raise NoNumberError
    if operation == "pow" and all_ends[0][0] <= 0:
        raise NoNumberError
    return between([carried_out(list(way)) for way in product(*all_ends)])
