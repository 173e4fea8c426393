"""Finds how the result of an operation moves when its operands move.

In `exp(x - top)`, where `top` is the largest element so far, let `top` grow by d: then the value is
multiplied by exp(-d), whatever x is. So a sum of such values, each computed with an older `top`, is
brought up to date by one factor. The values of `top` are the *frame* of the sum.

A value may move in two ways: a number is added to it, or it is multiplied by the exponential of
one. Both numbers are sums of what the frames move by, times written numbers.
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from dtpoly.frozen import dataclass

Rates = Mapping[str, float]
NO_RATES: Rates = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Motion:
    """How a value moves: by how much for each frame, and whether that is added or a factor."""

    rates: Rates = NO_RATES
    is_factor: bool = False

    @property
    def is_still(self) -> bool:
        """Return whether it does not move."""
        return not self.rates


STILL = Motion()
Numbers = Sequence[float | None]  # of operands: the number that is written there, if one is


def of_operation(operation: str, moves: Sequence[Motion], numbers: Numbers) -> Motion | None:
    """Return how the result of an operation moves; None if it is not one of the two ways."""
    if all(one.is_still for one in moves):
        return STILL
    match operation, moves:
        case "neg", [one]:
            return one if one.is_factor else _scaled(one, -1.0)
        case "add" | "sub", [one, other]:
            if one.is_factor or other.is_factor:
                return alike(one, other)  # each of the two must be multiplied
            return _sum(one, other, -1.0 if operation == "sub" else 1.0, is_factor=False)
        case "mul" | "div", [one, other]:
            return _of_product(operation, one, other, numbers)
        case "exp", [one]:
            return None if one.is_factor else Motion(one.rates, is_factor=True)
        case "log", [one]:
            return Motion(one.rates) if one.is_factor else None
        case "maximum" | "minimum", [one, other]:
            return alike(one, other)
        case "where", [test, one, other]:
            return _chosen((one, numbers[1]), (other, numbers[2])) if test.is_still else None
        case _:
            return None


def alike(one: Motion, other: Motion) -> Motion | None:
    """Return how two values move that move in one way."""
    return one if one == other else None


def is_unmoved(found: Motion, number: float) -> bool:
    """Return whether a number moves like this without a change: 0 times a factor, or inf + d."""
    return found.is_still or (number == 0 if found.is_factor else math.isinf(number))


def _of_product(operation: str, one: Motion, other: Motion, numbers: Numbers) -> Motion | None:
    sign = -1.0 if operation == "div" else 1.0
    if not (_is_added(one) or _is_added(other)):
        return _sum(one, other, sign, is_factor=True)
    left, right = numbers
    if _is_added(one) and right and other.is_still:
        return _scaled(one, 1.0 / right if operation == "div" else right)
    if _is_added(other) and left is not None and operation == "mul":
        return _scaled(other, left)
    return None


def _is_added(one: Motion) -> bool:
    return not one.is_still and not one.is_factor


def _chosen(one: tuple[Motion, float | None], other: tuple[Motion, float | None]) -> Motion | None:
    """Return how one of two values moves; a number that does not move may stand for either."""
    for (moves, _), (stands, number) in ((one, other), (other, one)):
        if number is not None and stands.is_still:
            return moves if is_unmoved(moves, number) else None
    return alike(one[0], other[0])


def _scaled(one: Motion, by: float) -> Motion:
    return Motion(_rates({name: rate * by for name, rate in one.rates.items()}), one.is_factor)


def _sum(one: Motion, other: Motion, sign: float, *, is_factor: bool) -> Motion:
    names = dict.fromkeys((*one.rates, *other.rates))
    rates = {name: one.rates.get(name, 0.0) + sign * other.rates.get(name, 0.0) for name in names}
    found = _rates(rates)
    return Motion(found, is_factor) if found else STILL


def _rates(found: Mapping[str, float]) -> Rates:
    return {name: rate for name, rate in sorted(found.items()) if rate}
