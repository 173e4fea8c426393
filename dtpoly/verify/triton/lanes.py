"""Say which numbers of lanes along an axis Triton makes no tile of, so that nothing is proved."""

from __future__ import annotations

from collections.abc import Collection

from dtpoly.verify.algebra.kernel_values import MOST_LANES
from dtpoly.verify.algebra.whole import (
    TRUE,
    Atom,
    Either,
    Extreme,
    Truth,
    Whole,
    both,
    compare,
    extreme,
    name,
    number,
)

POWERS = ("next_power_of_2(", "lanes(")  # the names of numbers that are powers of two begin so


def power_of(size: Whole) -> tuple[Whole, Truth]:
    """Return the least power of 2 that is not less than a size, and what is known of it."""
    if size.constant is not None:
        return number(1 << max(size.constant - 1, 0).bit_length()), TRUE
    lanes = name(f"{POWERS[0]}{size.plain or size.terms})")
    least = compare(">=", lanes, extreme(True, size, number(1)))
    return lanes, both(least, compare("<=", lanes, extreme(True, size * 2 - 2, number(1))))


def doubt_of(extent: Whole, powers: Collection[str] = ()) -> str:
    """Return why Triton may make no tile of so many lanes along an axis; empty if it makes one.

    Of some sizes callers promise that they are powers of two.
    """
    count = extent.constant
    if count is None:
        if _is_power(extent, powers):
            return ""
        return "a tile of a number of lanes that may be no power of two"
    if count > MOST_LANES or count < 1 or count & (count - 1):
        return f"a tile of {count} lanes, which Triton does not compile"
    return ""


def _is_power(of: Whole, powers: Collection[str]) -> bool:
    """Return whether a number is a product of powers of two."""
    match of.terms:
        case ((monomial, times),):
            is_one = times > 0 and times & (times - 1) == 0
            return is_one and all(_is_power_too(one, powers) for one in monomial)
        case _:
            return False


def _is_power_too(factor: Atom, powers: Collection[str]) -> bool:
    match factor:
        case str():
            return factor.startswith(POWERS) or factor in powers
        case Extreme(left=left, right=right) | Either(yes=left, no=right):
            return _is_power(left, powers) and _is_power(right, powers)
        case _:
            return False
