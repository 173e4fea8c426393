"""Computes how far apart the two instances of a dependence are along each label."""

from __future__ import annotations

from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Statement
from dtpoly.poly.spaces import affs, computing, named_dims

Bounds = tuple[int, int]


def distances(relation: isl.Map, source: Statement, target: Statement) -> dict[str, Bounds]:
    """Return the smallest and the largest distance along each label that both statements have.

    A distance is target minus source; if both numbers are equal, it is constant. Labels whose
    distance depends on the sizes are left out.
    """
    with computing("the distances of a dependence"):
        before = [f"source {dim}" for dim in source.dims]
        after = [f"target {dim}" for dim in target.dims]
        pairs = named_dims(relation.wrap().flatten(), "", (*before, *after))
        of = affs(pairs.get_space())
        found: dict[str, Bounds] = {}
        for label in source.labels:
            if label in target.labels:
                way = of[f"target {label}"] - of[f"source {label}"]
                low, high = pairs.min_val(way), pairs.max_val(way)
                if low.is_int() and high.is_int():
                    found[label] = (low.to_python(), high.to_python())
        return found
