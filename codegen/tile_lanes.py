"""Finds where the labels of a statement's tile are, and which of its lanes compute.

What writes the instructions of a tile asks a `Tiling` for its indices, its lanes, and the tests
that must hold.
"""

from collections.abc import Callable, Mapping
from dataclasses import field, replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine, Conditions, Dot, Reduce
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Let, LoopScalar
from dtpoly.ir.tile_values import Axes, Call, LiteralNumber, Test, all_hold
from dtpoly.poly.loops import Bound, Tile
from dtpoly.poly.masks import Condition, active_lanes, lane_dims, mask, start_name
from dtpoly.poly.masks import all_hold as all_in_range
from dtpoly.poly.model import Statement
from dtpoly.poly.tiles import StatementTiles

from .building import Building
from .python_names import plain
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
    # Lanes of which the tile has just one, as conditions call them -> its index.
    fixed: Mapping[str, Affine] = field(default_factory=dict[str, Affine])
    # What else must hold where a tensor is read: elsewhere the value is not used.
    used: tuple[Test, ...] = ()

    def index(self, value: Affine) -> Affine:
        """Return an index over labels as one over the kernel's variables."""
        return value.substitute(self.at)

    def names_in(self, value: Affine) -> frozenset[str]:
        """Return the kernel's variables that an index over labels depends on, also by data."""
        return frozenset(name for label in value.labels for name in self.at[label].labels)

    def is_of_range(self, test: Test) -> bool:
        """Return whether a test may say which indices a step over a range takes.

        It may say so without the reduced label: with `k < 3 - x`, an x above 2 takes none. Only the
        size of a label that stays says nothing of it: lanes beyond are not stored.
        """
        body = self.statement.body
        if not self.statement.is_over_range or not isinstance(body, Reduce | Dot):
            return False
        kept = (label for label in self.statement.labels if label not in body.labels)
        ends = (self._last(label) - self.at[label] for label in kept)
        return all(test.value - end != Affine() for end in ends)

    def _last(self, label: str) -> Affine:
        """Return the last index of a label."""
        sizes = self.building.model.size_of
        known = self.building.number_of(label) if label in sizes else Affine()
        return known + Affine((), -1)

    def lanes_of(self, label: str) -> Axes:
        """Return the lanes along a label."""
        return self.building.axes(self.at[label], self.lanes)


def tiling_of(building: Building, tiles: StatementTiles, node: Tile) -> Tiling:
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
    tests = _tests(building, tiles.name, node.ways, starts, named, {})
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


def of_lanes(tiling: Tiling, lanes: Axes) -> Tiling:
    """Return the tile with some of its lanes: it computes where any of the others would."""
    return replace(tiling, lanes=lanes, tests=_along(tiling, lanes))


def is_in_range(tiling: Tiling) -> bool:
    """Return whether all elements that a tile computes are in the ranges of their labels."""
    building, occurs = tiling.building, tiling.node.occurs
    model, tiles = building.model, building.tiles[tiling.statement.name]
    return all_in_range(tiles, occurs, model.context, model.size_of, tiling.statement.when)


def in_use(tiling: Tiling) -> Tiling:
    """Return the tile as it reads tensors: not for elements that are outside of their range."""
    return replace(tiling, used=holding(tiling, tiling.statement.when))


def holding(tiling: Tiling, when: Conditions) -> tuple[Test, ...]:
    """Return the tests that conditions on labels hold."""
    building, found = tiling.building, list[Test]()
    for one in when:
        value = tiling.index(one.index)
        for label, coefficient in one.sizes.linear:
            value = value + building.number_of(label).scaled(coefficient)
        axes = building.axes(value, tiling.lanes)
        found.append(Test(value, axes, is_large=is_large(value, building.units)))
    return tuple(found)


def at_index(tiling: Tiling, label: str, index: Affine) -> Tiling:
    """Return the tile at one index of a label, without the lanes along that label."""
    building, node = tiling.building, tiling.node
    tiles = building.tiles[tiling.statement.name]
    (dim,) = (one.name for one in lane_dims(tiles) if one.label == label and one.is_index)
    named = {name: lane for name, lane in tiling.named.items() if name != dim}
    fixed = {**tiling.fixed, dim: index}
    return replace(
        tiling,
        at={**tiling.at, label: index},
        named=named,
        fixed=fixed,
        lanes=tuple(named.values()),
        tests=_tests(building, tiles.name, node.ways, tiling.starts, named, fixed),
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
    asked = (*named, *tiling.fixed)
    ways = mask(tiles, active, node.occurs, model.context, model.size_of, asked)
    return _tests(building, tiles.name, ways, tiling.starts, named, tiling.fixed)


def _tests(
    building: Building,
    origin: str,
    ways: tuple[tuple[Condition, ...], ...],
    starts: Mapping[str, Affine],
    named: Mapping[str, str],
    fixed: Mapping[str, Affine],
) -> tuple[Test, ...]:
    """Give what must hold for the lanes that have a name, or that are fixed."""
    put = {start_name(dim): start for dim, start in starts.items()}
    put |= {dim: Affine(((name, 1),)) for dim, name in named.items()}
    put |= fixed
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
    value = Call("ne", (value, LiteralNumber(0)), axes, DType.BOOL)
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


def _start(building: Building, dim: str, value: Bound, tiles: StatementTiles) -> Affine:
    if isinstance(value, Affine):
        return building.renamed(value)
    scalar = LoopScalar("", building.bound(value))
    name = building.scopes.bind_scalar(f"{plain(dim)}_start", scalar, tiles.name)
    return Affine(((name, 1),))
