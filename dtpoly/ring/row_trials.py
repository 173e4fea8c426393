"""Runs two calls with one row in common, to find a row whose bits depend on its batch.

Kernels that add up by atomic operations are also run twice in one call, with their programs in the
opposite order: a device runs them in any order. It imports torch and triton.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from math import prod
from time import thread_time
from typing import Any

import torch

from dtpoly.algorithm.program import Program
from dtpoly.budget import OverBudgetError, within
from dtpoly.frozen import dataclass
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.ring.grouping_texts import TreeRecord, TwoGroupings, groupings, name_elements, recorded
from dtpoly.ring.rounding_trees import (
    NoTrees,
    RowCall,
    RowFunction,
    TwoRuns,
    first_unlike,
    in_order,
    marked_inputs,
    rows_in_runs,
    share,
)
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
# The sizes of the other labels in two runs of one call: there must be three programs for a row.
OF_ORDERS = (70, 300, 2000, 9000)
ATOMIC = re.compile(r"\btl\.atomic_|\.atomic_\w+\(")
# Smaller sizes that are tried, to show a difference in few operations.
SMALLER = (1, 2, 3, 4, 5, 8, 16, 17, 32, 33, 48, 64, 65, 96, 128, 129, 257)
SHRINKING = 4.0  # seconds
UNFIT = (OverBudgetError, NoTrees, errors.InterpreterError, *FAILED)


@dataclass(frozen=True, slots=True)
class RowTrial:
    """A row that two runs compute in two ways.

    `element` is the first element of the row that is made by other operations or in another
    grouping, and `groupings` are these. `floats` are two values of such an element that f32 numbers
    gave in Triton's interpreter, if these differ, too. If it `is_of_order`, the two runs are of one
    call, and the programs of the second one run in the opposite order.
    """

    calls: tuple[RowCall, RowCall]
    element: tuple[int, ...]
    floats: tuple[float, float] | None = None
    groupings: TwoGroupings | None = None
    is_of_order: bool = False


def row_that_differs(
    program: Program,
    text: str,
    func: str,
    label: str,
    tried: Iterable[tuple[RowCall, RowCall]],
    seconds: float,
) -> RowTrial | None:
    """Return a row that two runs compute in two ways; None if none was found."""
    asked = RowFunction(program, text, func, label)
    some = [TwoRuns(calls) for calls in (*tried, *_some_calls(program, label))]
    # Only what is added up by atomic operations depends on the order of programs.
    orders = list(_orders(program, label)) if ATOMIC.search(text) else []
    end = thread_time() + seconds
    for runs in (*orders, *some):
        if not _is_small(runs) or (runs.is_reversed and thread_time() > end):
            continue
        try:
            with within(seconds, most_bytes=MOST_BYTES):
                if _unlike(asked, runs) is None:
                    continue
            return _trial(asked, _smallest(asked, runs, min(seconds, SHRINKING)), seconds)
        except UNFIT:
            continue
    return None


def _is_small(runs: TwoRuns) -> bool:
    most = max(prod(max(one, 1) for one in call.sizes.values()) for call in runs.calls)
    return most <= MOST_ELEMENTS


def _unlike(asked: RowFunction, runs: TwoRuns) -> tuple[int, ...] | None:
    """Return the first element of a row that two runs compute in two ways."""
    given = marked_inputs(asked.program, runs, SEED)
    return first_unlike(*rows_in_runs(asked, runs, given))


def _trial(asked: RowFunction, runs: TwoRuns, seconds: float) -> RowTrial:
    """Return all that can be said of a row that two runs compute in two ways."""
    with within(seconds, most_bytes=MOST_BYTES):
        element, written = _written(asked, runs)
        floats = _floats(asked, runs)
    return RowTrial(runs.calls, element, floats, written, runs.is_reversed)


def _written(asked: RowFunction, runs: TwoRuns) -> tuple[tuple[int, ...], TwoGroupings | None]:
    """Return the element that differs, and how it is put together in both runs."""
    given = marked_inputs(asked.program, runs, SEED)
    with recorded() as record:
        for call, inputs in zip(runs.calls, given, strict=True):
            _name_inputs(record, call, inputs, runs)
        one, other = rows_in_runs(asked, runs, given)
    at = first_unlike(one, other)
    assert at is not None, "it differed before"
    if record.is_full or one.shape != other.shape or not torch.is_floating_point(one):
        return at, None
    return at, groupings(record, float(one[at]), float(other[at]))


def _name_inputs(
    record: TreeRecord, call: RowCall, inputs: Mapping[str, Any], runs: TwoRuns
) -> None:
    """Name the elements of inputs; what both calls have keeps the name of the first one."""
    for name, value in inputs.items():
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            name_elements(record, value.numpy(), partial(_place, name))
        elif isinstance(value, float):
            record.name(name, value)


def _place(name: str, at: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, at))}]"


def _smallest(asked: RowFunction, runs: TwoRuns, seconds: float) -> TwoRuns:
    """Return the smallest sizes at which a row is still computed in two ways, as far as is known.

    Each size is made smaller by itself, first those that both calls share.
    """
    end = thread_time() + seconds
    for label in (*(one for one in runs.calls[0].sizes if one != asked.label), asked.label):
        for size in SMALLER:
            for smaller in _with_size(asked, runs, label, size):
                left = end - thread_time()
                if left <= 0:
                    return runs
                try:
                    with within(left, most_bytes=MOST_BYTES):
                        if _unlike(asked, smaller) is None:
                            continue
                except UNFIT:
                    continue
                runs = smaller
                break
            else:
                continue
            break
    return runs


def _with_size(asked: RowFunction, runs: TwoRuns, label: str, size: int) -> Iterator[TwoRuns]:
    """Yield two runs with another size of a label in both, or in one if they are no equal sizes."""
    sizes = [call.sizes[label] for call in runs.calls]
    fixed = {one.name for one in asked.program.labels if one.size is not None}
    if label in fixed:
        return
    places = [(0, 1)] if sizes[0] == sizes[1] else [(0,), (1,)]
    for at in places:
        calls = list(runs.calls)
        if any(size >= sizes[one] for one in at):
            continue
        if label == asked.label and any(size <= calls[one].row for one in at):
            continue
        for one in at:
            calls[one] = replace(calls[one], sizes={**calls[one].sizes, label: size})
        yield replace(runs, calls=(calls[0], calls[1]))


def _some_calls(program: Program, label: str) -> Iterator[tuple[RowCall, RowCall]]:
    fixed = {one.name: one.size for one in program.labels if one.size is not None}
    labels = [one.name for one in program.labels]
    for other in OTHERS:
        sizes = {one: fixed.get(one, other) for one in labels}
        for (first, row), (second, row_too) in BATCHES:
            yield RowCall({**sizes, label: first}, row), RowCall({**sizes, label: second}, row_too)


def _orders(program: Program, label: str) -> Iterator[TwoRuns]:
    """Yield calls with one row, each to be run in two orders: all labels long, and one by one."""
    fixed = {one.name: one.size for one in program.labels if one.size is not None}
    labels = [one.name for one in program.labels if one.name != label]
    for size in OF_ORDERS:
        for long in (labels, *([one] for one in labels if len(labels) > 1)):
            sizes = {one: size if one in long else 2 for one in labels} | fixed
            call = RowCall({**sizes, label: fixed.get(label, 1)}, 0)
            yield TwoRuns((call, call), is_reversed=True)


def _floats(asked: RowFunction, runs: TwoRuns) -> tuple[float, float] | None:
    """Return two values of one element that f32 numbers give; None if all values are equal."""
    module = load_module(asked.text, "rows")
    first, second = (
        dict[str, Any](random_inputs(asked.program, call.sizes, SEED + at))
        for at, call in enumerate(runs.calls)
    )
    share(first, second, runs.calls)
    try:
        one = asked.call(module, runs.calls[0], first)
        with in_order(is_reversed=runs.is_reversed):
            other = asked.call(module, runs.calls[1], second)
    except UNFIT:
        return None
    at = first_unlike(one, other)
    if at is None or not torch.is_floating_point(one):
        return None
    return float(one[at]), float(other[at])
