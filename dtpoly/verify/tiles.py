"""Tiles brought to one shape: broadcasting, new axes, reductions of an axis."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from dtpoly.verify.values import Group, Item, Tile, Unread, Value, put_item
from dtpoly.verify.whole import Whole, name, number

if TYPE_CHECKING:
    from dtpoly.verify.machine import Machine


def at_rank(tile: Tile, rank: int) -> Tile:
    """The tile with axes of one lane in front."""
    return replace(tile, axes=(*(None,) * (rank - len(tile.axes)), *tile.axes))


def aligned(
    machine: Machine, tiles: Sequence[Tile], line: int
) -> tuple[tuple[str | None, ...], list[Item]]:
    """The axes that tiles have together, and their values over the lanes of those."""
    rank = max(len(tile.axes) for tile in tiles)
    raised = [at_rank(tile, rank) for tile in tiles]
    axes: list[str | None] = []
    for position in range(rank):
        here = [tile.axes[position] for tile in raised if tile.axes[position] is not None]
        if not here:
            axes.append(None)
            continue
        extents = {machine.extents[one] for one in here if one is not None}
        if len(extents) > 1:
            raise Unread(line, "tiles of different shapes meet")
        chosen = next((one for one in here if one not in axes), None)
        axes.append(chosen or machine.lane(next(iter(extents))))
    items: list[Item] = []
    for tile in raised:
        put = {
            old: name(new)
            for old, new in zip(tile.axes, axes, strict=True)
            if old is not None and new is not None and old != new
        }
        items.append(put_item(tile.item, put) if put else tile.item)
    return tuple(axes), items


def reshaped(machine: Machine, tile: Tile, axes: tuple[str | None, ...], line: int) -> Tile:
    """`tl.reshape`: the same lanes in the same order, the last axis fastest, on other axes.

    Axes that go together must be of known extents: an old index is then what is left of the place
    in that group, divided by the extents behind it.
    """
    put: dict[str, Whole] = {}
    for old, new in _groups(machine, tile.axes, axes, line):
        place = number(0)
        for axis, extent in new:
            place = place * extent + name(axis)
        left = place
        for at, (axis, extent) in reversed(list(enumerate(old))):
            put[axis] = left.modulo(extent) if at else left
            left = left.floor(extent)
    return replace(tile, axes=axes, item=put_item(tile.item, put))


def halves(machine: Machine, tile: Tile, line: int) -> tuple[Tile, Tile]:
    """`tl.split`: what stands at each of the two lanes of the last axis, without that axis."""
    *axes, last = tile.axes or (None,)
    if last is None or not axes or machine.extents[last] != number(2):
        raise Unread(line, "a split of what has no last axis of two lanes beside others")
    first, second = (put_item(tile.item, {last: number(at)}) for at in (0, 1))
    one = replace(tile, axes=tuple(axes), item=first)
    return one, replace(one, item=second)


Sized = list[tuple[str, int]]


def _groups(
    machine: Machine, old: Sequence[str | None], new: Sequence[str | None], line: int
) -> Iterator[tuple[Sized, Sized]]:
    """Neighbouring axes, and those that have as many lanes, as few as possible at a time."""

    def sized(axes: Sequence[str | None]) -> Sized:
        extents = [(axis, machine.extents[axis].constant) for axis in axes if axis is not None]
        known = [(axis, extent) for axis, extent in extents if extent is not None]
        if len(known) < len(extents):
            raise Unread(line, "a reshape of as many lanes as there are indices")
        return known

    first, second = sized(old), sized(new)
    while first or second:
        mine, other = first[:1], second[:1]
        del first[:1], second[:1]
        while (have := prod(n for _, n in mine)) != (want := prod(n for _, n in other)):
            short, rest = (mine, first) if have < want else (other, second)
            if not rest:
                raise Unread(line, "a reshape to another number of lanes")
            short.append(rest.pop(0))
        yield mine, other


def subscripted(machine: Machine, value: Value, index: ast.expr, node: ast.expr) -> Value:
    """`x[:, None]` and the like; `shape[0]`."""
    match value, index:
        case Group(parts=parts), ast.Constant(value=int() as at) if 0 <= at < len(parts):
            return parts[at]
        case Tile(axes=axes), _:
            wanted = index.elts if isinstance(index, ast.Tuple) else [index]
            left = list(axes)
            result: list[str | None] = []
            for one in wanted:
                match one:
                    case ast.Constant(value=None):
                        result.append(None)
                    case ast.Slice(lower=None, upper=None, step=None) if left:
                        result.append(left.pop(0))
                    case _:
                        raise Unread(node.lineno, f"'{ast.unparse(node)}'")
            return replace(value, axes=(*result, *left))
        case _:
            raise Unread(node.lineno, f"'{ast.unparse(node)}'")
