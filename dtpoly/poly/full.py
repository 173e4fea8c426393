"""Finds the iterations of a loop in which no lane is idle along the label of the loop.

Where a range has a lower bound, the iterations at that bound are found, too: they come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from dtpoly.algorithm.expressions import Affine
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.masks import (
    active_lanes,
    addressed_lanes,
    label_indices,
    lane_dims,
    named_affs,
    shape,
)
from dtpoly.poly.model import is_ranged
from dtpoly.poly.remembered import remembered
from dtpoly.poly.spaces import to_aff
from dtpoly.poly.tiles import StatementTiles


def full_iterations(
    tiles: Sequence[StatementTiles], times: Sequence[isl.Map], label: str
) -> isl.Set | None:
    """Return the iterations in which every tile is full along a label.

    None if no lanes go along it. `times` gives for each statement the relation `tile -> iteration`,
    with outer loops first and the loop itself last.
    """
    # Most statements of a loop have the same tiles; a question about a set takes longer than its
    # text.
    distinct = dict[tuple[str, str, str], tuple[isl.Set, isl.Set, isl.Map]]()
    for one, time in zip(tiles, times, strict=True):
        if one.of_label(label):
            domain, not_full = one.domain.reset_tuple_id(), _not_full(one, label)
            plain = time.reset_tuple_id(isl.dim_type.in_)
            key = str(domain), str(not_full), str(plain)
            distinct.setdefault(key, (domain, not_full, plain))
    if not distinct:
        return None
    full = [(domain - not_full).apply(time) for domain, not_full, time in distinct.values()]
    partial = [not_full.apply(time) for _, not_full, time in distinct.values()]
    every, some = reduce(isl.Set.union, full), reduce(isl.Set.union, partial)
    found = (every - some).coalesce()
    if any(is_ranged(one.statement, label) for one in tiles):
        # At a bound of a range there are roundings in this set. isl loses tiles where they remain.
        return found.gist(every | some)
    return found


def first_iterations(
    tiles: Sequence[StatementTiles], times: Sequence[isl.Map], label: str
) -> isl.Set | None:
    """Return the iterations in which a lane is below a lower bound of a range of the label.

    They are the first ones: with a larger index a lower bound is kept all the more. None if the
    range of no statement has a lower bound. `times` is that of `full_iterations`.
    """
    found: isl.Set | None = None
    for one, time in zip(tiles, times, strict=True):
        bounds = [each for each in one.statement.taken if _coefficient(each, label) > 0]
        if not bounds or not one.of_label(label) or not is_ranged(one.statement, label):
            continue
        below = _outside(one, addressed_lanes(one), bounds).intersect(one.domain.reset_tuple_id())
        mine = below.set_tuple_id(one.domain.get_tuple_id()).apply(time)
        found = mine if found is None else found | mine
    return found


def _coefficient(of: Affine, label: str) -> int:
    return sum(factor for term, factor in of.terms if term == label)


def _not_full(tiles: StatementTiles, label: str) -> isl.Set:
    """Return the tiles that have an idle lane along a label, without the name of the statement."""
    active, domain = active_lanes(tiles), tiles.domain.reset_tuple_id()
    return remembered(
        lambda: (
            "not full",
            *(str(active), str(domain), tiles.dims, shape(tiles), label),
            tiles.statement.taken if is_ranged(tiles.statement, label) else (),
        ),
        lambda: _with_idle_lanes(tiles, active, domain, label),
    )


def _with_idle_lanes(
    tiles: StatementTiles, active: isl.Set, domain: isl.Set, label: str
) -> isl.Set:
    wanted = addressed_lanes(tiles)
    if is_ranged(tiles.statement, label):
        return _outside_of_range(tiles, wanted).intersect(domain)
    # Only the label of the loop counts: lanes that are idle along other labels are so in every
    # tile.
    others = [i for i, dim in enumerate(lane_dims(tiles)) if dim.label != label]
    for position in reversed(others):
        at = len(tiles.dims) + position
        wanted = wanted.project_out(isl.dim_type.set, at, 1)
        active = active.project_out(isl.dim_type.set, at, 1)
    idle = wanted - active
    count = idle.dim(isl.dim_type.set) - len(tiles.dims)
    return idle.project_out(isl.dim_type.set, len(tiles.dims), count).intersect(domain)


def _outside_of_range(tiles: StatementTiles, wanted: isl.Set) -> isl.Set:
    """Return the tiles with a lane that is outside of the range of a reduced label.

    Where sizes end does not count: at the end of a label, lanes have masks in all tiles. With tiles
    of their own there, too, there would be too many loops.
    """
    return _outside(tiles, wanted, tiles.statement.taken)


def _outside(tiles: StatementTiles, wanted: isl.Set, bounds: Iterable[Affine]) -> isl.Set:
    """Return the tiles with a lane for which not all of some expressions are at least 0."""
    of, index = named_affs(wanted), label_indices(tiles)
    inside = isl.Set.universe(wanted.get_space())
    for one in bounds:
        inside = inside & to_aff(one.substitute(index), of).ge_set(of[0])
    idle = wanted - inside
    return idle.project_out(isl.dim_type.set, len(tiles.dims), len(lane_dims(tiles)))
