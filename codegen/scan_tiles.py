"""Writes a step of a scan: the results up to each lane of a tile, behind those of earlier tiles."""

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine, Expr, Float, Integer, Read, Reduce, SizedIndex
from dtpoly.algorithm.operations import RECURRENCE
from dtpoly.ir.kernel import Accumulate, Fill
from dtpoly.ir.kinds import Element
from dtpoly.ir.lane_scans import ScanLanes
from dtpoly.ir.tile_values import (
    Axes,
    Call,
    Converted,
    IndexValue,
    LiteralNumber,
    Masked,
    Value,
    Variable,
    axes_of,
)
from dtpoly.poly.model import Array, ScanSteps
from dtpoly.poly.tiles import StatementTiles

from .building import Building, Held, Unsupported
from .conversions import converted
from .elements import identity
from .expression_values import union, value_of
from .python_names import plain
from .tile_lanes import Tiling, holding


def scan_into(building: Building, carry: str) -> StatementTiles | None:
    """Return the tiles of the scan whose last result an array holds; None for other arrays."""
    found = (
        one
        for one in building.tiles.values()
        if one.statement.scan is not None and one.statement.scan.carry == carry
    )
    return next(found, None)


def begin_scan(tiling: Tiling, array: Array, scan: StatementTiles) -> None:
    """Write the start of what a scan carries from tile to tile."""
    building, steps = tiling.building, scan.statement.scan
    assert steps is not None
    assert array.reduction is not None
    _check_carried(building, steps)
    shape: list[int | str] = []
    labels: list[str] = []
    for label in scan.statement.labels:
        for lanes in scan.of_label(label) if label != steps.label else ():
            shape.append(building.count(label) if lanes.count is None else lanes.count)
            labels.append(label)
    element = building.passing(building.elements.of(array.name))
    name = building.scopes.name(f"{plain(array.func)}_carry", (tuple(shape), element))
    first, origin = tiling.statement.body, tiling.statement.name
    is_written = isinstance(first, Integer | Float)
    start = first.value if isinstance(first, Integer | Float) else 0
    start = identity(array.reduction, element) if first is None else start
    building.scopes.emit(Fill(name, tuple(shape), start, element), origin)
    if first is not None and not is_written:
        value = converted(value_of(tiling, first), element)
        building.scopes.emit(Accumulate(name, "rsum", value, tiling.lanes, element), origin)
    building.held[-1][array.name] = Held(name, tuple(labels))


def _check_carried(building: Building, steps: ScanSteps) -> None:
    if steps.carry not in building.storage.registers:
        raise Unsupported(
            f"what the scan along '{steps.label}' carries on does not stay in registers: let the "
            f"loop over '{steps.label}' be inside of those over other labels"
        )


def scanned(tiling: Tiling) -> Value:
    """Write one step of a scan, and return its results."""
    building, statement = tiling.building, tiling.statement
    steps, body = statement.scan, statement.body
    assert steps is not None
    assert isinstance(body, Reduce)
    _check_carried(building, steps)
    along = tiling.lanes_of(steps.label)
    if len(along) > 1:
        raise Unsupported(
            f"the scan along '{steps.label}' has lanes along two loops: tensorize one of them"
        )
    held = building.find_held(steps.carry)
    element = building.passing(building.elements.of(statement.writes.array))
    nothing = 0 if body.operation == RECURRENCE else identity(body.operation, element)
    factor = None if body.scan is None else body.scan.factor
    # Tiles that are scanned together have the same lanes.
    wanted = along if factor is None else tiling.lanes if along else ()
    value = _coming_in(tiling, body.operand, steps, along, nothing)
    value = _spread(tiling, value, wanted, element)
    scale = None if factor is None else _coming_in(tiling, factor, steps, along, 1)
    scale = None if scale is None else _spread(tiling, scale, wanted, element)
    array = building.model.arrays[statement.writes.array]
    name = building.tile_name(f"{plain(array.func)}_scan", tiling.lanes, element)
    lane = along[0] if along else None
    count = building.lane_count(lane) if lane is not None else 1
    scan = ScanLanes(
        *(name, held.name, body.operation, value, tiling.lanes, lane, count, element),
        is_reverse=steps.is_reverse,
        factor=scale,
        factors=building.tile_name(f"{name}_factor", tiling.lanes, element) if scale else "",
    )
    building.scopes.emit(scan, statement.name)
    return Variable(name, tiling.lanes, element)


def _coming_in(
    tiling: Tiling, operand: Expr, steps: ScanSteps, along: Axes, other: int | float
) -> Value:
    """Compute the elements of a tile: where there is none, what changes nothing."""
    building = tiling.building
    element = building.passing(building.elements.of(tiling.statement.writes.array))
    value = converted(value_of(tiling, operand), element)
    if isinstance(value, LiteralNumber):
        value = Converted(value, (), element)  # beside another number it would have no type
    tests = [test for test in tiling.tests if set(test.axes) & set(along) or not test.axes]
    tests += holding(tiling, steps.when)
    # The element before that at which a part begins is there, and does not come in.
    is_of_part = len(steps.when) > 1
    if tests and (is_of_part or other != 0 or not _is_0_elsewhere(tiling, operand, steps, along)):
        axes = union(tiling.lanes, axes_of(value), *(test.axes for test in tests))
        value = Masked(value, tuple(tests), other, axes, element)
    return value


def _spread(tiling: Tiling, value: Value, wanted: Axes, element: Element) -> Value:
    """Return a value with lanes along all of some axes, also where all lanes are alike."""
    for name in wanted:
        if name not in axes_of(value):
            lane = IndexValue(Affine(((name, 1),)), (name,))
            is_there = Call("eq", (lane, lane), (name,), DType.BOOL)
            axes = union(tiling.lanes, axes_of(value), (name,))
            value = Call("where", (is_there, value, LiteralNumber(0)), axes, element)
    return value


def _is_0_elsewhere(tiling: Tiling, operand: Expr, steps: ScanSteps, along: Axes) -> bool:
    """Return whether a load gives 0 where no element comes in.

    It does where an index is below 0: so is `A[t - 1]`, the element before, where `t - 1 >= 0` does
    not hold. Where nothing but the label's end is asked for, an axis that is read at the label
    alone ends there, too. But `A[t + 1]` has an element at both ends, `A[t % 3]` has one
    everywhere, and so has what does not depend on the label.
    """
    building = tiling.building
    if not isinstance(operand, Read) or operand.tensor in building.storage.registers:
        return False
    if any(index.data is not None for index in operand.indices):
        return False
    if steps.when:
        if steps.is_reverse or operand.padding not in (None, Integer(0)):
            return False
        ends = {_in_whole_steps(one) for one in steps.when}
        known = [one for one in operand.indices if ends == {SizedIndex(one)}]
    else:
        known = [one for one in operand.indices if one.is_plain and steps.label in one.labels]
        if operand.padding is not None:
            return False
    return any(set(along) <= {*tiling.index(index).labels} for index in known)


def _in_whole_steps(condition: SizedIndex) -> SizedIndex:
    """Return the same condition of a label alone: `16 * p - 1 >= 0` is `p - 1 >= 0`."""
    match condition:
        case SizedIndex(Affine(terms=((str() as label, step),), constant=own), sizes) if (
            step > 0 and sizes == Affine()
        ):
            return SizedIndex(Affine(((label, 1),), own // step))
        case _:
            return condition
