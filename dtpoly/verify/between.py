"""Numbers of which rounding leaves open which they are: what may become of a value in a type.

Two terms differ for sure where no way to take each leave to round makes them the same number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

from dtpoly.frozen import dataclass
from dtpoly.verify import kinds

CLOSE = 1e-7
# What is not below, or is less than the least, is no number with all the digits of its type.
LARGEST = {"tl.float16": 65520.0, "tl.float8e5": 57344.0, "tl.float8e4nv": 448.0}
LEAST = {"tl.float16": 2.0**-14, "tl.float8e5": 2.0**-14, "tl.float8e4nv": 2.0**-6}
LEAST_OF_OTHERS = 2.0**-100
# Beyond these f32, in which most is computed, has infinity, and numbers of fewer digits.
MOST, SMALLEST = 2.0**128 - 2.0**104, 2.0**-126
DIGITS = {**kinds.DIGITS, kinds.REAL: 24, "tf32": 11}
# Of `tf32x3` only this is said: it has more digits than `tf32`, and less than f32.
LEAST_DIGITS = {**DIGITS, "tf32x3": 11}
# Operations whose least and largest results are at ends of what their operands can be.
MONOTONE = {
    *("add", "sub", "mul", "div", "div_rn", "neg", "maximum", "minimum", "and", "or", "not"),
    *("exp", "exp2", "log", "log2", "sqrt", "sqrt_rn", "rsqrt", "erf", "tanh", "sigmoid"),
    *("lt", "le", "gt", "ge", "floor", "ceil", "pow"),
}
COMPARED = ("eq", "ne")


class NoNumberError(Exception):
    """The term has no number: its value depends on what is not in it."""


@dataclass(frozen=True, slots=True)
class Between:
    """A number from one to another; it is not said which."""

    least: float
    most: float


Plain = float | Between


def ends(of: Plain) -> tuple[float, float]:
    """The least and the largest number that it can be."""
    return (of.least, of.most) if isinstance(of, Between) else (of, of)


def between(found: Sequence[float]) -> Plain:
    """What is one of some numbers, or between two of them."""
    if any(math.isnan(one) for one in found):
        raise NoNumberError
    least, most = min(found), max(found)
    return least if least == most else Between(least, most)


def alike(first: Plain, second: Plain) -> bool:
    """True if two numbers may be the same, but for the errors of floats."""
    if isinstance(first, int) and isinstance(second, int):
        return first == second
    (a, b), (c, d) = ends(first), ends(second)
    if any(math.isnan(one) for one in (a, c)):
        return math.isnan(a) and math.isnan(c)
    if a <= d and c <= b:
        return True
    near, far = (b, c) if b < c else (d, a)
    return abs(near - far) <= CLOSE * max(abs(near), abs(far))


def leeway(found: Plain, kind: str, narrow: frozenset[str]) -> Plain:
    """What a number is that may be brought to a type of floats, and need not be."""
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
    # By the distance of two numbers of the type: machines bring to 8 bits as they like.
    error = max(size, least) * 2.0 ** (1 - LEAST_DIGITS[kind])
    ways = (found - error, found, found + error)
    return ways if size >= least else (*ways, 0.0)


def resolved(kind: str, narrow: frozenset[str]) -> str:
    """The type that a kind is where callers have decided that some inputs are f16, others f32."""
    known = {
        one if one in kinds.DIGITS else "tl.float16" if one in narrow else "tl.float32"
        for one in kinds.members(kind)
    }
    if {"tl.float16", "tl.bfloat16"} <= known:
        known.add("tl.float32")
    return max(known, key=lambda one: kinds.DIGITS[one]) if known else kind


def nearest(found: float, kind: str) -> float:
    """The nearest number of a type of floats."""
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
    """A number as it is computed; nothing of what f32 has not with all of its digits."""
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
    """An operation on numbers some of which are not known but for what they are between."""
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
