"""Model the operations of Triton that make numbers and tiles: program ids, aranges, zeros, cdiv."""

from __future__ import annotations

import ast
from dataclasses import replace

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.casts import full
from dtpoly.verify.algebra.kernel_values import PointerValue, Radix, TileValue, TupleValue, scalar
from dtpoly.verify.algebra.whole import Whole, name, number
from dtpoly.verify.triton.access import Dividend
from dtpoly.verify.triton.counted_sizes import as_size
from dtpoly.verify.triton.digits import programs_of
from dtpoly.verify.triton.operands import Operands
from dtpoly.verify.triton.python_operators import operated
from dtpoly.verify.triton.single_rounds import blocks_of
from dtpoly.verify.triton.typed_operations import meaning, of_tile

MOST = 2**31


# The types of whole numbers that are loaded and counted with.
COUNTED = ("tl.int32", "tl.int64")


def program(given: Operands) -> TileValue:
    """Model `tl.program_id` and `tl.num_programs`."""
    state = given.state
    axis = given.constant(given.by_name["axis"])
    grid = state.launch.grid
    is_count = given.word == "num_programs"
    if state.launch.before or (state.launch.is_part and is_count):
        raise given.refused(" of several kernels")
    if axis is None or not 0 <= axis < 3:
        raise given.refused()
    extents = grid[axis] if axis < len(grid) else (number(1),)
    if is_count:
        # It has 32 bits, even if the sizes that it is computed from have more.
        return replace(scalar(programs_of(extents), "tl.int32"), is_cut=True)
    # Where there is one program, its id is the number 0, and no index.
    more = tuple(one for one in extents if one.constant != 1)
    return scalar(state.digits.of(f"program_{axis}", more), "tl.int32")


def arange(given: Operands) -> TileValue:
    """Model `tl.arange`: a lane for each number from the first to the one before the last."""
    state = given.state
    if any(given.tile(at).kind != kinds.WEAK for at in range(len(given.args))):
        raise given.refused(" of what is no constexpr")
    low, high = given.whole(0), given.whole(1)
    count = (high - low).constant
    if not all(0 <= (end.constant or 0) < MOST for end in (low, high)):
        state.doubt(given.line, f"{given.text} of what 32 bits do not hold")
    if count is not None and (count <= 0 or count & (count - 1)):
        raise given.refused(" of what is no power of two")
    lane = state.lane(high - low)
    return TileValue((lane,), (name(lane) if lane else number(0)) + low, "tl.int32")


def cdiv(given: Operands) -> TileValue:
    """Model `tl.cdiv` by a constant, or by a size of which one block is enough."""
    state = given.state
    value, divisor = given.tile(0), given.whole(1)
    by = divisor.constant
    if by is None and isinstance(value.item, Whole):
        found = blocks_of(state, value.item, divisor)
        if found is not None:
            state.looked_at(value.item + divisor - 1, value.kind, given.line)
            return replace(value, item=found)
    is_data = not state.is_valued and value.kind in COUNTED
    if by is not None and by > 0 and is_data and not isinstance(value.item, Whole):
        return _blocks_of_data(given, value, by)
    if by is None or by <= 0 or not isinstance(value.item, Whole):
        raise given.refused()
    raised = value.item + by - 1
    state.looked_at(raised, value.kind, given.line)
    if value.is_cut:
        state.looked_at(raised, value.kind, given.line, is_cut=True)
    state.divided.append(Dividend(raised, by, state.here(), given.line))
    return replace(value, item=as_size(state, raised.floor(by)))


def _blocks_of_data(given: Operands, value: TileValue, by: int) -> TileValue:
    """Return the blocks of a number that was loaded, by Triton's own formula."""
    raised = operated(given.state, ast.Add(), value, scalar(number(by - 1)), given.node)
    found = operated(given.state, ast.FloorDiv(), raised, scalar(number(by)), given.node)
    if not isinstance(found, TileValue):
        raise given.refused()
    return found


def filled(given: Operands) -> TileValue:
    """Model `tl.full` and `tl.zeros`."""
    value = given.tile_of("value") if given.word == "full" else scalar(number(0))
    dtype, sides = given.by_name.get("dtype"), given.value_of("shape")
    if dtype is None:
        raise given.refused(" without a type")
    if value is None:
        raise given.refused(" without a value")
    if not isinstance(sides, TupleValue):
        raise given.refused(": a shape is written in brackets")
    shape = given.axes_of(sides)
    to = given.type_in(dtype)
    if value.axes:
        raise given.refused(" of several lanes")
    meaning("full" if value.kind == kinds.WEAK else "cast", (of_tile(value), to), given.line)
    made = full(value, to, given.line)
    given.state.computed(made.item, to, given.line)
    return replace(made, axes=shape)


def zeros_like(given: Operands) -> TileValue:
    """Model `tl.zeros_like` of a tile of numbers whose type is known."""
    tile = given.tile(0, stays=True)
    if isinstance(tile.item, PointerValue | Radix) or tile.kind not in (
        *kinds.WHOLES,
        *kinds.FLOATS,
    ):
        raise given.refused(" of what has no known type")
    return replace(full(scalar(number(0)), tile.kind, given.line), axes=tile.axes)
