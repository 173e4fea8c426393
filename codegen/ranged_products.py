"""Writes a step of a matrix product in a tile that a range cuts through, as on a diagonal.

There an index of a reduced label counts for some rows of the result and not for others. A matrix
unit multiplies the others by 0, and 0 times an infinity or a nan is a nan. So such a tile is
multiplied as matrices, and then looked at: without a nan in it, all that was multiplied by 0 was
finite, and it is right. If there is one, which may be right or wrong, the tile is added up again,
index by index: what a lane does not take is left out. Where the lanes that are left out are those
of no operand, or where an operand is computed, the tile is added up index by index at once. Tiles
that the range does not cut are multiplied as matrices, and not looked at.

A sum that goes on with a running maximum is multiplied as matrices everywhere. Its weights are
exponentials, which are 0 far below the maximum anyway: 0 times a value that a weight of 0 hides is
taken for 0 there, and each proof names this licence. So is a sum whose range is the mask of one
operand: the file itself multiplies what the mask hides by 0.
"""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Dot,
    Expr,
    Integer,
    Reshape,
    free_labels,
    reads,
)
from dtpoly.ir.kernel import Accumulate, Collapse, Fill, ForLoop, If, Let
from dtpoly.ir.tile_values import Axes, Call, Converted, Masked, Test, Value, Variable, axes_of
from dtpoly.poly.loops import Compared

from .building import Building, Held
from .conversions import converted
from .expression_values import named, union, value_of
from .matrix_products import Sides, is_in_memory, operands_kind, product_step, rounded
from .scopes import Scope
from .tile_lanes import Tiling, at_index, of_lanes

# Indices of a cut tile that are added up in one round, so that several are loaded at a time.
UNROLLED = 4


def goes_by_index(tiling: Tiling, sides: Sides) -> bool:
    """Return whether a tile must be added up index by index, if it has a nan or in any case.

    Indices of a reduced label count for some of its rows or columns only.
    """
    body = tiling.statement.body
    is_hidden = isinstance(body, Dot) and body.hides
    if is_hidden or tiling.statement.func in tiling.building.running:
        return not _is_of_operands(tiling, sides)
    return bool(_cuts(tiling, sides))


def _cuts(tiling: Tiling, sides: Sides) -> list[Test]:
    """Return the tests that say which indices a row or a column takes."""
    apart = {axis for one in (*sides.rows, *sides.columns) for axis in tiling.lanes_of(one)}
    return [o for o in tiling.tests if apart & set(o.axes) and tiling.is_of_range(o)]


def _is_of_operands(tiling: Tiling, sides: Sides) -> bool:
    """Return whether an operand is 0 in all lanes that are not taken: it has those of the test."""
    rows, columns = (
        {axis for one in (*side, *sides.reduced) for axis in tiling.lanes_of(one)}
        for side in (sides.rows, sides.columns)
    )
    return all(rows >= set(o.axes) or columns >= set(o.axes) for o in _cuts(tiling, sides))


def add_cut(tiling: Tiling, dot: Dot, held: Held, axes: Axes, reduced: Axes, sides: Sides) -> None:
    """Add up a tile that a range cuts: as matrices, and again index by index if it has a nan."""
    building, origin = tiling.building, tiling.statement.name
    element = building.elements.of(tiling.statement.writes.array)
    # What is computed may be no 0 where a row or a column has ended, and is no 0 times that.
    is_loaded = all(is_in_memory(tiling, one) for one in (dot.left, dot.right))
    is_float = operands_kind(tiling, dot).is_float
    if not is_loaded or not is_float or not _is_of_operands(tiling, sides):
        add_apart(tiling, dot, held, axes, reduced)
        return
    emit = building.scopes.emit
    whole = Variable(held.name, axes, element)
    before = building.tile_name("sum_before", axes, element)
    emit(Let(before, whole, axes), origin)
    emit(product_step(tiling, dot, held, sides), origin)
    # A nan is the only value that is not equal to itself.
    truths = Converted(Call("ne", (whole, whole), axes, DType.BOOL), axes, DType.I32)
    tile = building.tile_name("is_nan", axes, DType.I32)
    found = building.tile_name("has_nan", (), DType.I32)
    emit(Let(tile, truths, axes), origin)
    emit(Collapse(found, tile, "rmax", axes, ()), origin)
    building.scopes.open.append(Scope(set(), set()))
    building.held.append({})
    emit(Let(held.name, Variable(before, axes, element), axes), origin)
    # That is seldom done, and should not take registers from what is always done.
    add_apart(tiling, dot, held, axes, reduced, unrolled=1)
    building.held.pop()
    scope = building.scopes.open[-1]
    building.scopes.close(is_branch=True)
    condition = Compared(Affine(((found, 1),)), Affine((), 1))
    emit(If((condition,), (*scope.head, *scope.body)), origin)


def as_multiplied(building: Building, func: str, dot: Dot) -> Dot:
    """Return a step of a product without a mask that would make no matrix of an operand.

    A range from data masks both operands. In a sum that goes on with a running maximum the weights
    are masked, and the mask of the other operand is left out if it has lanes that this one lacks.
    """
    if func not in building.running:
        return dot
    left, right = _unmasked(dot.left, dot.right), _unmasked(dot.right, dot.left)
    return replace(dot, left=left, right=right if left is dot.left else dot.right)


def _unmasked(side: Expr, other: Expr) -> Expr:
    """Return an operand without a mask that the other one has, too, if only that has its lanes."""
    test, value = _masked_by(side)
    if test is None or test != _masked_by(other)[0]:
        return side
    lanes = set(free_labels(test))
    is_of_other = lanes <= set(free_labels(_masked_by(other)[1]))
    return value if is_of_other and not lanes <= set(free_labels(value)) else side


def _masked_by(side: Expr) -> tuple[Expr | None, Expr]:
    """Return the test of data of a value that is 0 where it does not hold, and the value."""
    match side:
        case Apply(operation="where", operands=(test, value, Integer(value=0))):
            return (test.operand if isinstance(test, Reshape) else test), value
        case _:
            return None, side


# An operand that was computed here with all its lanes; None if it is loaded index by index.
Made = tuple[Value | None, Value | None]


def add_apart(
    tiling: Tiling, dot: Dot, held: Held, axes: Axes, reduced: Axes, unrolled: int = UNROLLED
) -> None:
    """Add up a tile index by index, so many at a time.

    Of an operand in registers, the lanes of an index are picked. With several reduced labels that
    have lanes, such an operand is multiplied with all lanes at once.
    """
    building, labels = tiling.building, tuple(_lanes(tiling, dot))
    sides = (dot.left, dot.right)
    is_here = [_is_in_registers(building, side, dot.labels) for side in sides]
    if any(is_here) and len(labels) > 1:
        _with_all_lanes(tiling, dot, held, axes, reduced)
        return
    made = [
        named(tiling, _side(tiling, dot, side), "operand") if here else None
        for side, here in zip(sides, is_here, strict=True)
    ]
    _index_by_index(tiling, dot, held, axes, labels, (made[0], made[1]), unrolled)


def _lanes(tiling: Tiling, dot: Dot) -> Iterator[str]:
    """Yield the reduced labels that have lanes."""
    return (label for label in dot.labels if tiling.lanes_of(label))


def _is_in_registers(building: Building, side: Expr, labels: tuple[str, ...]) -> bool:
    """Return whether a tile with lanes along reduced labels was computed here."""
    mine = (one for one in reads(side) if one.tensor in building.storage.registers)
    return any(set(free_labels(one)) & set(labels) for one in mine)


def _with_all_lanes(tiling: Tiling, dot: Dot, held: Held, axes: Axes, reduced: Axes) -> None:
    building, origin = tiling.building, tiling.statement.name
    element = building.elements.of(tiling.statement.writes.array)
    kept = tuple(name for name in tiling.lanes if name not in reduced)
    tile = building.tile_name("step_tile", tiling.lanes, element)
    total = building.tile_name("step_total", kept, element)
    emit = building.scopes.emit
    emit(Fill(tile, tuple(map(building.lane_count, tiling.lanes)), 0, element), "")
    value = _product(tiling, dot, (None, None))
    emit(Accumulate(tile, "rsum", value, tiling.lanes, element), origin)
    emit(Collapse(total, tile, "rsum", tiling.lanes, kept), origin)
    emit(Accumulate(held.name, "rsum", Variable(total, kept, element), axes, element), origin)


def _index_by_index(
    tiling: Tiling,
    dot: Dot,
    held: Held,
    axes: Axes,
    labels: tuple[str, ...],
    made: Made,
    unrolled: int,
) -> None:
    """Write a loop over the indices of the first label in the tile, and others inside of it."""
    building, origin = tiling.building, tiling.statement.name
    if not labels:
        element = building.elements.of(tiling.statement.writes.array)
        value = _product(tiling, dot, made)
        building.scopes.emit(Accumulate(held.name, "rsum", value, axes, element), origin)
        return
    label = labels[0]
    start = tiling.starts[label]
    (lanes,) = building.tiles[origin].of_label(label)
    span = lanes.span
    length = building.number_of(label) if span is None else Affine((), span)
    variable = building.scopes.name(f"{label}_index")
    scope = Scope({variable}, {variable})
    building.scopes.open.append(scope)
    building.held.append({})
    index = building.scopes.bound_index(label, Affine(((variable, 1),)), origin)
    picked = [None if one is None else _picked(tiling, one, label, index) for one in made]
    inner = at_index(tiling, label, index)
    _index_by_index(inner, dot, held, axes, labels[1:], (picked[0], picked[1]), unrolled)
    building.held.pop()
    building.scopes.close()
    bounds = (start, start + length)
    # An operand in registers has its lanes picked from all of its tile, which several rounds at a
    # time would do side by side, with registers for each.
    unroll = unrolled if made == (None, None) else 1
    loop = ForLoop(variable, *bounds, lanes.step, (*scope.head, *scope.body), unroll)
    building.scopes.emit(loop, origin)
    building.scopes.counted(variable, bounds)


def _side(tiling: Tiling, dot: Dot, side: Expr) -> Value:
    """Return an operand in the type of the sum; it is loaded with the lanes that it has."""
    element = tiling.building.elements.of(tiling.statement.writes.array)
    own = {lane for label in free_labels(side) for lane in tiling.lanes_of(label)}
    mine = of_lanes(tiling, tuple(lane for lane in tiling.lanes if lane in own))
    return converted(rounded(mine, dot, side, value_of(mine, side)), element)


def _picked(tiling: Tiling, value: Value, label: str, index: Affine) -> Value:
    """Return the lanes of a tile at one index of a label: the sum of these and of zeros."""
    building, origin = tiling.building, tiling.statement.name
    element = building.elements.of(tiling.statement.writes.array)
    (lane,), axes = tiling.lanes_of(label), axes_of(value)
    apart = Affine(((lane, 1),)) - index
    here = (Test(apart, (lane,)), Test(apart.scaled(-1), (lane,)))
    kept = tuple(name for name in axes if name != lane)
    tile = building.tile_name("lanes_there", axes, element)
    found = building.tile_name("operand_there", kept, element)
    emit = building.scopes.emit
    emit(Fill(tile, tuple(map(building.lane_count, axes)), 0, element), "")
    one = Masked(value, here, 0, axes, element)
    emit(Accumulate(tile, "rsum", one, axes, element), origin)
    emit(Collapse(found, tile, "rsum", axes, kept), origin)
    return Variable(found, kept, element)


def _product(tiling: Tiling, dot: Dot, made: Made) -> Value:
    """Return the products, and 0 in lanes that do not take them."""
    element = tiling.building.elements.of(tiling.statement.writes.array)
    pairs = zip((dot.left, dot.right), made, strict=True)
    sides = [_side(tiling, dot, side) if one is None else one for side, one in pairs]
    value = Call("mul", tuple(sides), union(tiling.lanes, *map(axes_of, sides)), element)
    every = union(tiling.lanes, axes_of(value), *(test.axes for test in tiling.tests))
    return Masked(value, tiling.tests, 0, every, element) if tiling.tests else value
