"""Finds where the labels of a statement's tile are, and which of its lanes compute.

What writes the instructions of a tile asks a `Tiling` for its indices, its lanes, and the tests
that must hold.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Let, Scalar
from dtpoly.ir.tile_values import Axes, Call, Number, Test, all_hold
from dtpoly.poly.loops import Bound, Tile
from dtpoly.poly.masks import Condition, active_lanes, lane_dims, mask, start_name
from dtpoly.poly.model import Statement
from dtpoly.poly.tiles import Tiles

from .building import Building
from .names import plain
from .widths import is_large

Chosen = Callable[[tuple[Test, ...]], tuple[Test, ...]]


@dataclass(frozen=True, slots=True)
class Tiling:
    """One tile of a statement: where its labels are, its lanes in order, what must hold."""

    building: Building
    statement: Statement
    node: Tile
    at: Mapping[str, Affine]  # label -> index, over the kernel's variables
    starts: Mapping[str, Affine]  # label or copy -> where the tile starts
    loops: Mapping[str, Affine]  # axis -> what the loop over it counts
    named: Mapping[str, str]  # lanes, as conditions call them -> their variable
    lanes: Axes
    tests: tuple[Test, ...]

    def index(self, value: Affine) -> Affine:
        """An index over labels as one over the kernel's variables."""
        return value.substitute(self.at)

    def lanes_of(self, label: str) -> Axes:
        """The lanes along a label."""
        return self.building.axes(self.at[label], self.lanes)


def tiling_of(building: Building, tiles: Tiles, node: Tile) -> Tiling:
    """Find where the labels of this tile are, and which of its lanes compute."""
    statement = tiles.statement
    starts = {dim: _start(building, dim, node.start[dim], tiles) for dim in tiles.dims}
    at: dict[str, Affine] = {}
    named: dict[str, str] = {}
    dims = {dim.lanes.axis: dim for dim in lane_dims(tiles)}
    for label in statement.labels:
        at[label] = starts[label]
        if not tiles.of_label(label):
            at[label] = building.scopes.bound_index(label, starts[label], tiles.name)
        for lanes in tiles.of_label(label):
            dim = dims[lanes.axis]
            count = building.count(label) if lanes.count is None else lanes.count
            origin = lanes.axis
            if dim.is_index:
                name = building.scopes.bound_lanes(label, starts[label], count, lanes.step, origin)
                at[label] = Affine(((name, 1),))
            else:
                wish = f"{label}_{len(named)}"
                name = building.scopes.bound_lanes(wish, Affine(), count, 1, origin)
                at[label] = at[label] + Affine(((name, lanes.step),))
            building.lanes[name] = count
            named[dim.name] = name
    order = tuple(named.values())
    loops = {axis: building.renamed(value) for axis, value in node.loops.items()}
    tests = _tests(building, tiles.name, node.ways, starts, named)
    return Tiling(
        building=building,
        statement=statement,
        node=node,
        at=at,
        starts=starts,
        loops=loops,
        named=named,
        lanes=order,
        tests=tests,
    )


def tests_on(tiling: Tiling, order: Axes, chosen: Chosen) -> tuple[Test, ...]:
    """Give those tests that `chosen` picks, for a tile that has only some of the lanes.

    On a diagonal, rows of a product are tied to its columns. The tile of one side lacks the
    columns: it has a row where there is any column with that row.
    """
    found = chosen(tiling.tests)
    if all(set(test.axes) <= set(order) for test in found):
        return found
    return chosen(_along(tiling, order))


def _along(tiling: Tiling, lanes: Axes) -> tuple[Test, ...]:
    """Give the tests for a tile with only these lanes: it computes where some of the others would.

    For example, on a diagonal `k = x` a row `x` computes if there is a `k` that is equal to `x`.
    """
    building, node = tiling.building, tiling.node
    tiles, model = building.tiles[tiling.statement.name], building.model
    dims = {name: dim for dim, name in tiling.named.items()}
    named = {dims[name]: name for name in lanes}
    active = active_lanes(tiles)
    ways = mask(tiles, active, node.occurs, model.context, model.size_of, named)
    return _tests(building, tiles.name, ways, tiling.starts, named)


def _tests(
    building: Building,
    origin: str,
    ways: tuple[tuple[Condition, ...], ...],
    starts: Mapping[str, Affine],
    named: Mapping[str, str],
) -> tuple[Test, ...]:
    """Give what must hold for the lanes that have a name."""
    put = {start_name(dim): start for dim, start in starts.items()}
    put |= {dim: Affine(((name, 1),)) for dim, name in named.items()}
    put |= {
        name: Affine(((building.variables[name], 1),))
        for way in ways
        for condition in way
        for name in condition.value.labels
        if name not in put
    }
    order = tuple(named.values())
    found = [tuple(_test(building, one, put, order) for one in way) for way in ways]
    return found[0] if len(found) == 1 else (_either(building, found, order, origin),)


def _either(building: Building, ways: list[tuple[Test, ...]], order: Axes, origin: str) -> Test:
    """Give one test that says that one of several conjunctions holds, and give it a name."""
    axes = tuple(n for n in order if any(n in test.axes for way in ways for test in way))
    values = [all_hold(way, order) for way in ways]
    value = values[0]
    for other in values[1:]:
        value = Call("or", (value, other), axes, DType.BOOL)
    # Triton's interpreter makes numbers of a tile of truths that meets a single truth.
    value = Call("ne", (value, Number(0)), axes, DType.BOOL)
    name = building.scopes.name("mask")
    building.scopes.emit(Let(name, value, axes), origin)
    return Test(Affine(), axes, name=name, own=axes)


def _test(building: Building, condition: Condition, put: Mapping[str, Affine], order: Axes) -> Test:
    value = condition.value.substitute(put)
    flag = None
    if condition.size is not None and condition.multiple is not None:
        flag = building.flag(condition.size, condition.multiple)
    axes = building.axes(value, order)
    test = Test(value, axes, flag, is_large=is_large(value, building.units))
    if len(test.axes) != 1:
        return test
    name = building.scopes.bound_mask(f"{test.axes[0]}_mask", test, "")
    return replace(test, name=name, own=test.axes)


def _start(building: Building, dim: str, value: Bound, tiles: Tiles) -> Affine:
    if isinstance(value, Affine):
        return building.renamed(value)
    scalar = Scalar("", building.bound(value))
    name = building.scopes.bind_scalar(f"{plain(dim)}_start", scalar, tiles.name)
    return Affine(((name, 1),))
