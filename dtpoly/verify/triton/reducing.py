"""Model reductions of a tile along an axis: `tl.sum`, `tl.max`, `tl.min` and `tl.reduce`."""

from __future__ import annotations

from dataclasses import replace

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.alone import picked
from dtpoly.verify.algebra.kernel_values import (
    FileFunction,
    TileValue,
    TupleValue,
    Unread,
    Value,
    as_term,
    lanes_of,
    scalar,
)
from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.algebra.residues import RING, settled
from dtpoly.verify.algebra.terms import (
    EXTREMES,
    AppliedOperation,
    Literal,
    Pair,
    PlaceOf,
    Total,
    ValueOf,
    pair,
    put,
)
from dtpoly.verify.algebra.whole import FALSE, TRUE, both, name, number, within
from dtpoly.verify.triton import known
from dtpoly.verify.triton.broadcast_tiles import aligned
from dtpoly.verify.triton.compiler_doubts import note_reduced
from dtpoly.verify.triton.function_calls import called, of_kind
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.lane_operations import converted_to, losing_nan
from dtpoly.verify.triton.operands import Operands
from dtpoly.verify.triton.python_operators import in_kind, in_type, not_in_eight
from dtpoly.verify.triton.reader import Reader
from dtpoly.verify.triton.typed_operations import meaning, of_tile

# What terms call the reductions of Triton.
# Types in which a sum stays that is asked for in them, in each version of Triton.
SUMMED = ("tl.int32", "tl.int64", "tl.float32", "tl.float64")
REDUCED = {"sum": "add", "max": "maximum", "min": "minimum"}
# If each step of such a reduction is rounded, its order matters: so it gets a name of its own.
STEPS = ("add", "mul")


def along_axis(given: Operands) -> TileValue:
    """Model `tl.sum`, `tl.max` and `tl.min`."""
    word, line = given.word, given.line
    tile = given.tile(0)
    axis = given.constant(given.by_name["axis"]) if "axis" in given.by_name else None
    if "dtype" in given.by_name:
        to = given.type_in(given.by_name["dtype"])
        if to not in SUMMED:
            raise given.refused(f" in {to}")
        tile = converted_to(given, tile, to)
    found = meaning(word, [of_tile(tile)], line)
    brought_to = in_type(tile.item, tile.kind, found.within, REDUCED[word], line)
    tile = replace(tile, item=brought_to, kind=found.kind)
    operation = losing_nan(given.state, REDUCED[word], tile.kind, None)
    kept = given.value_of("keep_dims")
    if kept not in (None, scalar(FALSE), scalar(TRUE)):
        raise given.refused()
    if "axis" in given.by_name:
        found_along = reduced(given.state, tile, axis, operation, line)
        return _with_axis(found_along, axis or 0) if kept == scalar(TRUE) else found_along
    if not tile.axes or kept == scalar(TRUE):
        raise given.refused(" of all axes")
    while tile.axes:
        tile = reduced(given.state, tile, 0, operation, line)
    return tile


def _with_axis(tile: TileValue, at: int) -> TileValue:
    """Return a tile with an axis of one lane, where the axis was that was reduced."""
    rest = list(tile.axes)
    rest.insert(at % (len(rest) + 1), None)
    return replace(tile, axes=tuple(rest))


def by_function(given: Operands) -> Value:
    """Model `tl.reduce` by a function of the file."""
    if {"axis", "combine_fn"} - given.by_name.keys() or not given.args:
        raise given.refused()
    function = given.value_of("combine_fn")
    axis = given.constant(given.by_name["axis"])
    if not isinstance(function, FileFunction):
        raise given.refused()
    return reduced_by(given.read, given.value(0), axis, function.name, given.line)


def reduced(
    state: KernelState, tile: TileValue, axis: int | None, operation: str, line: int
) -> TileValue:
    """Reduce a tile along an axis: all lanes are put together by an operation."""
    if axis is None or not -len(tile.axes) <= axis < len(tile.axes):
        raise Unread(line, "a reduction of an axis that is not there")
    lane = tile.axes[axis]
    rest = list(tile.axes)
    del rest[axis]
    term = as_term(tile.item, line)
    kind = tile.kind
    if operation not in RING and not isinstance(term, Pair):
        term = settled(kind, term)
    if operation in STEPS and kinds.is_narrow(kind) and not kinds.is_whole(kind):
        operation = f"{operation} in {kind}"
    if lane is None:
        return TileValue(tuple(rest), term, kind)
    bound = {one: state.run.fresh("lane") for one in lanes_of((lane,))}
    ranges = (within(number(0), name(new), state.extents[one]) for one, new in bound.items())
    moved = put(state.run, term, {one: name(new) for one, new in bound.items()})
    total = Total(operation, tuple(bound.values()), both(*ranges), moved)
    if kinds.is_float(kind):
        note_reduced(state, operation.partition(" in ")[0], term, bound.values())
    found = picked(state.run, total) or total
    return TileValue(tuple(rest), in_kind(found, kind, operation, line), kind)


def reduced_by(read: Reader, operand: Value, axis: int | None, function: str, line: int) -> Value:
    """Evaluate `tl.reduce` by a function of the file.

    To find the operation, the function is evaluated on two probes: it must put them together by one
    operation. A pair of values and places is reduced by a function that is known by its text.
    """
    state = read.state
    if isinstance(operand, TupleValue):
        for part in operand.parts:
            state.leaves(part, line)
        entry = known.entry(state.file, function)
        meaning_of = None if entry is None else entry[1]
        if entry is not None:
            state.run.assume(Lemma.KNOWN, function, *entry)
        match operand.parts:
            case (TileValue() as first, TileValue() as second) if meaning_of in EXTREMES:
                not_in_eight(first.kind, line)
                axes, (a, b) = aligned(state, (first, second), line)
                values = (
                    settled(tile.kind, as_term(item, line))
                    for item, tile in ((a, first), (b, second))
                )
                both = TileValue(axes, pair(*values))
                result = reduced(state, both, axis, of_kind(str(meaning_of), first.kind), line)
                term = as_term(result.item, line)
                value = TileValue(result.axes, ValueOf(term), first.kind)
                return TupleValue((value, TileValue(result.axes, PlaceOf(term), second.kind)))
            case _:
                raise Unread(line, f"a reduction by '{function}'")
    if not isinstance(operand, TileValue):
        raise Unread(line, "a reduction of what is not a tile")
    state.leaves(operand, line)
    operation = operation_of(read, function, operand.kind, line)
    if operation is None:
        raise Unread(line, f"a reduction by '{function}'")
    return reduced(state, operand, axis, operation, line)


def operation_of(read: Reader, function: str, kind: str, line: int) -> str | None:
    """Find the operation by which a function of the file puts two values of a type together.

    The function is evaluated on two probes. The result is None if it does something else.
    """
    left, right = Literal("left"), Literal("right")
    probes: list[Value] = [TileValue((), left, kind), TileValue((), right, kind)]
    match called(read, function, probes, line):
        case TileValue(item=AppliedOperation(operation=operation, operands=operands)) if (
            operands == (left, right)
        ):
            return operation
        case TileValue(
            item=AppliedOperation(
                operands=(AppliedOperation(operation=operation, operands=operands),),
                operation=outer,
            )
        ) if operands == (left, right) and outer == f"round {kind}":
            return operation
        case _:
            return None
