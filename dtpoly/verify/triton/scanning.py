"""Model scans of a tile along an axis: `tl.associative_scan` by a function of the file."""

from __future__ import annotations

import ast

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    FileFunction,
    TileValue,
    TupleValue,
    Unread,
    Value,
    as_term,
    lanes_of,
)
from dtpoly.verify.algebra.recurrences import ORDERED
from dtpoly.verify.algebra.residues import RING, settled
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Literal,
    PlaceOf,
    Total,
    ValueOf,
    pair,
    put,
)
from dtpoly.verify.algebra.whole import both, compare, name, number, within
from dtpoly.verify.triton.broadcast_tiles import aligned
from dtpoly.verify.triton.function_calls import called
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.operands import Operands
from dtpoly.verify.triton.product_axes import shape_of
from dtpoly.verify.triton.python_operators import in_kind
from dtpoly.verify.triton.reducing import STEPS, operation_of

PLACED = 3  # the arguments that must be given by place


def scan(given: Operands) -> Value:
    """Model `tl.associative_scan`: each lane gets the reduction of all lanes up to it.

    With `reverse`, these are the lanes from it on.
    """
    if len(given.args) != PLACED:
        raise given.refused()
    tile, function = given.value(0), given.value(2)
    axis = given.constant(given.args[1])
    is_reverse = _is_true(given, "reverse")
    if not isinstance(function, FileFunction) or not isinstance(tile, TileValue | TupleValue):
        raise given.refused()
    if isinstance(tile, TupleValue):
        return _steps(given, tile, axis, function.name, is_reverse=is_reverse)
    given.state.leaves(tile, given.line)
    operation = operation_of(given.read, function.name, tile.kind, given.line)
    if operation is None:
        raise Unread(given.line, f"a scan by '{function.name}'")
    return scanned(given.state, tile, axis, operation, given.line, is_reverse=is_reverse)


# The types in which the steps of a recurrence are computed as numbers.
OF_STEPS = ("tl.float32", "tl.float64", kinds.REAL)


def _steps(
    given: Operands, parts: TupleValue, axis: int | None, function: str, *, is_reverse: bool
) -> Value:
    """Model a scan of the steps of a recurrence: pairs of a factor and what is added."""
    match parts.parts:
        case (TileValue() as factor, TileValue() as added):
            pass
        case _:
            raise given.refused()
    line, state = given.line, given.state
    is_typed = factor.kind == added.kind and factor.kind in OF_STEPS
    for one in (factor, added):
        state.leaves(one, line)
    if not is_typed or not _joins_steps(given, function, factor.kind):
        raise Unread(line, f"a scan by '{function}'")
    if shape_of(state, factor.axes) != shape_of(state, added.axes):
        raise Unread(line, "a scan of tiles of several shapes")
    axes, (a, b) = aligned(state, (factor, added), line)
    both_of = TileValue(axes, pair(as_term(a, line), as_term(b, line)), factor.kind)
    word = "affine back" if is_reverse else "affine"
    total = as_term(scanned(state, both_of, axis, word, line, is_reverse=is_reverse).item, line)
    return TupleValue(
        (
            TileValue(axes, ValueOf(total), factor.kind),
            TileValue(axes, PlaceOf(total), factor.kind),
        )
    )


def _joins_steps(given: Operands, function: str, kind: str) -> bool:
    """Return whether a function of the file makes one step of two: (a * c, b * c + d)."""
    letters = [Literal(f"probe {letter}") for letter in "abcd"]
    a, b, c, d = letters
    probes: list[Value] = [TileValue((), one, kind) for one in letters]
    match called(given.read, function, probes, given.line):
        case TupleValue(parts=(TileValue() as factor, TileValue() as added)):
            products = [AppliedOperation("mul", (b, c)), AppliedOperation("mul", (c, b))]
            sums = [
                AppliedOperation("add", both_of)
                for product in products
                for both_of in ((product, d), (d, product))
            ]
            factors = [AppliedOperation("mul", (a, c)), AppliedOperation("mul", (c, a))]
            return factor.item in factors and added.item in sums
        case _:
            return False


def _is_true(given: Operands, word: str) -> bool:
    """Return whether an option is written as True."""
    match given.by_name.get(word):
        case None | ast.Constant(value=False):
            return False
        case ast.Constant(value=True):
            return True
        case _:
            raise given.refused()


def scanned(
    state: KernelState,
    tile: TileValue,
    axis: int | None,
    operation: str,
    line: int,
    *,
    is_reverse: bool,
) -> TileValue:
    """Scan a tile along an axis; the result has the lanes of the tile."""
    if axis is None or not -len(tile.axes) <= axis < len(tile.axes):
        raise Unread(line, "a scan along an axis that is not there")
    term, kind = as_term(tile.item, line), tile.kind
    if operation not in RING and operation not in ORDERED:
        term = settled(kind, term)
    if operation in STEPS and kinds.is_narrow(kind) and not kinds.is_whole(kind):
        operation = f"{operation} in {kind}"
    lane = tile.axes[axis]
    if lane is None:
        return TileValue(tile.axes, term, kind)
    lanes = lanes_of((lane,))
    if len(lanes) != 1:
        raise Unread(line, "a scan along an axis that several axes were joined to")
    bound = state.run.fresh("lane")
    order = compare(">=" if is_reverse else "<=", name(bound), name(lanes[0]))
    domain = both(within(number(0), name(bound), state.extents[lanes[0]]), order)
    moved = put(state.run, term, {lanes[0]: name(bound)})
    total = Total(operation, (bound,), domain, moved)
    if operation in ORDERED:
        return TileValue(tile.axes, total, kind)
    return TileValue(tile.axes, in_kind(total, kind, operation, line), kind)
