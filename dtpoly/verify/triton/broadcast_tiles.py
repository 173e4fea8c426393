"""Bring tiles to one shape, as Triton's broadcasting does, and read `x[:, None]`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from math import prod

from dtpoly.verify.algebra.kernel_values import (
    MOST_LANES,
    Item,
    TileValue,
    TupleValue,
    Unread,
    Value,
    lanes_of,
    put_item,
)
from dtpoly.verify.algebra.whole import name
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.product_axes import extents_of, like


def at_rank(tile: TileValue, rank: int) -> TileValue:
    """Return the tile with so many axes, by putting axes of one lane in front."""
    return replace(tile, axes=(*(None,) * (rank - len(tile.axes)), *tile.axes))


def aligned(
    state: KernelState, tiles: Sequence[TileValue], line: int, *, is_made: bool = True
) -> tuple[tuple[str | None, ...], list[Item]]:
    """Return the axes that some tiles have together, and the value of each tile over these lanes.

    `is_made` says that Triton makes a tile with all of these lanes. For a product of matrices it
    makes no such tile.
    """
    rank = max(len(tile.axes) for tile in tiles)
    raised = [at_rank(tile, rank) for tile in tiles]
    axes: list[str | None] = []
    for position in range(rank):
        here = [one for tile in raised if (one := tile.axes[position]) is not None]
        if not here:
            axes.append(None)
            continue
        if len({state.extents[one] for one in here}) > 1:
            raise Unread(line, "tiles of different shapes meet")
        if len({extents_of(state, one) for one in here}) > 1:
            raise Unread(line, "tiles meet whose lanes are numbered in two ways")
        chosen = next((one for one in here if one not in axes), None)
        axes.append(chosen or like(state, here[0]))
    counts = (state.extents[one].constant or 1 for one in axes if one is not None)
    if (count := prod(counts)) > MOST_LANES and is_made:
        state.doubt(line, f"a tile of {count} lanes, which Triton does not compile")
    items: list[Item] = []
    for tile in raised:
        put = {
            old: name(new)
            for before, after in zip(tile.axes, axes, strict=True)
            if before is not None and after is not None and before != after
            for old, new in zip(lanes_of((before,)), lanes_of((after,)), strict=True)
        }
        items.append(put_item(state.run, tile.item, put) if put else tile.item)
    return tuple(axes), items


def subscripted(state: KernelState, value: Value, index: ast.expr, node: ast.expr) -> Value:
    """Read a subscript of a tile, as in `x[:, None]`, or of a tuple, as in `shape[0]`."""
    match value, index:
        case TupleValue(parts=parts), ast.Constant(value=int() as at) if 0 <= at < len(parts):
            return parts[at]
        case TileValue(axes=axes), _:
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
