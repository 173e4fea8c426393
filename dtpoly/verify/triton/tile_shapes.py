"""Model the operations of Triton that change the shape of a tile, and no value in it."""

from __future__ import annotations

import ast
from dataclasses import replace

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import TileValue, TupleValue, Unread
from dtpoly.verify.algebra.whole import number
from dtpoly.verify.triton.broadcast_tiles import aligned
from dtpoly.verify.triton.operands import Operands
from dtpoly.verify.triton.product_axes import shape_of
from dtpoly.verify.triton.reshaping import halves, reshaped


def hinted(given: Operands) -> TileValue:
    """Model `tl.multiple_of` and `tl.max_contiguous`, which only say something of a tile."""
    tile, hint = given.tile(0, stays=True), given.args[1]
    count = len(hint.elts) if isinstance(hint, ast.Tuple | ast.List) else 1
    if count != max(len(tile.axes), 1):
        raise Unread(given.line, f"'tl.{given.word}' of another number of axes")
    return tile


def expanded(given: Operands) -> TileValue:
    """Model `tl.expand_dims`."""
    tile, at = given.tile(0, stays=True), given.constant(given.args[1])
    if at is None or not 0 <= at <= len(tile.axes):
        raise given.refused()
    return replace(tile, axes=(*tile.axes[:at], None, *tile.axes[at:]))


def permuted(given: Operands) -> TileValue:
    """Model `tl.trans` and `tl.permute`: the axes in another order."""
    tile = given.tile(0, stays=True)
    order = [given.constant(one) for one in given.args[1:]]
    if not order:
        order = [*range(len(tile.axes) - 2), len(tile.axes) - 1, len(tile.axes) - 2]
    if {*order} != {*range(len(tile.axes))} or len(order) != len(tile.axes):
        raise Unread(given.line, "a permutation that is not one")
    return replace(tile, axes=tuple(tile.axes[one] for one in order if one is not None))


def transposed(tile: TileValue, line: int) -> TileValue:
    """Model `tile.T`, which Triton compiles for tiles with two axes."""
    if len(tile.axes) != 2:
        raise Unread(line, "'.T' of what has not two axes")
    return replace(tile, axes=tile.axes[::-1])


def in_shape(given: Operands) -> TileValue:
    """Model `tl.reshape`."""
    shape = given.axes_of(given.value(1))
    return reshaped(given.state, given.tile(0, stays=True), shape, given.line)


def split(given: Operands) -> TupleValue:
    """Model `tl.split`."""
    return TupleValue(halves(given.state, given.tile(0, stays=True), given.line))


def broadcast(given: Operands) -> TileValue:
    """Model `tl.broadcast_to`."""
    state = given.state
    tile = given.tile(0, stays=True)
    shape = given.axes_of(given.value(1))
    result, (item, _) = aligned(state, (tile, TileValue(shape, number(0))), given.line)
    is_new = shape_of(state, result) == shape_of(state, shape)
    if not is_new or len(tile.axes) not in (0, len(shape)) or tile.kind in kinds.PYTHONS:
        raise given.refused()
    return replace(tile, axes=result, item=item)
