"""Finds how a value moves when the results of reductions move that it was computed from.

In `exp(x - top)`, where `top` is the largest element so far, let `top` grow by d: then the value is
multiplied by exp(-d), whatever x is. So a sum of such values, each computed with an older `top`, is
brought up to date by one factor. The values of `top` are the *frame* of the sum.

A value may move in two ways: a number is added to it, or it is multiplied by the exponential of
one. Both numbers are sums of what the frames move by, times written numbers.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from dtpoly.algorithm.dtypes import is_float
from dtpoly.frozen import dataclass
from dtpoly.ir.kinds import Element, Named
from dtpoly.ir.tile_values import (
    Call,
    Converted,
    LiteralNumber,
    Masked,
    Merged,
    Value,
    Variable,
)

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
# Tells how a variable moves.
Known = Callable[[str], Motion]


class TangledError(Exception):
    """A value moves in another way than by a sum or by a factor."""

    def __init__(self, value: Value) -> None:
        super().__init__("moves in another way")
        self.value = value


def motion(value: Value, known: Known) -> Motion:
    """Return how a value moves. Raises TangledError if it is not one of the two ways."""
    match value:
        case Variable(name=name):
            return known(name)
        case Call(operation=operation, operands=operands):
            return _of_call(value, operation, operands, known)
        case Converted(value=inner, dtype=dtype):
            found = motion(inner, known)
            if not found.is_still and not _is_float(dtype):
                raise TangledError(value)
            return found
        case Masked(value=inner, other=other):
            found = motion(inner, known)
            return _checked(value, found, _stays(found, other))
        case Merged(left=left, right=right):
            return _alike(value, motion(left, known), motion(right, known))
        case _:  # a number, an index, or a test
            return STILL


def _of_call(value: Call, operation: str, operands: tuple[Value, ...], known: Known) -> Motion:
    moves = [motion(one, known) for one in operands]
    if all(one.is_still for one in moves):
        return STILL
    match operation, moves:
        case "neg", [one]:
            return one if one.is_factor else _scaled(one, -1.0)
        case "add" | "sub", [one, other]:
            if one.is_factor or other.is_factor:
                return _alike(value, one, other)  # each of the two must be multiplied
            return _sum(one, other, -1.0 if operation == "sub" else 1.0, is_factor=False)
        case "mul" | "div", [one, other]:
            return _of_product(value, operation, one, other)
        case "exp", [one]:
            return _checked(value, Motion(one.rates, is_factor=True), not one.is_factor)
        case "log", [one]:
            return _checked(value, Motion(one.rates), one.is_factor)
        case "maximum" | "minimum", [one, other]:
            return _alike(value, one, other)
        case "where", [test, one, other]:
            if not test.is_still:
                raise TangledError(value)
            return _chosen(value, (one, operands[1]), (other, operands[2]))
        case _:
            raise TangledError(value)


def _of_product(value: Call, operation: str, one: Motion, other: Motion) -> Motion:
    sign = -1.0 if operation == "div" else 1.0
    if not (_is_added(one) or _is_added(other)):
        return _sum(one, other, sign, is_factor=True)
    left, right = value.operands
    match left, right:
        case _, LiteralNumber(value=by) if _is_added(one) and by:
            return _scaled(one, 1.0 / by if operation == "div" else float(by))
        case LiteralNumber(value=by), _ if _is_added(other) and operation == "mul":
            return _scaled(other, float(by))
        case _:
            raise TangledError(value)


def _is_added(one: Motion) -> bool:
    return not one.is_still and not one.is_factor


def _chosen(value: Value, one: tuple[Motion, Value], other: tuple[Motion, Value]) -> Motion:
    """Return how one of two values moves; a number that does not move may stand for either."""
    for (moves, _), (stands, instead) in ((one, other), (other, one)):
        if isinstance(instead, LiteralNumber) and stands.is_still:
            return _checked(value, moves, _stays(moves, instead.value))
    return _alike(value, one[0], other[0])


def _stays(found: Motion, number: float) -> bool:
    """Return whether a number moves like this without a change: 0 times a factor, or inf + d."""
    return found.is_still or (number == 0 if found.is_factor else math.isinf(number))


def _alike(value: Value, one: Motion, other: Motion) -> Motion:
    return _checked(value, one, one == other)


def _checked(value: Value, found: Motion, is_right: bool) -> Motion:
    if not is_right:
        raise TangledError(value)
    return found


def _scaled(one: Motion, by: float) -> Motion:
    return Motion(_rates({name: rate * by for name, rate in one.rates.items()}), one.is_factor)


def _sum(one: Motion, other: Motion, sign: float, *, is_factor: bool) -> Motion:
    names = dict.fromkeys((*one.rates, *other.rates))
    rates = {name: one.rates.get(name, 0.0) + sign * other.rates.get(name, 0.0) for name in names}
    found = _rates(rates)
    return Motion(found, is_factor) if found else STILL


def _rates(found: Mapping[str, float]) -> Rates:
    return {name: rate for name, rate in sorted(found.items()) if rate}


def _is_float(dtype: Element) -> bool:
    return isinstance(dtype, Named) or is_float(dtype)
