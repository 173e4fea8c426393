"""What the verifier's terms are at given sizes: numbers in, arrays of numbers out.

A *frame* says what names are: each is an array of whole numbers, and arrays broadcast against each
other as NumPy has it. A name that is bound inside (the lane of a reduction, the iterations of a
loop) gets a new first axis, on which it runs through all numbers that its domain allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, assert_never

import numpy as np

from dtpoly.verify.terms import (
    Apply,
    Carried,
    Choose,
    Element,
    Given,
    Literal,
    Pair,
    Place,
    PlaceOf,
    Stored,
    Term,
    Total,
    ValueOf,
)
from dtpoly.verify.whole import All, Either, Extreme, Floor, Not, Sign, Some, Truth, Whole
from tests.attack.arithmetic import applied, chosen
from tests.attack.numbers import (
    EPSILON,
    UNKNOWN,
    Array,
    CannotSayError,
    Number,
    as_float,
    certain,
    slack_of,
    written,
)
from tests.attack.totals import total

# More points than this are not looked at.
MOST_POINTS = 2_000_000

Loaded = Callable[[Element, "Frame"], Number]


@dataclass
class Frame:
    """What names are, and what terms were found to be there."""

    names: Mapping[str, Array]
    # How many axes the arrays have at most.
    axes: int
    scalars: Mapping[str, Number]
    # What a load gave.
    loaded: Loaded
    # By how much quotients and functions may be off, in units of the last place: on GPUs they are.
    looseness: float = 0.0
    # Whether a product and a sum may be one operation, which rounds once.
    is_fused: bool = False
    # The floats that whole numbers become beside what has no type.
    lone: Any = np.float32
    done: dict[Term, Number] = field(default_factory=dict[Term, Number])

    def with_names(self, more: Mapping[str, Array], axes: int) -> Frame:
        """The frame inside, where more names are known."""
        return Frame(
            {**self.names, **more},
            axes,
            self.scalars,
            self.loaded,
            self.looseness,
            self.is_fused,
            self.lone,
        )


def whole(of: Whole, frame: Frame) -> Array:
    """A number over names. Raises CannotSayError for a name that is not known."""
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
    """Where a formula holds."""
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
    """Every name in it."""
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
    """A frame in which each name runs through the numbers that its conditions leave.

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
        if _points(inside) > MOST_POINTS:
            raise CannotSayError("there are too many points")
        left.remove(one)
    return inside


def _points(frame: Frame) -> int:
    shape = np.broadcast_shapes(*(value.shape for value in frame.names.values()))
    return int(np.prod(shape, dtype=np.int64))


def _bounds(
    one: str, facts: Sequence[Truth], others: frozenset[str], frame: Frame
) -> tuple[int, int] | None:
    """The least and the largest number that a name can be, if that is known by now."""
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
    """Where `factor * name + value` is 0: the least and the largest number next to that."""
    by, of = (factor, value) if factor > 0 else (-factor, -value)
    return int(np.min(-(of // by))), int(np.max(-of // by))


def number(term: Term, frame: Frame) -> Number | tuple[Number, Number]:
    """A term as a number at each point; a value and its place, of a pair."""
    found = frame.done.get(term)
    if found is None:
        made = _number(term, frame)
        if isinstance(made, tuple):
            return made
        if made.data.dtype.kind == "i" and made.lone is not frame.lone:
            made = replace(made, lone=frame.lone)
        found = frame.done[term] = made
    return found


def plain(term: Term, frame: Frame) -> Number:
    """A term that is no pair."""
    found = number(term, frame)
    if isinstance(found, tuple):
        raise CannotSayError("a pair where a number must be")
    return found


def _number(term: Term, frame: Frame) -> Number | tuple[Number, Number]:
    match term:
        case Literal(text=text):
            return _literal(text)
        case Given(name=one):
            return frame.scalars[one]
        case Place(value=value):
            return Number(whole(value, frame))
        case Element():
            return frame.loaded(term, frame)
        case Choose(condition=condition, yes=yes, no=no):
            return chosen(Number(truth(condition, frame)), plain(yes, frame), plain(no, frame))
        case Apply(operation="argmax" | "argmin"):
            raise CannotSayError("a pair of two pairs")
        case Apply(operation=operation, operands=operands):
            numbers = [plain(one, frame) for one in operands]
            made = applied(operation, numbers, frame.looseness)
            if frame.is_fused and operation in ("add", "sub"):
                return _fused(made, operands, numbers)
            return made
        case Total(operation=operation, bound=bound, domain=domain, body=body):
            inside = ranged(bound, domain, frame)
            if operation in ("argmax", "argmin"):
                raise CannotSayError("a reduction of pairs")
            where, values = truth(domain, inside), _summand(body, inside)
            return _reduced(operation, values, where, inside.axes, frame.axes, inside)
        case Pair(value=value, place=place):
            return plain(value, frame), plain(place, frame)
        case ValueOf(pair=inner) | PlaceOf(pair=inner):
            found = number(inner, frame)
            if not isinstance(found, tuple):
                raise CannotSayError("a part of what is no pair")
            return found[isinstance(term, PlaceOf)]
        case Stored() | Carried():
            raise CannotSayError(f"a term of {type(term).__name__}")
        case _:
            assert_never(term)


def _summand(body: Term, frame: Frame) -> Number:
    """What is reduced. A product too large for its type may be kept in a wider one until it is.

    Whether the sum of such products is an infinity is left open.
    """
    found = plain(body, frame)
    match body:
        case Apply(operation="mul", operands=operands) if found.is_float:
            is_finite: Array = np.asarray(True)
            for one in operands:
                is_finite = is_finite & np.isfinite(plain(one, frame).data)
            is_open = is_finite & ~np.isfinite(found.data)
            return Number(found.data, slack_of(found.slack, np.where(is_open, np.inf, 0.0)))
        case _:
            return found


def _reduced(
    operation: str, values: Number, where: Array, axes: int, outer: int, inside: Frame
) -> Number:
    """All axes but the outer ones put together, as one."""
    shape = np.broadcast_shapes(
        values.data.shape,
        where.shape,
        values.error.shape,
        *(value.shape for value in inside.names.values()),
    )
    shape = (*(1,) * (axes - len(shape)), *shape)
    count = int(np.prod(shape[: axes - outer], dtype=np.int64))
    flat = (count, *shape[axes - outer :])

    def laid(data: Array) -> Array:
        found = np.broadcast_to(data, shape).reshape(flat)
        # Of no points at all there is one that is not inside.
        return found if count else np.zeros((1, *flat[1:]), data.dtype)

    wide = values.is_wide if operation == "add" else None
    values = values if operation == "add" else certain(values)
    slack = None if values.slack is None else laid(values.slack)
    found = total(
        operation,
        Number(laid(values.data), slack, values.is_written),
        laid(where),
        inside.looseness,
    )
    if not found.is_float and values.data.dtype.kind == "i" and not values.is_written:
        floats = _reduced_floats(operation, values, where, axes, outer, inside)
        found = replace(found, floats=floats)
    if wide is None:
        return found
    is_wide = np.any(laid(wide) & laid(where), axis=0)
    return replace(found, is_wide=is_wide if found.is_wide is None else is_wide | found.is_wide)


def _reduced_floats(
    operation: str, values: Number, where: Array, axes: int, outer: int, inside: Frame
) -> Number | None:
    """What a reduction of whole numbers is in floats; None if that is the same number."""
    floats = values.floats
    if floats is None:
        if operation != "add":
            return None
        floats = as_float(values, values.lone)
        sizes = float(np.max(np.abs(floats.data), initial=0.0))
        if sizes * _points(inside) <= 1 / EPSILON[np.dtype(values.lone)]:
            return None
    return _reduced(operation, floats, where, axes, outer, inside)


def _fused(made: Number, operands: Sequence[Term], numbers: Sequence[Number]) -> Number:
    """A sum whose operand is a product that may not have been rounded."""
    if made.floats is not None:
        inner = [as_float(value, made.floats.data.dtype.type) for value in numbers]
        made = replace(made, floats=_fused(made.floats, operands, inner))
    if made.data.dtype.kind != "f" or made.is_written:
        return made
    more: Any = None
    for term, value in zip(operands, numbers, strict=True):
        if isinstance(term, Apply) and term.operation == "mul":
            error = np.abs(value.data.astype(np.float64)) * EPSILON[made.data.dtype] * 2
            more = slack_of(more, error)
    return made if more is None else Number(made.data, slack_of(made.slack, more))


def _literal(text: str) -> Number:
    match text:
        case "True" | "False":
            return written(text == "True")
        case "undefined":
            return UNKNOWN
        case "inf" | "-inf" | "nan":
            return written(float(text))
        case _:
            pass
    head, _, kind = text.partition(" ")
    if head in ("least", "most"):
        return written(_end(head, kind))
    try:
        value = Fraction(text)
    except ValueError as error:
        raise CannotSayError(f"the number '{text}'") from error
    return written(value.numerator if value.denominator == 1 else float(value))


def _end(head: str, kind: str) -> int:
    bits = 8 if kind == "tl.uint8" else int(kind.removeprefix("tl.int"))
    if kind == "tl.uint8":
        return 0 if head == "least" else 255
    return -(1 << (bits - 1)) if head == "least" else (1 << (bits - 1)) - 1
