"""Computes the conditions under which the lanes of a tile compute.

A lane is named by its index. Where several axes go along one label, a lane is named by its number
on its own axis.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine, Conditions
from dtpoly.frozen import dataclass
from dtpoly.poly.coordinates import aff_coordinates
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.numbered_names import NumberedText, numbered, remembered_apart_from_names
from dtpoly.poly.reads_of_copies import copies_read, reads_what_is_there, within_sizes
from dtpoly.poly.remembered import remembered
from dtpoly.poly.spaces import Affs, AffsOfSpace, PolyError, affs, dim_name, to_aff, to_map
from dtpoly.poly.tiles import AxisLanes, StatementTiles, place_of, programs


@dataclass(frozen=True, slots=True)
class LaneDim:
    """A dim of the sets in this file: the indices, or the numbers, of the lanes of an axis."""

    name: str
    label: str
    lanes: AxisLanes
    is_index: bool


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition `value >= 0`, over lane dims, starts of tiles (`label^`), grid axes and sizes.

    If the size is a multiple of `multiple`, the condition always holds. A `multiple` of 0 means
    that it always holds if there are exactly as many lanes as the label has indices.
    """

    value: Affine
    size: str | None = None
    multiple: int | None = None

    def over(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of these dims that the condition is about."""
        return tuple(name for name in self.value.labels if name in names)


def start_name(dim: str) -> str:
    """Return the name of the start of a tile in conditions.

    A label alone names the lanes there.
    """
    return f"{dim}^"


def lane_dims(tiles: StatementTiles) -> tuple[LaneDim, ...]:
    """Return one dim for each axis of lanes."""
    found: list[LaneDim] = []
    for lanes in tiles.lanes:
        alone = len(tiles.of_label(lanes.label)) == 1
        found.append(LaneDim(lanes.label if alone else lanes.axis, lanes.label, lanes, alone))
    return tuple(found)


def active_lanes(tiles: StatementTiles) -> isl.Set:
    """Return `[tile, lanes]` for every instance of a program."""
    return remembered(
        lambda: ("active lanes", *place_of(tiles.statement, tiles.path)),
        lambda: _active_lanes(tiles),
    )


def _active_lanes(tiles: StatementTiles) -> isl.Set:
    statement = tiles.statement
    space = tiles.instances.get_space()
    of = affs(space)
    value = aff_coordinates(tiles.path, statement, of, programs(tiles.path, of))
    values: list[isl.Aff] = []
    for dim in lane_dims(tiles):
        offset = value[dim.lanes.axis]
        if dim.is_index:
            values.append(of[dim.label])
        else:
            values.append(offset.scale_down_val(isl.Val(dim.lanes.step)))
    names = [dim.name for dim in lane_dims(tiles)]
    lanes = to_map(space, "", names, values)
    pairs = tiles.tile_of.flat_range_product(lanes).intersect_domain(tiles.instances)
    return _named(pairs.range(), tiles)


def addressed_lanes(tiles: StatementTiles) -> isl.Set:
    """Return `[tile, lanes]` for every lane that a tile physically has, of every tile."""
    return addressed_lanes_of(tiles, tiles.domain)


def addressed_lanes_of(tiles: StatementTiles, domain: isl.Set) -> isl.Set:
    """Return `[tile, lanes]` for every lane that these tiles physically have."""
    plain = domain.reset_tuple_id()
    return remembered(
        lambda: ("addressed lanes", str(plain), tiles.dims, shape(tiles)),
        lambda: _addressed_lanes_of(tiles, plain),
    )


def _addressed_lanes_of(tiles: StatementTiles, domain: isl.Set) -> isl.Set:
    dims = lane_dims(tiles)
    result = domain.add_dims(isl.dim_type.set, len(dims))
    result = _named(result, tiles)
    of = affs(result.get_space())
    lanes = isl.Set.universe(result.get_space())
    for dim in dims:
        lane = of[dim.name]
        start = of[start_name(dim.label)] if dim.is_index else of[0]
        span = dim.lanes.span if dim.is_index else dim.lanes.count
        lanes = lanes & lane.ge_set(start)
        if span is not None:
            lanes = lanes & lane.lt_set(start + span)
        if dim.is_index and dim.lanes.step > 1:
            step = isl.Val(dim.lanes.step)
            offset = lane - start
            lanes = lanes & offset.eq_set(offset.scale_down_val(step).floor().scale_val(step))
    return result & lanes


def _named(of: isl.Set, tiles: StatementTiles) -> isl.Set:
    names = [*map(start_name, tiles.dims), *(dim.name for dim in lane_dims(tiles))]
    for position, name in enumerate(names):
        of = of.set_dim_name(isl.dim_type.set, position, name)
    return of


def mask(
    tiles: StatementTiles,
    active: isl.Set,
    occurs: isl.Set,
    context: isl.Set,
    size_of: Mapping[str, str],
    dims: Collection[str] | None = None,
) -> tuple[tuple[Condition, ...], ...]:
    """Return the conditions for a lane to compute, beyond those that its tile guarantees.

    `active` are the active lanes of all tiles. The result is a disjunction of conjunctions: one of
    them must hold, since a producer may be needed in scattered lanes. If `dims` names some of the
    lane dims, the conditions are about these dims only, and hold where a lane along the other dims
    computes.
    """
    if not tiles.lanes:
        return ((),)
    some = occurs.intersect(tiles.domain).reset_tuple_id()
    return remembered_apart_from_names(
        "mask",
        lambda: _mask_question(tiles, (active, some, context), size_of, dims),
        lambda: _mask(tiles, active, some, context, size_of, dims),
        _with_names,
    )


def _mask_question(
    tiles: StatementTiles,
    sets: tuple[isl.Set, ...],
    size_of: Mapping[str, str],
    dims: Collection[str] | None,
) -> NumberedText:
    """Return all that decides about a mask; names of labels stay, and those of axes are numbered.

    The names of axes are those of private copies, of loops whose tiles are uneven, and of lanes.
    """
    known = (
        *(tiles.dims, shape(tiles), _blocks(tiles), sorted(_written(tiles) or ())),
        *("@" in tiles.name, [(read.array, read.relation) for read in copies_read(tiles)]),
        tuple(size_of.items()),
        None if dims is None else [dim.name for dim in lane_dims(tiles) if dim.name in dims],
    )
    labels = tiles.statement.labels
    axes = {*tiles.dims, *(dim.name for dim in lane_dims(tiles))} - {*labels, *size_of}
    names = {tiles.name, *axes, *map(start_name, axes)}
    return numbered("\n".join((*map(str, sets), repr(known))), names)


def _with_names(
    ways: tuple[tuple[Condition, ...], ...], names: Mapping[str, str]
) -> tuple[tuple[Condition, ...], ...]:
    put = {old: Affine(((new, 1),)) for old, new in names.items()}
    return tuple(
        tuple(replace(one, value=one.value.substitute(put)) for one in way) for way in ways
    )


def shape(tiles: StatementTiles) -> tuple[tuple[str, str, int, int | None, bool], ...]:
    """Return all facts about the dims of lanes that a set of lanes depends on.

    The names of the axes are not among them.
    """
    return tuple(
        (dim.name, dim.label, dim.lanes.step, dim.lanes.count, dim.is_index)
        for dim in lane_dims(tiles)
    )


def _blocks(tiles: StatementTiles) -> tuple[tuple[str, int | None], ...]:
    """Return the labels of the grid, and the step of each."""
    return tuple((axis.label, axis.step) for axis in tiles.path.grid)


def _written(tiles: StatementTiles) -> frozenset[str] | None:
    """Return the labels by which a private copy is written.

    None if the statement writes no copy.
    """
    if "@" not in tiles.name:
        return None
    return frozenset(label for one in tiles.statement.writes.indices for label in one.labels)


def _mask(
    tiles: StatementTiles,
    active: isl.Set,
    some: isl.Set,
    context: isl.Set,
    size_of: Mapping[str, str],
    dims: Collection[str] | None,
) -> tuple[tuple[Condition, ...], ...]:
    known = addressed_lanes_of(tiles, some).intersect_params(context)
    active = active.intersect_params(context)
    if dims is not None:
        known, active = _shadow(known, tiles, dims), _shadow(active, tiles, dims)
    left = active.gist(known).coalesce()

    def needed(part: isl.BasicSet) -> tuple[Condition, ...]:
        found, computed = _conditions(part, known, tiles)
        if computed is not None:
            found += _beyond(computed, tiles, active, size_of, dims)
        return _needed(found, known, tiles, size_of)

    parts = left.get_basic_sets()
    if len(parts) == 1:
        return (needed(parts[0]),)
    hull = left.simple_hull()
    if hull.to_set().intersect(known).is_equal(left.intersect(known)):
        return (needed(hull),)
    ways = tuple(map(needed, parts))
    return ways if all(ways) else ((),)


def _shadow(of: isl.Set, tiles: StatementTiles, dims: Collection[str]) -> isl.Set:
    """Return what holds for some lane dims if the lanes along the others may be any."""
    for position, dim in enumerate(lane_dims(tiles), len(tiles.dims)):
        if dim.name not in dims:
            of = of.eliminate(isl.dim_type.set, position, 1)
    return of


def _needed(
    found: list[Affine], known: isl.Set, tiles: StatementTiles, size_of: Mapping[str, str]
) -> tuple[Condition, ...]:
    """Return the conditions that the others do not imply, with multiples that make them hold."""
    of = named_affs(known)
    kept = list(found)
    for one in found:
        broken = to_aff(one, of).lt_set(of[0])
        for other in kept:
            if other is not one:
                broken = broken & to_aff(other, of).ge_set(of[0])
        if known.is_disjoint(broken):
            kept.remove(one)
    return tuple(_with_multiple(one, known, of, tiles, size_of) for one in kept)


def _with_multiple(
    value: Affine, known: isl.Set, of: Affs, tiles: StatementTiles, size_of: Mapping[str, str]
) -> Condition:
    """Return the condition, with the multiple of a size that makes it hold always, if there is one.

    This is tried for conditions of the form `label < size` only.
    """
    dims = {dim.name: dim for dim in lane_dims(tiles)}
    for name in value.labels:
        dim = dims.get(name)
        if dim is None or not dim.is_index:
            continue
        size = size_of.get(dim.label)
        if size is None:
            continue  # the number of blocks of partial results is not a parameter
        if value != Affine(((name, -1), (size, 1)), -1) and value != Affine(
            ((size, 1), (name, -1)), -1
        ):
            continue
        broken = to_aff(value, of).lt_set(of[0])
        if dim.lanes.count is None:
            end = of[start_name(dim.label)] + of[size]
            is_whole = dim.lanes.step == 1 and known.is_disjoint(of[name].lt_set(end) & broken)
            return Condition(value, size, 0) if is_whole else Condition(value)
        candidates = [axis.step for axis in tiles.path.grid if axis.label == dim.label]
        for step in dict.fromkeys((dim.lanes.span, *candidates)):
            if step is None or step < 2:
                continue
            whole = of[size].scale_down_val(isl.Val(step)).floor().scale_val(isl.Val(step))
            even = of[size].eq_set(whole)
            if known.is_disjoint(even & broken) and not known.is_disjoint(even):
                return Condition(value, size, step)
    return Condition(value)


def named_affs(of: isl.Set) -> Affs:
    """Return the functions of dims and parameters by name; grid axes have their own names."""
    return AffsOfSpace(of.get_space(), is_marked=True)


def _conditions(
    part: isl.BasicSet, known: isl.Set, tiles: StatementTiles
) -> tuple[list[Affine], isl.Set | None]:
    """Return the conditions, and the lanes that then compute if these are more than are needed."""
    found: list[Affine] = []
    computed, is_more = isl.BasicSet.universe(part.get_space()), False
    for one in part.get_constraints():
        if not _has_remainder(one):
            found.extend(_affines(one))
            computed = computed.add_constraint(one)
            continue
        # This says which tiles exist, which is known: it does not depend on the lane.
        if known.is_subset(isl.BasicSet.from_constraint(one).to_set()):
            continue
        if not _is_about_copy(one, tiles):
            raise PolyError(f"a mask with a remainder: {one}")
        # A private copy may hold more elements than are read.
        is_more = True
    return found, computed.to_set() & known if is_more else None


def _beyond(
    computed: isl.Set,
    tiles: StatementTiles,
    active: isl.Set,
    size_of: Mapping[str, str],
    dims: Collection[str] | None,
) -> Iterator[Affine]:
    """Yield the conditions for lanes that compute values which nobody reads."""
    every = tuple(dim.name for dim in lane_dims(tiles))
    lanes = every if dims is None else tuple(name for name in every if name in dims)
    inside = within_sizes(tiles, lanes, size_of, computed)
    for one in inside.gist(computed).simple_hull().get_constraints():
        if _has_remainder(one):
            raise PolyError(f"a mask with a remainder: {one}")
        yield from _affines(one)
    if dims is None and not reads_what_is_there(tiles, lanes, active, computed & inside):
        raise PolyError(f"lanes of '{tiles.name}' that nobody needs read what is not there")


def all_hold(
    tiles: StatementTiles,
    occurs: isl.Set,
    context: isl.Set,
    size_of: Mapping[str, str],
    when: Conditions,
) -> bool:
    """Return whether conditions hold for all instances of some tiles."""
    there = active_lanes(tiles).intersect_params(context)
    lanes = len(lane_dims(tiles))
    some = occurs.intersect(tiles.domain).reset_tuple_id().add_dims(isl.dim_type.set, lanes)
    there = there & _named(some, tiles)
    of, index = named_affs(there), label_indices(tiles)
    return all(
        there.is_disjoint(to_aff(one.over(size_of).substitute(index), of).lt_set(of[0]))
        for one in when
    )


def label_indices(tiles: StatementTiles) -> dict[str, Affine]:
    """Return the index of each label, over starts of tiles and lane dims."""
    named = {dim.lanes.axis: dim for dim in lane_dims(tiles)}
    found: dict[str, Affine] = {}
    for label in tiles.statement.labels:
        index = Affine(((start_name(label), 1),))
        for one in tiles.of_label(label):
            dim = named[one.axis]
            lane = Affine(((dim.name, 1),))
            index = lane if dim.is_index else index + lane.scaled(one.step)
        found[label] = index
    return found


def _has_remainder(one: isl.Constraint) -> bool:
    count = one.dim(isl.dim_type.div)
    return bool(count and one.involves_dims(isl.dim_type.div, 0, count))


def _affines(one: isl.Constraint) -> Iterator[Affine]:
    """Yield the expressions that are not negative exactly where a constraint holds."""
    value = _affine(one)
    yield value
    if one.is_equality():
        yield value.scaled(-1)


def _is_about_copy(one: isl.Constraint, tiles: StatementTiles) -> bool:
    """True if a condition is only about which elements of a private copy exist."""
    written = _written(tiles)
    if written is None:
        return False
    dims = lane_dims(tiles)
    first = len(tiles.dims)
    return all(
        dim.label in written
        for at, dim in enumerate(dims)
        if one.involves_dims(isl.dim_type.set, first + at, 1)
    )


def _affine(one: isl.Constraint) -> Affine:
    space = one.get_space()
    terms = [
        (
            dim_name(space, kind, i),
            one.get_coefficient_val(kind, i).to_python(),
        )
        for kind in (isl.dim_type.set, isl.dim_type.param)
        for i in range(space.dim(kind))
    ]
    named = tuple((name.removesuffix("@"), c) for name, c in terms if c)
    return Affine(named, one.get_constant_val().to_python())
