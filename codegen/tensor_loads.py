"""Turns an access to memory into a load: its tests, its indices, and the instruction."""

from dataclasses import replace

from dtpoly.algorithm.expressions import Affine, Read
from dtpoly.ir.kernel import Load
from dtpoly.ir.kinds import Element, in_memory
from dtpoly.ir.tile_values import Axes, Test, Variable
from dtpoly.poly.tiles import axis_value

from .building import Building
from .elements import VALUE
from .python_names import plain
from .storage import INDEX
from .tile_lanes import Tiling, tests_on
from .widths import is_wide


def loaded(tiling: Tiling, read: Read, order: Axes, other: int | float | None = None) -> Variable:
    """Return the elements as they lie in memory."""
    indices = tuple(map(tiling.index, read.indices))
    tests = relevant(tiling, indices, order)
    return load_where(tiling, read.tensor, indices, tests, order, 0 if other is None else other)


def relevant(
    tiling: Tiling, indices: tuple[Affine, ...], order: Axes, taken: tuple[Variable, ...] = ()
) -> tuple[Test, ...]:
    """Return the tests that keep indices inside, of a tile with some lanes."""
    lanes = {name for index in indices for name in index.labels if name in tiling.building.lanes}
    lanes.update(name for one in taken for name in one.axes)
    used = tuple(test for test in tiling.used if set(test.axes) <= lanes)
    return (*tests_on(tiling, order, lambda tests: _tied(tests, lanes)), *used)


def _tied(tests: tuple[Test, ...], lanes: set[str]) -> tuple[Test, ...]:
    """Choose the tests that say something about lanes.

    `x <= k` only bounds x where k is bounded. So tests that share lanes, directly or through
    others, are chosen together.
    """
    tied = set(lanes)
    while True:
        found = tuple(test for test in tests if not test.axes or tied & set(test.axes))
        more = tied.union(*(test.axes for test in found))
        if more == tied:
            return found
        tied = more


def load_where(
    tiling: Tiling,
    tensor: str,
    indices: tuple[Affine, ...],
    tests: tuple[Test, ...],
    order: Axes,
    other: int | float,
    taken: tuple[Variable, ...] = (),
) -> Variable:
    """Load elements where tests hold, and use a number elsewhere.

    If the same was loaded before, that is used again.
    """
    building = tiling.building
    needed = {name for index in indices for name in index.labels} | {
        name for axes in (*(t.axes for t in tests), *(t.axes for t in taken)) for name in axes
    }
    axes = tuple(name for name in order if name in needed)
    # What a Func is masked by and what its reads are padded by may be the same.
    each = (replace(t, axes=tuple(n for n in axes if n in t.axes)) for t in tests)
    tests = tuple(dict.fromkeys(each))
    element = stored_element(building, tensor)
    key = (tensor, indices, tests, axes, repr(other))
    is_input = tensor not in building.model.arrays
    if is_input and (found := building.scopes.find_load(key)) is not None:
        return found
    wish = f"{plain(tensor)}_{'tile' if axes else 'value'}"
    name = building.tile_name(wish, axes, element)
    places = local_indices(tiling, tensor, indices)
    pointer = building.pointer(tensor, len(places))
    missing = other if tests else None
    load = Load(name, pointer, places, tests, axes, missing, element, taken=taken)
    variable = Variable(name, axes, element)
    return building.scopes.bound_load(key, load, variable, tiling.statement.name)


def stored_element(building: Building, tensor: str) -> Element:
    """Return the type of elements in memory, as far as the text knows it."""
    kind = building.elements.kinds[tensor]
    if tensor + INDEX in building.storage.scratch:
        return building.passing(building.elements.of(tensor + VALUE))
    if tensor in building.storage.scratch or (
        tensor in building.model.arrays and not is_func(building, tensor)
    ):
        return building.passing(building.elements.of(tensor))
    return in_memory(kind)


def is_func(building: Building, tensor: str) -> bool:
    """Return whether an array is a Func as the caller or another kernel sees it."""
    return building.model.arrays[tensor].func == tensor


def local_indices(tiling: Tiling, tensor: str, indices: tuple[Affine, ...]) -> tuple[Affine, ...]:
    """Indices into memory.

    Scratch is indexed by program, and counted from the first element it holds.
    """
    scratch = tiling.building.storage.scratch.get(tensor)
    if scratch is None:
        return indices
    local = tuple(
        _local(tiling, index, _origin(tiling, extent.origin, tensor), tensor)
        for index, extent in zip(indices, scratch.extents, strict=True)
    )
    return (Affine((("program", 1),)), *local)


def _origin(tiling: Tiling, origin: Affine, tensor: str) -> Affine:
    """Turn the start of a slice, which is over axes, into an index over the kernel's variables."""
    building = tiling.building
    tiles = building.tiles[tiling.statement.name]
    private = building.model.arrays[tensor].copies
    put: dict[str, Affine] = {}
    for name in origin.labels:
        value = axis_value(tiles, name, frozenset(tiling.loops), private)
        here = {**tiling.loops, **tiling.starts}
        put[name] = value.substitute(
            {
                n: here[n] if n in here else Affine(((building.variables[n], 1),))
                for n in value.labels
            }
        )
    return origin.substitute(put)


def _local(tiling: Tiling, index: Affine, origin: Affine, tensor: str) -> Affine:
    """Return an index counted from where a slice starts, as wide as offsets are."""
    building = tiling.building
    local = index - origin
    wide = {*building.lanes, *building.scopes.wide()}
    if is_wide(local, frozenset(local.labels) - wide):
        return local
    moving, at = Affine(origin.terms), f"{plain(tensor)}_start"
    first = building.scopes.bound_index(at, moving, tiling.statement.name)
    return index - first - Affine((), origin.constant)
