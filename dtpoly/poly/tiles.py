"""Computes the tiles of a statement, and which lanes of a tile compute.

A tile is named by its start: the index of each label in its first lane. Grid axes are parameters,
so everything here is about one program instance. The parameter of a grid axis is named `axis@`,
because a private copy has a dim with the name of the axis.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.poly.axes import (
    Axis,
    Path,
    finest,
    is_absolute,
    resolved,
    several,
)
from dtpoly.poly.coordinates import aff_coordinates
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Statement
from dtpoly.poly.remembered import anew, remembered
from dtpoly.poly.spaces import Affs, PolyError, affs, param_names, set_space, to_aff, to_map


@dataclass(frozen=True, slots=True)
class AxisLanes:
    """The lanes of one axis of a leaf: `count` of them, each `step` indices after the one before.

    A count of None means as many as the label has indices, rounded up to a power of two.
    """

    axis: str
    label: str
    step: int
    count: int | None

    @property
    def span(self) -> int | None:
        """Return how many indices the lanes span."""
        return None if self.count is None else self.count * self.step


@dataclass(frozen=True, slots=True)
class StatementTiles:
    """The tiles of one statement in one program.

    The loops in `extra` also tell tiles apart: in each of them the last tile of an inner axis is
    short.
    """

    statement: Statement
    path: Path
    extra: tuple[str, ...]
    lanes: tuple[AxisLanes, ...]
    instances: isl.Set  # the instances of one program
    tile_of: isl.Map  # from an instance to its tile
    domain: isl.Set  # the tiles

    @property
    def name(self) -> str:
        """Return the name of the statement."""
        return self.statement.name

    @property
    def dims(self) -> tuple[str, ...]:
        """Return the dims of a tile: the copy, the extra loops, and the start of each label."""
        return (*self.statement.copies, *self.extra, *self.statement.labels)

    def of_label(self, label: str) -> tuple[AxisLanes, ...]:
        """Return the lanes along a label."""
        return tuple(lanes for lanes in self.lanes if lanes.label == label)


def grid_param(axis: str) -> str:
    """Return the name of the parameter that stands for a grid axis."""
    return f"{axis}@"


def grid_names(path: Path) -> tuple[str, ...]:
    """Return the names of the grid axes that tell programs apart and have several blocks."""
    return tuple(axis.name for axis in several(finest(path.grid)))


def unnamed(tiles: StatementTiles) -> tuple[isl.Set, isl.Map, isl.Set]:
    """Return the instances, their tiles and the domain, without the name of the statement."""
    tile_of = _without_names(tiles.tile_of)
    return tiles.instances.reset_tuple_id(), tile_of, tiles.domain.reset_tuple_id()


def _without_names(relation: isl.Map) -> isl.Map:
    return relation.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)


def rounded(count: int) -> int:
    """Return the next power of two, since a vector has that many lanes."""
    return 1 << (count - 1).bit_length()


def tiles_of(statement: Statement, path: Path) -> StatementTiles:
    """Return the tiles of a statement on its path."""
    found = remembered(
        lambda: ("tiles", *place_of(statement, path)), lambda: _tiles_of(statement, path)
    )
    # The kept answer may be from another statement with the same place, so its statement is
    # replaced.
    return replace(
        found,
        statement=statement,
        instances=anew(found.instances),
        tile_of=anew(found.tile_of),
        domain=anew(found.domain),
    )


def place_of(statement: Statement, path: Path) -> tuple[Hashable, ...]:
    """Return the data that decides which instances of a statement are in which tile."""
    named = (statement.name, statement.copies, statement.labels, statement.bound)
    return *named, statement.relative, str(statement.domain), path


def _tiles_of(statement: Statement, path: Path) -> StatementTiles:
    instances = _in_program(statement, path)
    space = instances.get_space()
    of = affs(space)
    value = aff_coordinates(path, statement, of, programs(path, of))
    lane_axes = several(path.lanes)
    starts = {label: of[label] for label in statement.labels}
    for axis in lane_axes:
        label = axis.index.plain
        assert label is not None
        starts[label] = starts[label] - value[axis.name]
    extra = _loops_of_short_tiles(statement, path)
    names = (*statement.copies, *extra, *statement.labels)
    values = [*(of[n] for n in statement.copies), *(value[n] for n in extra), *starts.values()]
    tile_of = to_map(space, statement.name, names, values)
    domain = _tiles(instances, tile_of, [value[axis.name] for axis in lane_axes])
    domain = _with_known_facts(domain, statement, path).coalesce()
    lanes = tuple(map(_lanes, lane_axes))
    return StatementTiles(statement, path, extra, lanes, instances, tile_of, domain)


def _tiles(instances: isl.Set, tile_of: isl.Map, offsets: Sequence[isl.Aff]) -> isl.Set:
    """Return the tiles in which some lane computes, from the first lanes alone if that is enough.

    For isl, "there is a lane such that" is a rounding, which makes all later questions slow.
    """
    first = instances
    for offset in offsets:
        first = first & offset.eq_set(offset - offset)
    # The answer is the same for every statement, so the question does not have its name.
    both, bare = (instances.reset_tuple_id(), first.reset_tuple_id()), _without_names(tile_of)
    found = remembered(
        lambda: ("tiles of lanes", *map(str, both), str(bare)), lambda: _reached(*both, bare)
    )
    return found.set_tuple_id(tile_of.get_tuple_id(isl.dim_type.out))


def _reached(instances: isl.Set, first: isl.Set, tile_of: isl.Map) -> isl.Set:
    domain, plain = instances.apply(tile_of), first.apply(tile_of)
    return plain if domain.is_subset(plain) else domain


def _loops_of_short_tiles(statement: Statement, path: Path) -> tuple[str, ...]:
    """Return the loops whose tiles are divided unevenly.

    How much of a part is left depends on the loop.
    """
    named = path.named
    loops = {axis.name for axis in several(path.loops)} - set(statement.copies)
    found: dict[str, None] = {}
    for axis in (*several(path.loops), *several(path.lanes)):
        outer = named.get(resolved(axis.origin, named).plain or "")
        if outer is None or outer.name not in loops or not axis.step or not outer.step:
            continue
        if outer.step % axis.step:
            found[outer.name] = None
    return tuple(found)


def programs(path: Path, of: Affs) -> dict[str | int, isl.Aff]:
    """Return grid axes as their parameters; axes that divide them then need no second rounding."""
    return {name: of[grid_param(name)] for name in grid_names(path)}


def coordinate(tiles: StatementTiles, name: str) -> isl.Aff:
    """Return the coordinate of an axis, for the instances of one program."""
    of = affs(tiles.instances.get_space())
    known = programs(tiles.path, of)
    return aff_coordinates(tiles.path, tiles.statement, of, known)[name]


def _lanes(axis: Axis) -> AxisLanes:
    step = axis.step or 1
    count = None if axis.extent is None else rounded(-(-axis.extent // step))
    assert axis.index.plain is not None
    return AxisLanes(axis.name, axis.index.plain, step, count)


def _in_program(statement: Statement, path: Path) -> isl.Set:
    """Return the instances that one program runs."""
    names = grid_names(path)
    space = statement.domain.get_space()
    params = (*param_names(space), *map(grid_param, names))
    space = set_space(statement.name, statement.dims, params)
    of = affs(space)
    value = aff_coordinates(path, statement, of)
    result = isl.Set.universe(space)
    for name in names:
        result = result & of[grid_param(name)].eq_set(value[name])
    return statement.domain.align_params(space) & result


def _with_known_facts(domain: isl.Set, statement: Statement, path: Path) -> isl.Set:
    """Return the tiles with facts that isl does not find.

    For example, a multiple of 16 that is more than -16 is not negative.
    """
    of = affs(domain.get_space())
    known = dict(of)
    for name in grid_names(path):
        known[name] = of[grid_param(name)]
    named = path.named
    owned = zip((*path.grid, *path.loops), path.owners, strict=True)
    # The axes of a reader give no facts about the labels of a copy that is made for it.
    walked = (axis for axis, owner in owned if not statement.copies or owner == statement.func)
    for axis in several((*walked, *path.lanes)):
        label = axis.index.plain
        if not is_absolute(axis, path) and axis not in path.lanes:
            continue
        origin = resolved(axis.origin, named)
        if label in of and label in statement.labels and set(origin.labels) <= known.keys():
            domain = domain & of[label].ge_set(to_aff(origin, known))
    for name, axis in ((n, named[n]) for n in grid_names(path)):
        if not axis.origin.terms:
            domain = domain & known[name].ge_set(to_aff(axis.origin, known))
    return domain


def axis_value(
    tiles: StatementTiles, name: str, counted: frozenset[str], private: tuple[str, ...]
) -> Affine:
    """Return the value of an axis, over starts of tiles (by label), copies, programs and sizes.

    A loop in `counted` is known by the value that it counts, under the name of its axis. For loops
    in `private` this value is meant itself, since private copies are told apart by it.
    """
    named = tiles.path.named
    axis = named[name]
    if axis.is_single:
        return resolved(axis.origin, named)
    if name in grid_names(tiles.path) or name in tiles.statement.copies:
        return Affine(((name, 1),))
    if name in counted and axis.time is None:
        count = Affine(((name, 1),))
        return count if name in private else _absolute(count, axis, tiles, counted)
    value = coordinate(tiles, name)
    along = isl.Map.from_aff(value).intersect_domain(tiles.instances)
    along = tiles.tile_of.reverse().apply_range(along).intersect_domain(tiles.domain)
    of = affs(tiles.domain.get_space())
    for start, aff in of.items():
        if isinstance(start, str) and isl.Map.from_aff(aff).intersect_domain(tiles.domain).is_equal(
            along
        ):
            count = Affine(((start.removesuffix("@"), 1),))
            return count if name in private else _absolute(count, axis, tiles, counted)
    graph = along.gist_domain(tiles.domain)
    raise PolyError(f"where '{name}' is cannot be told from a tile: {graph}")


def _absolute(value: Affine, axis: Axis, tiles: StatementTiles, counted: frozenset[str]) -> Affine:
    """Return the value counted from 0.

    A loop outside the axis that it divides counts from there.
    """
    if is_absolute(axis, tiles.path):
        return value
    put = {name: axis_value(tiles, name, counted, ()) for name in axis.origin.labels}
    return value + axis.origin.substitute(put)
