"""Whole numbers and truths over names, where a frame says what the names are.

A name is an array of whole numbers, and arrays broadcast against each other as NumPy has it. A name
that is bound inside (the lane of a reduction, the iterations of a loop) gets a new first axis, on
which it runs through all numbers that its domain allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

import numpy as np

from dtpoly.verify.algebra.terms import Element, Term
from dtpoly.verify.algebra.whole import All, Either, Extreme, Floor, Not, Sign, Some, Truth, Whole
from tests.attack.faults import Faulty
from tests.attack.numbers import Array, CannotSayError, Number

# If there are more points than this, they are not tried.
MOST_POINTS = 2_000_000

Loaded = Callable[[Element, "Frame"], Number]


@dataclass
class Frame:
    """The values of names, and the values of terms that were computed with them."""

    names: Mapping[str, Array]
    # The largest number of axes of the arrays.
    axes: int
    scalars: Mapping[str, Number]
    # The results of loads.
    loaded: Loaded
    # Quotients and functions may be off by this many units of the last place, as on GPUs.
    looseness: float = 0.0
    # True if a product and a sum may be one operation, which rounds once.
    is_fused: bool = False
    # Whole numbers become floats of this type if they meet a value without a type.
    lone: Any = np.float32
    # The known faults of the version of Triton that runs.
    faults: Faulty = field(default_factory=Faulty)
    done: dict[Term, Number] = field(default_factory=dict[Term, Number])

    def with_names(self, more: Mapping[str, Array], axes: int) -> Frame:
        """Return the frame inside, where more names are known."""
        return Frame(
            {**self.names, **more},
            axes,
            self.scalars,
            self.loaded,
            self.looseness,
            self.is_fused,
            self.lone,
            self.faults,
        )


def whole(of: Whole, frame: Frame) -> Array:
    """Return a number over names. Raises CannotSayError for a name that is not known."""
    result: Array = np.zeros((), np.int64)
    for monomial, coefficient in of.terms:
        product: Array = np.asarray(coefficient, np.int64)
        for atom in monomial:
            product = product * _atom(atom, frame)
        result = result + product
    return result


def _atom(atom: str | Floor | Extreme | Either, frame: Frame) -> Array:
    match atom:
        case str():
            if atom not in frame.names:
                raise CannotSayError(f"'{atom}' has no value")
            return frame.names[atom]
        case Floor(operand=operand, divisor=divisor):
            return whole(operand, frame) // divisor
        case Extreme(largest=largest, left=left, right=right):
            ends = whole(left, frame), whole(right, frame)
            return np.maximum(*ends) if largest else np.minimum(*ends)
        case Either(condition=condition, yes=yes, no=no):
            return np.where(truth(condition, frame), whole(yes, frame), whole(no, frame))
        case _:
            assert_never(atom)


def truth(of: Truth, frame: Frame) -> Array:
    """True where a formula holds."""
    match of:
        case Sign(operand=operand, exactly=exactly):
            value = whole(operand, frame)
            return value == 0 if exactly else value >= 0
        case Not(operand=operand):
            return ~truth(operand, frame)
        case All(parts=parts):
            every: Array = np.asarray(True)
            for part in parts:
                every = every & truth(part, frame)
            return every
        case Some(parts=parts):
            some: Array = np.asarray(False)
            for part in parts:
                some = some | truth(part, frame)
            return some
        case _:
            assert_never(of)


def free_names(of: Whole | Truth) -> frozenset[str]:
    """Return every name in it."""
    match of:
        case Whole(terms=terms):
            return _joined(_names_in(atom) for monomial, _ in terms for atom in monomial)
        case Sign(operand=operand) | Not(operand=operand):
            return free_names(operand)
        case All(parts=parts) | Some(parts=parts):
            return _joined(free_names(part) for part in parts)
        case _:
            assert_never(of)


def _names_in(atom: str | Floor | Extreme | Either) -> frozenset[str]:
    match atom:
        case str():
            return frozenset((atom,))
        case Floor(operand=operand):
            return free_names(operand)
        case Extreme(left=left, right=right):
            return free_names(left) | free_names(right)
        case Either(condition=condition, yes=yes, no=no):
            return free_names(condition) | free_names(yes) | free_names(no)
        case _:
            assert_never(atom)


def _joined(parts: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*parts)


def ranged(names: Sequence[str], domain: Truth, frame: Frame) -> Frame:
    """Return a frame in which each name runs through the numbers that its conditions leave.

    The conditions that mention one new name, linearly, say between which numbers that is; all
    others are for the caller to look at. Raises CannotSayError for a name that has no bounds.
    """
    facts = domain.parts if isinstance(domain, All) else (domain,)
    left, inside = list(names), frame
    while left:
        for one in left:
            bounds = _bounds(one, facts, frozenset(left) - {one}, inside)
            if bounds is not None:
                break
        else:
            raise CannotSayError(f"'{left[0]}' has no bounds")
        low, high = bounds
        count = max(high - low + 1, 0)
        axes = inside.axes + 1
        points = np.arange(low, low + count, dtype=np.int64)
        inside = inside.with_names({one: points.reshape((count, *(1,) * inside.axes))}, axes)
        if points_in(inside) > MOST_POINTS:
            raise CannotSayError("there are too many points")
        left.remove(one)
    return inside


def points_in(frame: Frame) -> int:
    shape = np.broadcast_shapes(*(value.shape for value in frame.names.values()))
    return int(np.prod(shape, dtype=np.int64))


def _bounds(
    one: str, facts: Sequence[Truth], others: frozenset[str], frame: Frame
) -> tuple[int, int] | None:
    """Return the least and the largest number that a name can be, if that is known already."""
    lows: list[int] = []
    highs: list[int] = []
    for fact in facts:
        if not isinstance(fact, Sign) or free_names(fact) & others:
            continue
        factor, rest = 0, Whole(())
        for monomial, coefficient in fact.operand.terms:
            if monomial == (one,):
                factor = coefficient
            elif one in _joined(map(_names_in, monomial)):
                break
            else:
                rest = rest + Whole(((monomial, coefficient),))
        else:
            if factor:
                value = whole(rest, frame)
                low, high = _ends(factor, value if value.size else np.zeros((), np.int64))
                if factor > 0 or fact.exactly:
                    lows.append(low)
                if factor < 0 or fact.exactly:
                    highs.append(high)
    if not lows or not highs:
        return None
    return max(lows), min(highs)


def _ends(factor: int, value: Array) -> tuple[int, int]:
    """Return the two whole numbers around the point where `factor * name + value` is 0."""
    by, of = (factor, value) if factor > 0 else (-factor, -value)
    return int(np.min(-(of // by))), int(np.max(-of // by))
