"""Reductions of numbers: in any order, each step rounded as its type says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.attack.numbers import (
    EPSILON,
    LAST_PLACE,
    Array,
    CannotSayError,
    Number,
    nearest,
    slack_of,
)

# The largest number of types in which a sum may be rounded at each step.
NARROW = {"tl.float16": 65504.0, "tl.bfloat16": 3e38}
# Sums of so many numbers are tried in all orders.
FEW = 4


def total(word: str, values: Number, inside: Array, looseness: float = 0.0) -> Number:
    """A reduction of the first axis, over the points that are inside; of nothing: its identity.

    With some looseness each step of a sum may be cut off, as tensor cores do it.
    """
    shape = np.broadcast_shapes(values.data.shape, inside.shape)
    data, where = np.broadcast_to(values.data, shape), np.broadcast_to(inside, shape)
    slack = None if values.slack is None else np.broadcast_to(values.slack, shape)
    head, _, tail = word.partition(" ")
    with np.errstate(all="ignore"):
        match head:
            case "add":
                found = Number(data, slack, values.is_written)
                return _sum(found, where, looseness, tail.removeprefix("in "))
            case "or" | "and" if data.dtype.kind == "b":
                if head == "or":
                    found = np.any(data & where, axis=0)
                else:
                    found = np.all(data | ~where, axis=0)
                return Number(found, _any_of(slack, where))
            case "maximum" | "minimum" if tail in ("", "without nan"):
                return _best(head == "maximum", data, where, slack, nan_wins=not tail)
            case "mul":
                return _product(data, where, slack)
            case _:
                raise CannotSayError(f"a reduction by '{word}'")


def _any_of(slack: Array | None, where: Array) -> Array | None:
    if slack is None:
        return None
    return slack_of(np.where(np.any((slack > 0) & where, axis=0), np.inf, 0.0))


def _sum(values: Number, where: Array, looseness: float, within: str) -> Number:
    """Return a sum in any order; within a type each of its steps is rounded to that."""
    data, slack = values.data, values.slack
    if data.dtype.kind in "bi":
        found = np.sum(np.where(where, data, 0).astype(np.int64), axis=0)
        wide = np.sum(np.where(where, np.abs(data.astype(np.float64)), 0.0), axis=0) > 9e18
        is_wide = wide if np.any(wide) else None
        return Number(found, _any_of(slack, where), values.is_written, is_wide)
    kept = np.where(where, data, data.dtype.type(0)).astype(np.float64)
    found = np.sum(kept, axis=0)
    sizes = np.sum(np.abs(kept), axis=0)
    count = np.sum(where, axis=0)
    small = LAST_PLACE[within] / 2 if within in NARROW else EPSILON[data.dtype]
    most = NARROW.get(within, 3e38 if data.dtype == np.float32 else np.inf)
    # Each step is off by a part of what is added so far, which is off as well.
    steps = np.maximum(count - 1, 0)
    error = sizes * small * steps * (1.0 + looseness) * (1.0 + small * steps)
    if within in NARROW and len(kept) <= FEW:
        found = nearest(within, found).astype(np.float64)
        error = np.minimum(error, _between_orders(kept, found, within))
    # Multiples of one unit are added exactly in any order while all digits of a sum are held.
    for unit in (1.0, 2.0**-10):
        is_exact = np.all(~where | (kept / unit == np.round(kept / unit)), axis=0)
        error = np.where(is_exact & (sizes < unit / small / 2), 0.0, error)
    # Whether it is infinite may depend on the order.
    error = np.where(~np.isfinite(error), np.where(np.isnan(found), 0.0, np.inf), error)
    is_far = (sizes > most) & np.isfinite(sizes)
    error = np.where(is_far, np.inf, error)
    has_infinity = np.any(np.isinf(kept), axis=0)
    finite = np.sum(np.where(np.isfinite(kept), np.abs(kept), 0), axis=0)
    error = np.where(has_infinity & (finite < min(1e38, most)), 0.0, error)
    if slack is not None:
        error = error + np.sum(np.where(where, slack, 0.0), axis=0)
    return Number(found.astype(data.dtype), slack_of(error))


def _between_orders(kept: Array, found: Array, within: str) -> Array:
    """Return how far the sum in any order of adding is, at most, from the one that was found."""
    apart: Array = np.zeros(found.shape)
    for one in _orders([*kept], within):
        apart = np.maximum(apart, np.abs(one - found))
    return np.where(np.isnan(apart), np.inf, apart)


def _orders(parts: Sequence[Array], within: str) -> Iterator[Array]:
    """The sums of numbers, two of which are added first, then two of what is there, and so on."""
    if len(parts) == 1:
        yield parts[0]
    for second in range(len(parts)):
        for first in range(second):
            rest = [one for at, one in enumerate(parts) if at not in (first, second)]
            added = nearest(within, parts[first] + parts[second]).astype(np.float64)
            yield from _orders([added, *rest], within)


def _best(
    is_largest: bool, data: Array, where: Array, slack: Array | None, *, nan_wins: bool
) -> Number:
    if data.dtype.kind == "f":
        nothing: Any = data.dtype.type(-np.inf if is_largest else np.inf)
    elif data.dtype.kind == "b":
        data, nothing = data.astype(np.int64), 0 if is_largest else 1
    else:
        limits = np.iinfo(np.int64)
        nothing = limits.min if is_largest else limits.max
    kept = np.where(where, data, nothing)
    ways: Any = (np.maximum, np.minimum) if nan_wins else (np.fmax, np.fmin)
    found = ways[0 if is_largest else 1].reduce(kept, axis=0)
    if slack is None:
        return Number(found)
    error = np.max(np.where(where, slack, 0.0), axis=0)
    return Number(found, slack_of(error))


def _product(data: Array, where: Array, slack: Array | None) -> Number:
    kept = np.where(where, data, data.dtype.type(1))
    if data.dtype.kind != "f":
        return Number(np.multiply.reduce(kept.astype(np.int64), axis=0), _any_of(slack, where))
    found = np.multiply.reduce(kept.astype(np.float64), axis=0)
    count = np.sum(where, axis=0)
    error = np.abs(found) * EPSILON[data.dtype] * count
    if slack is not None:
        error = np.where(np.any(np.where(where, slack, 0.0) > 0, axis=0), np.inf, error)
    return Number(found.astype(data.dtype), slack_of(error))
