"""Relates the steps of a scan: each one needs all that come before it along the label."""

from __future__ import annotations

from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import ScanSteps, Statement


def steps_after(statement: Statement, scan: ScanSteps) -> isl.Map:
    """Return the relation from each instance of a scan to those that come after it."""
    space = statement.domain.get_space().map_from_set()
    later = isl.Map.universe(space)
    for position, dim in enumerate(statement.dims):
        place = (isl.dim_type.in_, position, isl.dim_type.out, position)
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
