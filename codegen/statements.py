"""Writes the instructions for one tile of a statement: accumulators, steps and results.

`lower` calls `write_tile` where the loops have a tile.
"""

from dataclasses import replace
from math import prod

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Dot,
    Read,
    Reduce,
)
from dtpoly.algorithm.operations import LIST
from dtpoly.algorithm.outside import is_at_labels
from dtpoly.ir.kernel import Accumulate, Collapse, Fill, Let, Reshaped, Select, Store
from dtpoly.ir.kinds import Element, join
from dtpoly.ir.tile_values import (
    Axes,
    Call,
    Holds,
    IndexValue,
    LiteralNumber,
    Merged,
    Test,
    Value,
    Variable,
    axes_of,
)
from dtpoly.poly.model import Array, Role
from dtpoly.poly.tiles import StatementTiles

from .building import Building, Held, Unsupported
from .conversions import converted, element_of, typed
from .elements import NOWHERE, PAIRED, VALUE, identity
from .expression_values import masked, named, placed, value_of
from .kept_lists import begin_list, in_memory, list_axes, take_into_list
from .kept_pairs import best_of, is_paired, pair_of, passes_values
from .matrix_products import Sides, product_step, sides_of, sum_step
from .operation_spelling import is_float_element
from .python_names import plain
from .ranged_products import add_cut, as_multiplied, goes_by_index
from .scan_tiles import begin_scan, scan_into, scanned
from .storage import INDEX
from .tensor_loads import loaded, local_indices, relevant, stored_element
from .tile_lanes import Tiling, in_use, is_in_range


def write_tile(tiling: Tiling, tiles: StatementTiles) -> None:
    """Write the instructions of one tile at the end of the innermost block."""
    match tiling.statement.role:
        case Role.INIT:
            _init(tiling)
        case Role.UPDATE:
            _update(tiling, tiles)
        case Role.COMBINE:
            _combine(tiling)
        case Role.SCAN:
            results, scan = scanned(tiling), tiling.statement.scan
            if scan is None or tiling.statement.writes.array != scan.carry:
                _left(tiling, results)
        case Role.VALUE | Role.STORE:
            _value(tiling)


def _lanes_by_label(tiles: StatementTiles) -> dict[str, int | None]:
    """Return how many lanes each label has; None for all. Labels with several axes are left out."""
    return {
        label: lanes[0].count
        for label in tiles.statement.labels
        if len(lanes := tiles.of_label(label)) == 1
    }


def _sides(building: Building, update: StatementTiles) -> Sides | None:
    """Find the rows and columns in a step of an `rdot`; None if it is no product of matrices."""
    statement = update.statement
    body = statement.body
    if not isinstance(body, Dot) or any(len(update.of_label(x)) > 1 for x in statement.labels):
        return None
    kind = join(building.elements.kind(body.left), building.elements.kind(body.right))
    body = as_multiplied(building, statement.func, body)
    sides = sides_of(body, kind, statement.labels, _lanes_by_label(update))
    if (
        sides is not None
        and statement.is_over_range
        and any(len(group) > 1 for group in sides.result)
    ):
        return None  # a tile that the range cuts is added to an accumulator that is no matrix
    return sides.swapped() if sides is not None and building.is_swapped else sides


def _init(tiling: Tiling) -> None:
    """Write the start of an accumulator, with an axis also for lanes of labels that are reduced."""
    building, statement = tiling.building, tiling.statement
    array = building.model.arrays[statement.writes.array]
    assert array.reduction is not None
    element = building.passing(building.elements.of(array.name))
    scan = scan_into(building, array.name)
    if scan is not None:
        begin_scan(tiling, array, scan)
        return
    if array.name not in building.storage.registers:
        if array.reduction == LIST:
            raise Unsupported(in_memory(array.name))
        number = identity(array.reduction, _compared(tiling, array.name))
        _store(tiling, LiteralNumber(number))
        if array.reduction in PAIRED:
            _store(tiling, LiteralNumber(NOWHERE), array=array.name + INDEX)
        return
    update = next(
        one
        for one in building.tiles.values()
        if one.statement.writes.array == array.name and one.statement.role is Role.UPDATE
    )
    if array.reduction == LIST:
        begin_list(tiling, array, update)
        return
    sides = _sides(building, update)
    if sides is not None:
        _init_matrix(tiling, array, update, sides)
        return
    shape: list[int | str] = []
    labels: list[str] = []
    for label in update.statement.labels:
        for lanes in update.of_label(label):
            shape.append(building.count(label) if lanes.count is None else lanes.count)
            labels.append(label)
    name = building.scopes.name(f"{plain(array.func)}_acc", (tuple(shape), element))
    value = identity(array.reduction, _compared(tiling, array.name))
    emit = building.scopes.emit
    index: str | None = None
    if array.reduction in PAIRED:
        emit(Fill(name, tuple(shape), value, _compared(tiling, array.name)), statement.name)
        index = building.scopes.name(f"{plain(array.func)}_at", tuple(shape))
        emit(Fill(index, tuple(shape), NOWHERE, DType.I64), statement.name)
    else:
        emit(Fill(name, tuple(shape), value, element), statement.name)
    building.held[-1][array.name] = Held(name, tuple(labels), index)


def _init_matrix(tiling: Tiling, array: Array, update: StatementTiles, sides: Sides) -> None:
    """Start the accumulator of a product of matrices; labels that share an axis are joined."""
    building, origin = tiling.building, tiling.statement.name
    lanes = _lanes_by_label(update)
    counts = tuple(
        tuple(building.count(x) if (count := lanes[x]) is None else count for x in group)
        for group in sides.result
    )
    labels = tuple(label for group in sides.result for label in group)
    element = building.passing(building.elements.of(array.name))
    name = building.scopes.name(f"{plain(array.func)}_acc", (counts, element))
    is_joined = len(labels) > len(counts)
    joined = [_joined(group) for group in counts]
    if None not in joined:
        shape = tuple(count for count in joined if count is not None)
        building.scopes.emit(Fill(name, shape, 0, element), origin)
    else:
        building.scopes.emit(Fill(name, sum(counts, ()), 0, element), origin)
        whole = Variable(name, labels, element)
        building.scopes.emit(Reshaped(name, whole, labels, counts), origin)
    building.held[-1][array.name] = Held(name, labels, counts=counts if is_joined else ())


def _joined(counts: tuple[int | str, ...]) -> int | str | None:
    """Return how many lanes several labels have together; None if only Triton can tell."""
    if len(counts) == 1:
        return counts[0]
    known = [count for count in counts if isinstance(count, int)]
    return prod(known) if len(known) == len(counts) else None


def _compared(tiling: Tiling, array: str) -> Element:
    """Give the type of what a reduction compares: of its values, even if its result is an index."""
    building = tiling.building
    is_paired = building.model.arrays[array].reduction in PAIRED
    return building.passing(building.elements.of(array + VALUE if is_paired else array))


def _update(tiling: Tiling, tiles: StatementTiles) -> None:
    """Write one step of a reduction."""
    building, statement = tiling.building, tiling.statement
    body = statement.body
    assert isinstance(body, Reduce | Dot)
    array = statement.writes.array
    reduced = tuple(lane for label in body.labels for lane in tiling.lanes_of(label))
    if array not in building.storage.registers:
        _update_in_memory(tiling, body, reduced)
        return
    held = building.find_held(array)
    axes = _axes(tiling, held)
    emit = building.scopes.emit
    match body:
        case Dot() if (sides := _sides(building, tiles)) and goes_by_index(tiling, sides):
            add_cut(tiling, body, held, axes, reduced, sides)
        case Dot() if (sides := _sides(building, tiles)) is not None:
            dot = as_multiplied(building, statement.func, body)
            emit(product_step(tiling, dot, held, sides), statement.name)
        case Dot():
            emit(sum_step(tiling, body, held, axes, reduced), statement.name)
        case Reduce(operation=operation) if operation in PAIRED:
            value, at = _candidate(tiling, body, reduced)
            if operation == LIST:
                axes = list_axes(tiling, axes, reduced)
                take_into_list(tiling, held, _in_lanes(value, axes), _in_lanes(at, axes), axes)
                return
            value = _in_lanes(value, axes)
            assert held.index is not None
            emit(Select(held.name, held.index, operation, value, at, axes), statement.name)
        case Reduce(operation=operation):
            value = _operand(tiling, body, reduced)
            element = building.elements.of(array)
            emit(Accumulate(held.name, operation, value, axes, element), statement.name)


def _axes(tiling: Tiling, held: Held) -> Axes:
    """Return the lanes of this statement that the axes of a tile are."""
    return tuple(n for label in dict.fromkeys(held.labels) for n in tiling.lanes_of(label))


def _operand(tiling: Tiling, body: Reduce | Dot, reduced: Axes) -> Value:
    """Compute what a step adds: the identity in lanes that have nothing to add."""
    building = tiling.building
    array = tiling.statement.writes.array
    element = building.passing(_compared(tiling, array))
    if isinstance(body, Dot):
        step = sum_step(tiling, body, Held("", ()), (), reduced)
        return step.value
    other = identity(body.operation, element)
    operand = body.operand
    if (
        other == 0
        and isinstance(operand, Read)
        and is_at_labels(operand)
        and operand.tensor not in building.storage.registers
        # A label that the read lacks ends unseen by it: it was inlined as one value for all of it.
        and set(reduced) <= {n for i in operand.indices for n in tiling.index(i).labels}
        and _tests_ranges(tiling, operand)
    ):
        return converted(loaded(tiling, operand, tiling.lanes), element)
    value = converted(value_of(tiling, operand), element)
    return masked(tiling, value, reduced, other, element)


def _tests_ranges(tiling: Tiling, read: Read) -> bool:
    """Return whether a load tests all that says which indices a step over a range takes."""
    tests = relevant(tiling, tuple(map(tiling.index, read.indices)), tiling.lanes)
    return all(one in tests for one in tiling.tests if tiling.is_of_range(one))


def _candidate(tiling: Tiling, body: Reduce, reduced: Axes) -> tuple[Value, Value]:
    """Compute a value and its index; the index is the largest number where there is no value."""
    if is_paired(tiling.building, body.operand):
        element = _compared(tiling, tiling.statement.writes.array)
        return pair_of(tiling, body.operand, identity(body.operation, element))
    (label,) = body.labels
    at: Value = IndexValue(tiling.at[label], tiling.lanes_of(label))
    value = named(tiling, _operand(tiling, body, reduced), "candidate")
    return value, masked(tiling, converted(at, DType.I64), reduced, NOWHERE, DType.I64)


def _in_lanes(value: Value, axes: Axes) -> Value:
    """Spread a single value that is compared with a tile, so that it is a tile.

    Triton's interpreter makes numbers of single truths that meet tiles of truths, as they do where
    the better value is chosen.
    """
    if axes_of(value) or not axes or isinstance(value, LiteralNumber):
        return value
    first = axes[:1]
    lane = IndexValue(Affine(((first[0], 1),)), first)
    element = element_of(value)
    assert element is not None
    return Call(
        "where", (Call("eq", (lane, lane), first, DType.BOOL), value, value), first, element
    )


def _update_in_memory(tiling: Tiling, body: Reduce | Dot, reduced: Axes) -> None:
    """Write a step whose accumulator is in memory: lanes are combined first, then added once."""
    building, statement = tiling.building, tiling.statement
    array = statement.writes.array
    element = building.elements.of(array)
    operation = body.operation if isinstance(body, Reduce) else "rsum"
    if operation in PAIRED and isinstance(body, Reduce):
        _select_in_memory(tiling, body, reduced)
        return
    value = _operand(tiling, body, reduced)
    kept = tuple(name for name in tiling.lanes if name not in reduced)
    if reduced:
        tile = building.tile_name("step_tile", tiling.lanes, element)
        total = building.tile_name("step_total", kept, element)
        start = identity(operation, element)
        emit = building.scopes.emit
        emit(Fill(tile, tuple(map(building.lane_count, tiling.lanes)), start, element), "")
        emit(Accumulate(tile, operation, value, tiling.lanes, element), statement.name)
        building.scopes.emit(Collapse(total, tile, operation, tiling.lanes, kept), statement.name)
        value = Variable(total, kept, element)
    inner = _kept(tiling, kept)
    if statement.is_atomic:
        _store(inner, value, atomic=operation)
        return
    own = Read(array, statement.writes.indices)
    before = loaded(inner, own, kept)
    _store(inner, Merged(operation, before, value, kept, element))


def _kept(tiling: Tiling, kept: Axes) -> Tiling:
    """Return the tile without the lanes that have been reduced."""
    tests = tuple(test for test in tiling.tests if set(test.axes) <= set(kept))
    mixed = tuple(test for test in tiling.tests if not set(test.axes) <= set(kept))
    if any(set(test.axes) & set(kept) for test in mixed):
        tests = (*tests, _anywhere(tiling, mixed, kept))
    return replace(tiling, lanes=kept, tests=tests)


def _select_in_memory(tiling: Tiling, body: Reduce, reduced: Axes) -> None:
    """Write a step of a reduction whose best value and its index are in memory."""
    building, statement = tiling.building, tiling.statement
    array = statement.writes.array
    element = _compared(tiling, array)
    kept = tuple(name for name in tiling.lanes if name not in reduced)
    value, at = _candidate(tiling, body, reduced)
    value = _in_lanes(value, tiling.lanes)
    emit = building.scopes.emit
    best, where = building.scopes.name("best"), building.scopes.name("best_at")
    shape = tuple(map(building.lane_count, tiling.lanes))
    emit(Fill(best, shape, identity(body.operation, element), element), statement.name)
    emit(Fill(where, shape, NOWHERE, DType.I64), statement.name)
    emit(Select(best, where, body.operation, value, at, tiling.lanes), statement.name)
    if reduced:
        both = Collapse(best, best, body.operation, tiling.lanes, kept, where, keeps_value=True)
        emit(both, statement.name)
    inner = _kept(tiling, kept)
    before = loaded(inner, Read(array, statement.writes.indices), kept)
    before_at = loaded(inner, Read(array + INDEX, statement.writes.indices), kept)
    found, found_at = Variable(best, kept, element), Variable(where, kept, DType.I64)
    emit(Select(before.name, before_at.name, body.operation, found, found_at, kept), "")
    _store(inner, Variable(before.name, kept, element))
    _store(inner, Variable(before_at.name, kept, DType.I64), array=array + INDEX)


def _anywhere(tiling: Tiling, tests: tuple[Test, ...], kept: Axes) -> Test:
    """Return whether tests hold in some lane of those that are reduced."""
    building, lanes = tiling.building, tiling.lanes
    tile, found = building.scopes.name("is_step"), building.scopes.name("is_kept")
    emit = building.scopes.emit
    shape = tuple(map(building.lane_count, lanes))
    emit(Fill(tile, shape, 1, DType.BOOL), tiling.statement.name)
    for test in tests:
        holds = Holds(test, test.axes)
        emit(Accumulate(tile, "rall", holds, lanes, DType.BOOL), tiling.statement.name)
    emit(Collapse(found, tile, "rany", lanes, kept), tiling.statement.name)
    return Test(Affine(), kept, name=found, own=kept)


def _combine(tiling: Tiling) -> None:
    """Combine the partial results of lanes into one."""
    building = tiling.building
    array = building.model.arrays[tiling.statement.writes.array]
    if array.name not in building.storage.registers:
        return
    held = building.find_held(array.name)
    assert array.reduction is not None
    if held.places is not None:
        return  # a step has taken all lanes into the list
    kept = tuple(label for label in held.labels if label in array.dims)
    if kept == held.labels:
        if held.index is not None:
            building.held[-1][array.name] = Held(held.index, kept)
            building.held[-1][array.name + VALUE] = Held(held.name, kept)
        if held.counts:
            element = building.elements.of(array.name)
            name = building.scopes.name(f"{plain(array.func)}_tile", (held.counts, element))
            joined = Variable(held.name, (), element)
            apart = Reshaped(name, joined, (), held.counts, is_joined=False)
            building.scopes.emit(apart, tiling.statement.name)
            building.held[-1][array.name] = Held(name, kept)
        return
    axes = tuple(f"{label}{at}" for at, label in enumerate(held.labels))
    stay = tuple(a for a, label in zip(axes, held.labels, strict=True) if label in array.dims)
    if held.index is not None and passes_values(building.model, array.name):
        both = (held.name, held.name, array.reduction, axes, stay, held.index)
        building.scopes.emit(Collapse(*both, keeps_value=True), tiling.statement.name)
        building.held[-1][array.name] = Held(held.index, kept)
        building.held[-1][array.name + VALUE] = Held(held.name, kept)
        return
    wish = f"{plain(array.func)}_{array.reduction.removeprefix('r')}"
    name = building.scopes.name(wish, (kept, building.elements.of(array.name)))
    collapse = Collapse(name, held.name, array.reduction, axes, stay, held.index)
    building.scopes.emit(collapse, tiling.statement.name)
    building.held[-1][array.name] = Held(name, kept)


def _value(tiling: Tiling) -> None:
    """Write an element of a Func, or a partial result."""
    building, statement = tiling.building, tiling.statement
    assert statement.body is not None
    array = building.model.arrays[statement.writes.array]
    element = building.passing(building.elements.of(array.name))
    body = statement.body
    if array.is_paired:
        value, at = best_of(tiling, body)
        _store(tiling, value)
        _store(tiling, at, array=array.name + INDEX)
        return
    if statement.when and is_in_range(tiling) and isinstance(body, Apply):
        value = value_of(tiling, body.operands[1])  # the element, without the 0 elsewhere
    else:
        value = value_of(in_use(tiling), body)
    _left(tiling, typed(value, element))


def _left(tiling: Tiling, value: Value) -> None:
    """Leave a value where its readers find it: in registers, in memory or in both."""
    building = tiling.building
    array = building.model.arrays[tiling.statement.writes.array]
    element = building.elements.of(array.name)
    if array.name in building.storage.registers:
        value = _hold(tiling, value, array.name, element)
    if array.name in building.storage.scratch or array.name in building.storage.stored:
        _store(tiling, value)


def _hold(tiling: Tiling, value: Value, array: str, element: Element) -> Value:
    """Return the value as a register tile, under the name of its Func."""
    building = tiling.building
    if not isinstance(value, Variable):
        axes = axes_of(value)
        name = building.tile_name(plain(building.model.arrays[array].func), axes, element)
        building.scopes.emit(Let(name, value, axes), tiling.statement.name)
        value = Variable(name, axes, element)
    of = {lane: label for label in tiling.statement.labels for lane in tiling.lanes_of(label)}
    # The axes of a product may be in another order than its labels.
    labels = tuple(of[lane] for lane in value.axes if lane in of)
    building.held[-1][array] = Held(value.name, labels)
    return value


def _store(
    tiling: Tiling, value: Value, atomic: str | None = None, array: str | None = None
) -> None:
    building, statement = tiling.building, tiling.statement
    array = array or statement.writes.array
    element = stored_element(building, array)
    if isinstance(value, LiteralNumber) and is_float_element(element):
        value = LiteralNumber(float(value.value))
    taken, tests = tuple[Variable, ...](), tiling.tests
    at = building.model.places.get(array)
    if at is not None and array not in building.storage.scratch:
        indices, inside, taken = placed(tiling, at)
        tests = (*tests, *inside)
        atomic = "rsum" if array in building.model.added else atomic
    else:
        indices = local_indices(tiling, array, tuple(map(tiling.index, statement.writes.indices)))
    pointer = building.pointer(array, len(indices), written=True)
    store = Store(pointer, indices, tests, value, tiling.lanes, element, atomic, taken=taken)
    building.scopes.emit(store, statement.name)
