"""Relates the steps of a scan: each one needs all that come before it along the label."""

from __future__ import annotations

from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import ScanSteps, Statement


def steps_after(statement: Statement, scan: ScanSteps) -> isl.Map:
    """Return the relation from each instance of a scan to those that come after it.

    Along the axes that it follows, each iteration has steps of its own, and these go on from there.
    """
    space = statement.domain.get_space().map_from_set()
    later = isl.Map.universe(space)
    for position, dim in enumerate(statement.dims):
        place = (isl.dim_type.in_, position, isl.dim_type.out, position)
        if dim in scan.follows:
            continue
        if dim != scan.label:
            later = later.equate(*place)
        elif scan.is_reverse:
            later = later.order_gt(*place)
        else:
            later = later.order_lt(*place)
    return later.intersect_domain(statement.domain).intersect_range(statement.domain)


def needed_steps(statement: Statement, scan: ScanSteps, wanted: isl.Map) -> isl.Map:
    """Return the relation to instances of a scan, with those that come before the wanted ones."""
    return (wanted | wanted.apply_range(steps_after(statement, scan).reverse())).coalesce()


def follows(statement: Statement, scan: ScanSteps, wanted: isl.Map) -> bool:
    """Return whether a scan may go on from one iteration of the last axis of a place to the next.

    `wanted` are the instances that each iteration wants. One iteration must lack steps that come
    before its own; all of that axis together must have every step from the first one on, and each
    in one iteration only. A scan of which the last step alone is wanted has no results to be wanted
    in between.
    """
    if statement.writes.array == scan.carry:
        return False
    if needed_steps(statement, scan, wanted).is_subset(wanted):
        return False
    last = wanted.dim(isl.dim_type.in_) - 1
    together = wanted.project_out(isl.dim_type.in_, last, 1)
    if not needed_steps(statement, scan, together).is_subset(together):
        return False
    again = wanted.apply_range(wanted.reverse())
    for position in range(last):
        again = again.equate(isl.dim_type.in_, position, isl.dim_type.out, position)
    return again.order_lt(isl.dim_type.in_, last, isl.dim_type.out, last).is_empty()
