"""Gives an algorithm a label for a batch, so that torch.vmap calls one kernel and not many.

Each input that torch batches gets an axis in front, and so does each Func that depends on one. The
values of a batch do not meet: everything is read at the index of its own element.
"""

from collections.abc import Collection
from dataclasses import replace

from dtpoly.algorithm.expressions import (
    Affine,
    Expr,
    Read,
    at_data,
    map_children,
)
from dtpoly.algorithm.program import Func, Into, Label, Program, touched
from dtpoly.frozen import dataclass
from dtpoly.gradient.derived_nodes import plain
from dtpoly.gradient.lining_up import laid_out, turned_func
from dtpoly.gradient.naming import FreeNames
from dtpoly.gradient.normal_form import without_layout
from dtpoly.gradient.unranged import without_ranges


@dataclass(frozen=True, slots=True)
class WithBatch:
    """An algorithm of whole batches, the label of these, and the Funcs that have one."""

    program: Program
    label: str
    having: frozenset[str]


def with_batch(program: Program, inputs: Collection[str]) -> WithBatch:
    """Return an algorithm of whole batches of some inputs.

    The batch is the first axis of these inputs, and of the Funcs that depend on them. The schedule
    is left out.
    """
    program = without_ranges(replace(program, directives=()))
    names = FreeNames(program)
    label = names.new("batch")
    having = _having(program, inputs)
    made: list[Func] = []

    def turn(read: Read, labels: tuple[str, ...]) -> Expr:
        func, found = turned_func(read, labels, names.new(f"{read.tensor}_turned"))
        made.append(func)
        return found

    for func in program.funcs:
        if func.name in having:
            func = _with_label(func, label, having)
        made.append(laid_out(replace(func, body=without_layout(func.body)), turn))
    labels = (*program.labels, Label(label))
    made_of = replace(program, labels=labels, funcs=tuple(made))
    return WithBatch(made_of, label, frozenset(having - {*inputs}))


def _having(program: Program, inputs: Collection[str]) -> set[str]:
    """Return the inputs and Funcs that have a batch. What sums begin with has one with its sums."""
    having = set(inputs)
    together = [{start, added} for start, added in program.starts.items()]
    while True:
        known = len(having)
        for func in program.funcs:
            if any(read.tensor in having for read in touched(func)):
                having.add(func.name)
        for pair in together:
            having |= pair if pair & having else set()
        if len(having) == known:
            return having


def _with_label(func: Func, label: str, having: Collection[str]) -> Func:
    def moved(expr: Expr) -> Expr:
        if not isinstance(expr, Read):
            return map_children(expr, moved)
        indices = tuple(map(index, expr.indices))
        padding = None if expr.padding is None else moved(expr.padding)
        own = (plain(label),) if expr.tensor in having else ()
        return Read(expr.tensor, (*own, *indices), padding)

    def index(one: Affine) -> Affine:
        return one if one.data is None else at_data(moved(one.data), one.within)

    into = func.into
    if isinstance(into, Into) and into.at is not None:
        at = into.at
        own = (plain(label),) if at.tensor in having else ()
        into = replace(into, at=Read(at.tensor, (*own, *map(index, at.indices)), at.padding))
    return replace(func, labels=(label, *func.labels), body=moved(func.body), into=into)
