"""Operations of which only the shape and the type of the result are known.

Where no values are compared, that is enough: what such an operation gives is an unknown value.
Where values are compared, the call is refused, as one that is not read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    FileFunction,
    PointerValue,
    Radix,
    TextValue,
    TileValue,
    TupleValue,
    Unread,
    Value,
    as_term,
    lanes_of,
    scalar,
)
from dtpoly.verify.algebra.whole import FALSE, TRUE, number
from dtpoly.verify.triton import accessing, scanning, tile_shapes
from dtpoly.verify.triton.broadcast_tiles import aligned
from dtpoly.verify.triton.data_names import unknown
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.lane_operations import converted
from dtpoly.verify.triton.operands import Axes, Operands
from dtpoly.verify.triton.product_axes import shape_of
from dtpoly.verify.triton.typed_operations import of_tile
from dtpoly.verify.triton.unit.words import MEMORY

# Types that a scan by a sum or a product leaves as they are, in each version of Triton.
SCANNED = ("tl.int32", "tl.int64", "tl.float16", "tl.float32", "tl.float64")
# Types of numbers that can be exchanged in memory at once.
EXCHANGED = ("tl.int32", "tl.int64")


# How a float is rounded to fewer digits: to the nearest one, as without it, or towards 0.
ROUNDING = "fp_downcast_rounding"
TO_NEAREST, TO_ZERO = "rtne", "rtz"


def _some(state: KernelState, axes: Axes, kind: str) -> TileValue:
    return TileValue(axes, unknown(state, kind, lanes_of(axes)), kind)


def _plain(given: Operands, value: Value) -> TileValue:
    """Return a value that must be a tile of numbers of a known type. Raises Unread."""
    if not isinstance(value, TileValue) or isinstance(value.item, PointerValue | Radix):
        raise given.refused()
    given.state.leaves(value, given.line)
    return value


def only_shaped(rule: Callable[[Operands], Value]) -> Callable[[Operands], Value]:
    """Return a rule that refuses its call where values are compared."""

    def ruled(given: Operands) -> Value:
        if given.state.is_valued:
            raise Unread(given.line, f"a call of 'tl.{given.word}'")
        return rule(given)

    return ruled


def atomic(given: Operands) -> Value:
    """Model an atomic operation, which gives what memory held before."""
    state = given.state
    if state.is_valued and given.word not in ("atomic_add", "atomic_max", "atomic_min"):
        raise Unread(given.line, f"a call of 'tl.{given.word}'")
    mask, value, pointer = given.tile_of("mask"), given.tile(1), given.tile(0)
    if given.word in ("atomic_add", "atomic_max", "atomic_min"):
        accessing.store(state, given.word, pointer, value, mask, given.line)
        if state.is_valued:
            return accessing.NOTHING
    else:
        if not isinstance(pointer.item, PointerValue):
            raise given.refused()
        held = state.arrays[pointer.item.tensor].kind
        if held not in EXCHANGED or of_tile(value) not in (held, "int", kinds.SIZE):
            raise given.refused(" of other types than int32 and int64")
        accessing.store(state, given.word, pointer, value, mask, given.line)
    spread = [one for one in (pointer, value, mask) if one is not None]
    axes, items = aligned(state, spread, given.line)
    assert isinstance(items[0], PointerValue)
    return _some(state, axes, state.arrays[items[0].tensor].kind)


def running_total(given: Operands) -> Value:
    """Model `tl.cumsum` and `tl.cumprod`."""
    tile = _plain(given, given.tile(0))
    _check_axis(given, tile, given.by_name.get("axis"))
    if "dtype" in given.by_name or tile.kind not in SCANNED:
        raise given.refused(f" of type {tile.kind or 'of a constant'}: bring it to 32 bits first")
    return _some(given.state, tile.axes, tile.kind)


def _check_axis(given: Operands, tile: TileValue, node: ast.expr | None) -> None:
    axis = 0 if node is None else given.constant(node)
    if axis is None or not -len(tile.axes) <= axis < len(tile.axes):
        raise Unread(given.line, "a scan along an axis that is not there")


def scan(given: Operands) -> Value:
    """Model `tl.associative_scan`; by any function of numbers, if no values are compared."""
    if given.state.is_valued:
        return scanning.scan(given)
    if {"axis", "combine_fn"} - given.by_name.keys() or not given.args:
        raise given.refused()
    operand, function = given.value(0), given.value_of("combine_fn")
    if not isinstance(function, FileFunction) or _touches_memory(given, function.name):
        raise given.refused()
    parts = operand.parts if isinstance(operand, TupleValue) else (operand,)
    tiles = [_plain(given, one) for one in parts]
    for one in tiles:
        _check_axis(given, one, given.by_name["axis"])
        if one.kind not in (*kinds.WHOLES, *kinds.FLOATS):
            raise given.refused()
    if len({shape_of(given.state, one.axes) for one in tiles}) > 1:
        raise Unread(given.line, "a scan of tiles of several shapes")
    found = tuple(_some(given.state, one.axes, one.kind) for one in tiles)
    return TupleValue(found) if isinstance(operand, TupleValue) else found[0]


def _touches_memory(given: Operands, function: str) -> bool:
    """Return whether a function of the file, or one that it calls, may touch memory."""
    pending, seen = [function], set[str]()
    jitted = given.state.file.jitted
    while pending:
        one = pending.pop()
        if one in seen or one not in jitted:
            continue
        seen.add(one)
        for node in ast.walk(jitted[one]):
            if isinstance(node, ast.Attribute) and node.attr in MEMORY:
                return True
            if isinstance(node, ast.Name):
                pending.append(node.id)
    return False


def joined(given: Operands) -> Value:
    """Model `tl.join`, which puts two tiles side by side along a new axis, and `tl.interleave`."""
    state, line = given.state, given.line
    tiles = [_plain(given, given.tile(at)) for at in (0, 1)]
    axes, _ = aligned(state, tiles, line)
    is_alike = tiles[0].kind == tiles[1].kind and tiles[0].kind in (*kinds.WHOLES, *kinds.FLOATS)
    if not is_alike or shape_of(state, tiles[0].axes) != shape_of(state, tiles[1].axes):
        raise given.refused(" of tiles of different types or shapes")
    if given.word == "join" or not axes:
        return _some(state, (*axes, state.lane(number(2))), tiles[0].kind)
    (count,) = shape_of(state, axes[-1:])
    return _some(state, (*axes[:-1], state.lane(count * 2)), tiles[0].kind)


def split(given: Operands) -> Value:
    """Model `tl.split`; if no values are compared, of any tile whose last axis has two lanes."""
    tile = given.tile(0, stays=True)
    try:
        return tile_shapes.split(given)
    except Unread:
        is_pair = tile.axes and shape_of(given.state, tile.axes[-1:]) == (number(2),)
        if given.state.is_valued or not is_pair:
            raise
    tile = _plain(given, tile)
    halves = [_some(given.state, tile.axes[:-1], tile.kind) for _ in range(2)]
    return TupleValue(tuple(halves))


def same_shape(given: Operands) -> Value:
    """Model operations that order the lanes of a tile anew, as `tl.flip` and `tl.sort`."""
    tile = _plain(given, given.tile(0))
    if tile.kind not in (*kinds.WHOLES, *kinds.FLOATS) or not tile.axes:
        raise given.refused()
    return _some(given.state, tile.axes, tile.kind)


def cast(given: Operands) -> Value:
    """Model `tl.cast`; with `bitcast`, the bits stay and the value is another one."""
    if ROUNDING in given.by_name:
        return _rounded(given)
    node = given.by_name.get("bitcast")
    asked = scalar(FALSE) if node is None else given.read.value(node)
    if asked == scalar(FALSE):
        return converted(given)
    if given.state.is_valued or asked != scalar(TRUE) or "dtype" not in given.by_name:
        raise given.refused()
    tile, to = _plain(given, given.tile(0)), given.type_in(given.by_name["dtype"])
    width = kinds.BYTES.get(tile.kind)
    if width is None or width != kinds.BYTES.get(to):
        raise given.refused(" to a type of another width, or of one that is not known")
    if kinds.BOOL in (tile.kind, to):
        raise given.refused(" of truths")
    term = as_term(tile.item, given.line)
    return TileValue(tile.axes, unknown(given.state, to, lanes_of(tile.axes), (term,)), to)


def _rounded(given: Operands) -> Value:
    """Model `tl.cast` of a float that says how it rounds; Triton takes that only for fewer bits."""
    way = given.value_of(ROUNDING)
    if "dtype" not in given.by_name or "bitcast" in given.by_name:
        raise given.refused()
    tile, to = given.tile(0), given.type_in(given.by_name["dtype"])
    is_float = {tile.kind, to} <= {*kinds.FLOATS}
    if not is_float or (tile.kind != to and kinds.BYTES[to] >= kinds.BYTES[tile.kind]):
        raise given.refused(": Triton takes this only where a float gets fewer bits")
    if way == TextValue(TO_NEAREST) or tile.kind == to:
        return converted(given)
    if way != TextValue(TO_ZERO) or given.state.is_valued:
        raise given.refused()
    return _some(given.state, tile.axes, to)
