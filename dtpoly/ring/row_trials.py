"""Runs two calls with one row in common, to find a row whose bits depend on its batch.

It imports torch and triton.
"""

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from math import prod
from typing import Any

import torch

from dtpoly.algorithm.program import Program
from dtpoly.budget import OverBudgetError, within
from dtpoly.frozen import dataclass
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.ring.rounding_trees import NoTrees, RowCall, first_unlike, row_in, rows_of, share
from dtpoly.ring.trying import FAILED, MOST_BYTES
from dtpoly.runtime.load import load_module

# Triton has no types.
errors: Any = import_module("triton.runtime.errors")
SEED = 1
MOST_ELEMENTS = 60_000
# How many rows the two calls have, and at which index the common one stands. A size of the other
# labels is one of these.
BATCHES = (((1, 0), (17, 0)), ((1, 0), (17, 16)), ((2, 1), (70, 1)), ((9, 0), (33, 31)))
OTHERS = (70, 17)


@dataclass(frozen=True, slots=True)
class RowTrial:
    """A row that two calls compute in two ways.

    `element` is the first element of the row that is made by other operations or in another
    grouping. `floats` are two values of such an element that f32 numbers gave in Triton's
    interpreter, if these differ, too.
    """

    calls: tuple[RowCall, RowCall]
    element: tuple[int, ...]
    floats: tuple[float, float] | None = None


def row_that_differs(
    program: Program,
    text: str,
    func: str,
    label: str,
    tried: Iterable[tuple[RowCall, RowCall]],
    seconds: float,
) -> RowTrial | None:
    """Return a row that two calls compute in two ways; None if none was found."""
    for calls in (*tried, *_some_calls(program, label)):
        if max(prod(max(one, 1) for one in call.sizes.values()) for call in calls) > MOST_ELEMENTS:
            continue
        try:
            with within(seconds, most_bytes=MOST_BYTES):
                rows = rows_of(program, text, func, label, calls, SEED)
                element = first_unlike(*rows)
                if element is not None:
                    floats = _floats(program, text, func, label, calls)
                    return RowTrial(calls, element, floats)
        except (OverBudgetError, NoTrees, errors.InterpreterError, *FAILED):
            continue
    return None


def _some_calls(program: Program, label: str) -> Iterator[tuple[RowCall, RowCall]]:
    fixed = {one.name: one.size for one in program.labels if one.size is not None}
    labels = [one.name for one in program.labels]
    for other in OTHERS:
        sizes = {one: fixed.get(one, other) for one in labels}
        for (first, row), (second, row_too) in BATCHES:
            yield RowCall({**sizes, label: first}, row), RowCall({**sizes, label: second}, row_too)


def _floats(
    program: Program, text: str, func: str, label: str, calls: tuple[RowCall, RowCall]
) -> tuple[float, float] | None:
    """Return two values of one element that f32 numbers give; None if all values are equal."""
    module = load_module(text, "rows")
    first, second = (
        dict[str, Any](random_inputs(program, call.sizes, SEED + at))
        for at, call in enumerate(calls)
    )
    share(first, second, calls)
    axis = program.func(func).labels.index(label)
    found = [getattr(module, func)(**given) for given in (first, second)]
    one, other = (row_in(result, axis, call.row) for result, call in zip(found, calls, strict=True))
    at = first_unlike(one, other)
    if at is None or not torch.is_floating_point(one):
        return None
    return float(one[at]), float(other[at])


def batches(calls: Mapping[str, int]) -> str:
    """`x = 1, y = 70`."""
    return ", ".join(f"{label} = {size}" for label, size in calls.items())
