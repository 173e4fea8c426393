"""Tiles inside of a loop in, the iterations out in which no lane is idle for the loop's label."""

from __future__ import annotations

from collections.abc import Sequence

from dtpoly.poly.lazy import isl
from dtpoly.poly.masks import active_lanes, addressed_lanes, lane_dims
from dtpoly.poly.tiles import Tiles


def full_iterations(tiles: Sequence[Tiles], times: Sequence[isl.Map], label: str) -> isl.Set | None:
    """Where every tile is full along a label; None if lanes go along it nowhere.

    `times` gives for each statement `tile -> iteration`, outer loops first, the loop's own last.
    """
    full: isl.Set | None = None
    partial: isl.Set | None = None
    for one, time in zip(tiles, times, strict=True):
        if not one.of_label(label):
            continue
        wanted, active = addressed_lanes(one), active_lanes(one)
        # Only the loop's own label counts: what other labels leave idle is idle in every tile.
        others = [i for i, dim in enumerate(lane_dims(one)) if dim.label != label]
        for position in reversed(others):
            at = len(one.dims) + position
            wanted = wanted.project_out(isl.dim_type.set, at, 1)
            active = active.project_out(isl.dim_type.set, at, 1)
        idle = wanted - active
        count = idle.dim(isl.dim_type.set) - len(one.dims)
        idle = idle.project_out(isl.dim_type.set, len(one.dims), count)
        domain = one.domain
        not_full = idle.set_tuple_id(domain.get_tuple_id()).intersect(domain)
        is_full = (domain - not_full).apply(time)
        is_partial = not_full.apply(time)
        full = is_full if full is None else full | is_full
        partial = is_partial if partial is None else partial | is_partial
    if full is None or partial is None:
        return None
    return (full - partial).coalesce()
