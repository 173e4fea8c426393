"""Evaluates the verifier's terms at given sizes, as arrays of numbers.

A *frame* (`frames.py`) says what names are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, assert_never

import numpy as np

from dtpoly.verify.algebra.terms import (
    AppliedOperation,
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
from tests.attack.arithmetic import chosen
from tests.attack.frames import Frame, points_in, ranged, truth, whole
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


def number(term: Term, frame: Frame) -> Number | tuple[Number, Number]:
    """Return a term as a number at each point, or a value and its place for a pair."""
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
    """Return the number of a term that is no pair."""
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
        case AppliedOperation(operation="argmax" | "argmin"):
            raise CannotSayError("a pair of two pairs")
        case AppliedOperation(operation=operation, operands=operands):
            numbers = [plain(one, frame) for one in operands]
            made = frame.faults.computed(operation, numbers, frame.looseness)
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
    """Return what is reduced. A product too large for its type may be kept in a wider one.

    Whether the sum of such products is an infinity is left open.
    """
    found = plain(body, frame)
    match body:
        case AppliedOperation(operation="mul", operands=operands) if found.is_float:
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
    """Put all axes but the outer ones together, as one."""
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
        # Where there are no points at all, there is one that is not inside.
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
    """Return a reduction of whole numbers in floats, or None if that is the same number."""
    floats = values.floats
    if floats is None:
        if operation != "add":
            return None
        floats = as_float(values, values.lone)
        sizes, most = (
            float(np.max(np.abs(floats.data), initial=0.0)),
            EPSILON[floats.data.dtype] ** -1,
        )
        if sizes > most or sizes * points_in(inside) <= most:
            return None
    return _reduced(operation, floats, where, axes, outer, inside)


def _fused(made: Number, operands: Sequence[Term], numbers: Sequence[Number]) -> Number:
    """Return a sum whose operand is a product that may not have been rounded."""
    if made.floats is not None:
        inner = [as_float(value, made.floats.data.dtype.type) for value in numbers]
        made = replace(made, floats=_fused(made.floats, operands, inner))
    if made.data.dtype.kind != "f" or made.is_written:
        return made
    more: Any = None
    for term, value in zip(operands, numbers, strict=True):
        if isinstance(term, AppliedOperation) and term.operation == "mul":
            # One rounding is that of the product, and the sum may be rounded to the other side.
            total = np.where(np.isfinite(made.data), np.abs(made.data.astype(np.float64)), 0.0)
            sizes = np.abs(value.data.astype(np.float64)) + total
            error = sizes * EPSILON[made.data.dtype] * 2
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
    is_whole = value.denominator == 1 and abs(value) < 2**63
    return written(value.numerator if is_whole else float(value))


def _end(head: str, kind: str) -> int:
    bits = 8 if kind == "tl.uint8" else int(kind.removeprefix("tl.int"))
    if kind == "tl.uint8":
        return 0 if head == "least" else 255
    return -(1 << (bits - 1)) if head == "least" else (1 << (bits - 1)) - 1
