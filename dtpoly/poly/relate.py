"""Relates each instance that writes a value to the instances that read the same element."""

from __future__ import annotations

from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Statement
from dtpoly.poly.spaces import computing


def read_pairs(value: Statement, reader: Statement, context: isl.Set) -> isl.Map:
    """Return the relation from an instance of the value to the instances that read its element."""
    with computing("what a statement reads"):
        written = value.writes.relation.intersect_domain(value.domain)
        pairs = isl.Map.empty(
            value.domain.get_space().map_from_domain_and_range(reader.domain.get_space())
        )
        for read in reader.reads:
            if read.array == value.writes.array:
                relation = read.relation.intersect_domain(reader.domain)
                pairs = pairs | written.apply_range(relation.reverse())
        return pairs.intersect_params(context)
