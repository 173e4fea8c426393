"""Builds isl's schedule tree for the loops of one program from its tiles.

`generation` gives the tree to isl, which makes loops from it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from functools import reduce

from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis
from dtpoly.poly.full import first_iterations, full_iterations
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import is_ranged
from dtpoly.poly.order import coordinate_map
from dtpoly.poly.remembered import remembered
from dtpoly.poly.spaces import affs
from dtpoly.poly.tiles import StatementTiles, unnamed


def schedule_of(
    tiles: Sequence[StatementTiles], flat: Set[str] = frozenset(), *, with_full: bool
) -> isl.Schedule:
    """Return a schedule tree with a band for each loop, under a mark that names its axis.

    `with_full` isolates the iterations in which no lane is idle, in innermost loops that are not
    over `flat` labels.
    """
    root = isl.Schedule.from_domain(_union([one.domain for one in tiles])).get_root()
    kept = None if not with_full else flat
    return _insert(root.child(0), tuple(tiles), 0, (), kept).get_schedule()


def in_sequence(tiles: Sequence[StatementTiles], depth: int = 0) -> list[Sequence[StatementTiles]]:
    """Divide the tiles into the parts that share no loop, in order."""
    steps = [one.path.steps[depth] for one in tiles if depth < len(one.path.steps)]
    if not steps or (isinstance(steps[0], Axis) and not steps[0].is_single):
        return [tiles]
    parts = [tiles] if isinstance(steps[0], Axis) else _groups(tiles, depth)
    return [inner for part in parts for inner in in_sequence(part, depth + 1)]


def _groups(tiles: Sequence[StatementTiles], depth: int) -> list[Sequence[StatementTiles]]:
    """Group the tiles that have the same position in a sequence, in the order of positions."""
    positions = sorted({int(str(one.path.steps[depth])) for one in tiles})
    return [[one for one in tiles if one.path.steps[depth] == at] for at in positions]


def _union(sets: Sequence[isl.Set]) -> isl.UnionSet:
    return reduce(lambda a, b: a.union(b), map(isl.UnionSet.from_set, sets))


def _insert(
    node: isl.ScheduleNode,
    tiles: Sequence[StatementTiles],
    depth: int,
    outer: tuple[str, ...],
    whole: Set[str] | None,
) -> isl.ScheduleNode:
    """Insert bands, marks and sequences below a node, and return the node.

    Loops over the `whole` labels get no loop of their own for full tiles; None stands for all
    labels. Neither do loops over boxes, which may begin and end within a tile.
    """
    steps = [one.path.steps[depth] for one in tiles if depth < len(one.path.steps)]
    if not steps:
        return node
    first = steps[0]
    if isinstance(first, int):
        return _sequence(node, tiles, depth, outer, whole)
    if first.is_single:
        return _insert(node, tiles, depth + 1, outer, whole)
    times = [_times(one, (*outer, first.name)) for one in tiles]
    is_innermost = not any(_is_loop(s) for one in tiles for s in one.path.steps[depth + 1 :])
    is_boxed = any(one.statement.is_boxed for one in tiles)
    loop = _BandLoop(first, depth, outer, whole)
    if whole is None or first.label in whole or not is_innermost or is_boxed:
        return _band(node, tiles, times, loop)
    low = None if first.is_backwards else first_iterations(tiles, times, first.label)
    if low is None or low.is_empty():
        return _band(node, tiles, times, loop, full_iterations(tiles, times, first.label))
    return _two_bands(node, tiles, times, loop, low)


@dataclass(frozen=True, slots=True)
class _BandLoop:
    """A loop that becomes a band: its axis, its place, and what is said of the loops inside."""

    axis: Axis
    depth: int
    outer: tuple[str, ...]
    whole: Set[str] | None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the loops around, and its own."""
        return (*self.outer, self.axis.name)


def _band(
    node: isl.ScheduleNode,
    tiles: Sequence[StatementTiles],
    times: Sequence[isl.Map],
    loop: _BandLoop,
    full: isl.Set | None = None,
) -> isl.ScheduleNode:
    """Insert the band of a loop, which has a loop of its own for full iterations if it has some."""
    node = node.insert_mark(isl.Id(loop.axis.name)).child(0)
    node = node.insert_partial_schedule(_values(tiles, times))
    node = node.band_member_set_ast_loop_type(0, isl.ast_loop_type.atomic)
    if full is not None and not full.is_empty():
        is_apart = any(is_ranged(one.statement, loop.axis.label) for one in tiles)
        options = _isolated(full, len(loop.outer), is_apart=is_apart)
        node = node.band_set_ast_build_options(options)
    inner = _insert(node.child(0), tiles, loop.depth + 1, loop.names, loop.whole)
    return inner.parent().parent()


def _two_bands(
    node: isl.ScheduleNode,
    tiles: Sequence[StatementTiles],
    times: Sequence[isl.Map],
    loop: _BandLoop,
    low: isl.Set,
) -> isl.ScheduleNode:
    """Insert a band for the iterations at the lower bound of a range, and then one for the others.

    isl would not make simple loops if it had to find both bounds of a range in one band.
    """
    filters = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, 2)
    parts = list[tuple[list[StatementTiles], list[isl.Map]]]()
    for is_low in (True, False):
        mine = [
            time.intersect_range(low) if is_low else time - time.intersect_range(low)
            for time in times
        ]
        some = [
            replace(one, domain=time.domain().coalesce())
            for one, time in zip(tiles, mine, strict=True)
        ]
        filters = filters.add(_union([one.domain for one in some]))
        parts.append((some, mine))
    node = node.insert_sequence(filters)
    for at, (some, mine) in enumerate(parts):
        full = full_iterations(some, mine, loop.axis.label) if at else None
        node = _band(node.child(at).child(0), some, mine, loop, full).parent().parent()
    return node


def _is_loop(step: Axis | int) -> bool:
    return isinstance(step, Axis) and not step.is_single


def _sequence(
    node: isl.ScheduleNode,
    tiles: Sequence[StatementTiles],
    depth: int,
    outer: tuple[str, ...],
    whole: Set[str] | None,
) -> isl.ScheduleNode:
    groups = _groups(tiles, depth)
    if len(groups) == 1:
        return _insert(node, tiles, depth + 1, outer, whole)
    filters = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, len(groups))
    for group in groups:
        filters = filters.add(_union([one.domain for one in group]).universe())
    node = node.insert_sequence(filters)
    for at, group in enumerate(groups):
        inner = _insert(node.child(at).child(0), group, depth + 1, outer, whole)
        node = inner.parent().parent()
    return node


def _times(one: StatementTiles, names: tuple[str, ...]) -> isl.Map:
    """Return the relation `tile -> iteration` of the named loops; a tile lies in one iteration."""
    place = coordinate_map(one.path, one.statement, names)
    place = place.align_params(one.instances.get_space()).reset_tuple_id(isl.dim_type.in_)
    # The answer is the same for every statement, so the question does not have its name.
    instances, tile_of, domain = unnamed(one)
    times = remembered(
        lambda: ("times", *(str(each) for each in (place, instances, tile_of, domain))),
        lambda: _times_of(place, instances, tile_of, domain),
    )
    return times.set_tuple_id(isl.dim_type.in_, one.domain.get_tuple_id())


def _times_of(place: isl.Map, instances: isl.Set, tile_of: isl.Map, domain: isl.Set) -> isl.Map:
    place = place.intersect_domain(instances)
    times = tile_of.reverse().apply_range(place).intersect_domain(domain)
    assert times.is_single_valued(), "lanes of a tile are in several iterations"
    return times.coalesce()


def _values(tiles: Sequence[StatementTiles], times: Sequence[isl.Map]) -> isl.MultiUnionPwAff:
    """Return the value of the innermost loop of `times`, for each tile."""
    parts = [_value(one, time) for one, time in zip(tiles, times, strict=True)]
    return isl.MultiUnionPwAff.from_union_pw_aff(reduce(lambda a, b: a.union_add(b), parts))


def _value(one: StatementTiles, times: isl.Map) -> isl.UnionPwAff:
    last = times.project_out(isl.dim_type.out, 0, times.dim(isl.dim_type.out) - 1)
    domain, plain = one.domain.reset_tuple_id(), last.reset_tuple_id(isl.dim_type.in_)
    start = remembered(lambda: ("start", str(domain), str(plain)), lambda: _start(domain, plain))
    if start is None:
        return isl.UnionPwAff.from_pw_aff(isl.PwMultiAff.from_map(last).get_at(0))
    # Where the value is the start of a tile it is written so, since isl then sees the step of the
    # loop.
    aff = isl.PwAff.from_aff(affs(one.domain.get_space())[start]).intersect_domain(one.domain)
    return isl.UnionPwAff.from_pw_aff(aff)


def _start(domain: isl.Set, times: isl.Map) -> str | int | None:
    """Return the name of the dim whose start is the value of a loop for each tile, or None."""
    seen = _seen(times)
    for name, start in affs(domain.get_space()).items():
        graph = isl.Map.from_aff(start)
        if name == 0 or not seen.is_subset(graph):
            continue
        if graph.intersect_domain(domain).is_equal(times):
            return name
    return None


def _seen(times: isl.Map) -> isl.Map:
    """Return one iteration, and not the one at 0 if there is another.

    Few starts of tiles have its value, so it rules out most candidates quickly.
    """
    positive = isl.Map.universe(times.get_space()).lower_bound_val(isl.dim_type.out, 0, isl.Val(1))
    later = times & positive
    return (times if later.is_empty() else later).sample().to_map()


def _isolated(full: isl.Set, depth: int, *, is_apart: bool) -> isl.UnionSet:
    """Return isl's option to put full iterations into a loop of their own, before the others.

    The others share a loop, unless `is_apart`. Then those at a bound of a range do not share one
    with those at the end of a size, since their loop would go over the full ones as well.
    """
    outer = full.dim(isl.dim_type.set) - 1
    assert outer == depth
    pair = isl.Map.from_range(full).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, outer)
    isolate = isl.UnionSet.from_set(pair.wrap().set_tuple_name("isolate"))
    rest = "{ separate[0] }" if is_apart else "{ atomic[0] }"
    full_ones = isl.UnionSet("{ [isolate[] -> atomic[0]] }")
    return isolate.union(full_ones).union(isl.UnionSet(rest))
