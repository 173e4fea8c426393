"""Lays out expressions so that their operands line up by position, as the language checks it.

Values line up by label. In a text they must also line up from the right, so an operand that lacks a
label is reshaped. Where two reads have their labels in different orders, one of them is turned: a
Func reads it, and has them in the other order.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from dtpoly.algorithm.expressions import (
    Apply,
    Expr,
    Read,
    Reduce,
    Reshape,
    ScanOrder,
    children,
    free_labels,
    map_children,
    walk,
)
from dtpoly.algorithm.program import Func
from dtpoly.algorithm.shapes import Shape, combine, read_shape, shape_of
from dtpoly.gradient.derived_nodes import read_at

Turn = Callable[[Read, tuple[str, ...]], Expr]


def laid_out(func: Func, turn: Turn) -> Func:
    """Return a Func whose operands line up; `turn` gives reads with their labels in an order."""
    order, fits = _order(func.body, func.labels)
    body = func.body if fits else _turned(func.body, order, turn)
    return replace(func, body=_laid_out(body, order))


def _order(expr: Expr, labels: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Return an order of labels, and whether all reads have their labels in this order."""
    orders = [
        tuple(axis for axis in read_shape(node).axes if axis is not None)
        for node in _outside_of_indices(expr)
        if isinstance(node, Read)
    ]
    named = (label for node in walk(expr) for label in free_labels(node))
    every = dict.fromkeys((*labels, *(label for one in orders for label in one), *named))
    merged = _merged(orders, every)
    return (tuple(every), False) if merged is None else (merged, True)


def _outside_of_indices(expr: Expr) -> Iterator[Expr]:
    """Yield all nodes but those that indices are made of: these line up among themselves."""
    yield expr
    if not isinstance(expr, Read):
        for one in children(expr):
            yield from _outside_of_indices(one)


def _merged(orders: Iterable[tuple[str, ...]], every: Iterable[str]) -> tuple[str, ...] | None:
    """Return all labels in an order that agrees with each of some; None if there is none."""
    before: dict[str, set[str]] = {label: set() for label in every}
    for order in orders:
        for at, label in enumerate(order):
            before[label].update(order[:at])
    found: list[str] = []
    while before:
        first = next((label for label, ones in before.items() if not ones - set(found)), None)
        if first is None:
            return None
        found.append(first)
        del before[first]
    return tuple(found)


def _turned(expr: Expr, order: tuple[str, ...], turn: Turn) -> Expr:
    if not isinstance(expr, Read):
        return map_children(expr, lambda one: _turned(one, order, turn))
    labels = tuple(axis for axis in read_shape(expr).axes if axis is not None)
    wanted = tuple(label for label in order if label in labels)
    return expr if labels == wanted else turn(expr, wanted)


def _laid_out(expr: Expr, order: tuple[str, ...]) -> Expr:
    if isinstance(expr, Read):
        return map_children(expr, lambda one: _laid_out(one, _order(one, ())[0]))
    made = map_children(expr, lambda one: _laid_out(one, order))
    match made:
        case Apply(operands=operands) if len(operands) > 1:
            return replace(made, operands=_lined_up(operands, order))
        case Reduce(operand=operand, labels=labels, scan=ScanOrder(factor=None) | None):
            return replace(made, operand=_with_labels(operand, labels))
        case _:
            return made


def _with_labels(operand: Expr, labels: tuple[str, ...]) -> Expr:
    """Return an operand that has all labels which are reduced over."""
    missing = [label for label in labels if label not in free_labels(operand)]
    if not missing:
        return operand
    shape = _shape(operand)
    return Reshape(operand, (*missing, *shape.named, *shape.axes))


def _shape(expr: Expr) -> Shape:
    shape = shape_of(expr).shape
    assert shape is not None, "what is below lines up"
    return shape


def _lined_up(operands: tuple[Expr, ...], order: tuple[str, ...]) -> tuple[Expr, ...]:
    shapes = [_shape(one) for one in operands]
    total: Shape | None = shapes[0]
    for one in shapes[1:]:
        total = None if total is None else combine(total, one)
    if total is not None:
        return operands
    present = {label for one in shapes if any(one.axes) for label in one.labels}
    axes = tuple(label for label in order if label in present)
    return tuple(_in_order(one, shape, axes) for one, shape in zip(operands, shapes, strict=True))


def _in_order(operand: Expr, shape: Shape, order: tuple[str, ...]) -> Expr:
    """Return an operand with an axis for each label of an order, from its first one on."""
    if not any(shape.axes):
        return operand
    axes = [label if label in shape.labels else None for label in order]
    while axes and axes[0] is None:
        axes = axes[1:]
    if tuple(axes) == shape.axes and not shape.named:
        return operand
    inner = operand.operand if isinstance(operand, Reshape) else operand
    return Reshape(inner, tuple(axes))


def turned_func(read: Read, labels: tuple[str, ...], name: str) -> tuple[Func, Read]:
    """Return a Func that has a read's labels in another order, and the read of it."""
    return Func(name, labels, read), read_at(name, labels)
