"""Writes lists: the largest values along a label with their indices, kept in order in registers.

A list is two tiles, of values and of indices, with one more axis: the places of the list. A step
takes all lanes of a tile of values at once into the lists (`dt_list`), so nothing is left to
combine. What reads a place picks its lane.
"""

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine, Apply, Read, Reduce
from dtpoly.algorithm.operations import LIST
from dtpoly.ir.kernel import Collapse, Fill, Let, Select
from dtpoly.ir.kinds import Element
from dtpoly.ir.tile_values import Axes, Call, IndexValue, LiteralNumber, Value, Variable, axes_of
from dtpoly.poly.model import Array
from dtpoly.poly.tiles import StatementTiles

from .building import Building, Held, Unsupported
from .conversions import typed
from .elements import NOWHERE, VALUE, identity
from .python_names import plain
from .tile_lanes import Tiling

ONE = "place"


def begin_list(tiling: Tiling, array: Array, update: StatementTiles) -> None:
    """Write the start of lists: places without a value, of which there is a power of two."""
    building, origin = tiling.building, tiling.statement.name
    body = update.statement.body
    assert isinstance(body, Reduce)
    count = 1 << (body.count - 1).bit_length()
    shape: list[int | str] = []
    labels: list[str] = []
    for label in update.statement.labels:
        if label not in body.labels:
            for lanes in update.of_label(label):
                shape.append(building.count(label) if lanes.count is None else lanes.count)
                labels.append(label)
    element = building.passing(building.elements.of(array.name + VALUE))
    whole = (*shape, count)
    name = building.scopes.name(f"{plain(array.func)}_list", (whole, element))
    index = building.scopes.name(f"{plain(array.func)}_at", whole)
    building.scopes.emit(Fill(name, whole, identity(LIST, element), element), origin)
    building.scopes.emit(Fill(index, whole, NOWHERE, DType.I64), origin)
    places = _lanes(building, count, origin)
    building.held[-1][array.name] = Held(name, tuple(labels), index, places=places)


def _lanes(building: Building, count: int, origin: str) -> str:
    """Return the lanes of the places of a list, or the lane that a single value is given."""
    name = building.scopes.bound_lanes(ONE, Affine(), count, 1, origin)
    building.lanes[name] = count
    return name


def list_axes(tiling: Tiling, kept: Axes, reduced: Axes) -> Axes:
    """Return the axes of the values that a step takes into lists: one of them is reduced."""
    if len(reduced) > 1:
        raise Unsupported("a list is taken from lanes of one loop: split no label of it")
    return (*kept, *(reduced or (_lanes(tiling.building, 1, tiling.statement.name),)))


def take_into_list(tiling: Tiling, held: Held, value: Value, at: Value, axes: Axes) -> None:
    """Write a step of lists."""
    assert held.index is not None
    assert held.places is not None
    count = tiling.building.lane_count(held.places)
    assert isinstance(count, int)
    select = Select(held.name, held.index, LIST, value, at, axes, count)
    tiling.building.scopes.emit(select, tiling.statement.name)


def from_list(tiling: Tiling, expr: Apply, place: Value, order: Axes) -> Value:
    """Return what stands at a place of a list: the value, or its index."""
    building, origin = tiling.building, tiling.statement.name
    (read, _) = expr.operands
    assert isinstance(read, Read)
    if read.tensor not in building.storage.registers:
        raise Unsupported(in_memory(read.tensor))
    held = building.find_held(read.tensor)
    assert held.index is not None
    assert held.places is not None
    here = dict(zip(building.model.arrays[read.tensor].dims, read.indices, strict=True))
    own = tuple(
        lane
        for label in dict.fromkeys(held.labels)
        for lane in tiling.lanes_of(here[label].plain or "")
    )
    is_index = expr.operation == "rargtopk"
    element: Element = DType.I64 if is_index else building.elements.of(read.tensor + VALUE)
    tile = Variable(held.index if is_index else held.name, (*own, held.places), element)
    lanes = axes_of(place)
    kept = tuple(lane for lane in order if lane in own or lane in lanes)
    every = (*kept, held.places)
    at = place if isinstance(place, IndexValue | LiteralNumber) else typed(place, DType.I64)
    is_there = Call(
        "eq",
        (IndexValue(Affine(((held.places, 1),)), (held.places,)), at),
        tuple(lane for lane in every if lane in lanes or lane == held.places),
        DType.BOOL,
    )
    reduction = "rmin" if is_index else "rmax"
    nothing = LiteralNumber(NOWHERE if is_index else identity(LIST, element))
    name = building.tile_name("places_there", every, element)
    found = building.tile_name(
        f"{plain(building.model.arrays[read.tensor].func)}_there", kept, element
    )
    picked = Call("where", (is_there, tile, nothing), every, element)
    building.scopes.emit(Let(name, picked, every), origin)
    building.scopes.emit(Collapse(found, name, reduction, every, kept), origin)
    return Variable(found, kept, element)


def in_memory(array: str) -> str:
    """Return why there is no code for lists that do not stay in registers."""
    func = array.partition(".")[0]
    return (
        f"the list of '{func}' would have to pass through memory: give the labels that it has the "
        "same tiles where it is made and where it is read, and let loops over its places stand "
        "inside of theirs, by a reorder or by the order of labels on the left"
    )
