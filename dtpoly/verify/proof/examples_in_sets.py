"""Find points of a set that may serve as examples of a mistake: small ones, and larger ones.

A mistake may show only where two sizes differ, or in the second tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import islpy as isl

from dtpoly.verify.algebra.sets import params_of, points_of, smallest
from dtpoly.verify.algebra.whole import Truth, compare, name, number

MOST_SIZES = 6
# Least sizes that are tried where smaller sizes show no difference.
LARGER = (9, 33, 129)


def examples_in(where: isl.Set) -> Iterator[dict[str, int] | None]:
    """Yield the smallest point, and that where sizes differ; None of an empty set."""
    return (smallest(one, _sizes_first(one)) for one in _tried(where))


def larger_examples_in(where: isl.Set) -> Iterator[dict[str, int] | None]:
    """Yield points where sizes are larger than a tile; None of an empty set."""
    return (smallest(one, _sizes_first(one)) for one in _larger(where))


def _tried(where: isl.Set) -> Iterator[isl.Set]:
    """Yield the set, and the part of it where sizes differ and are larger than 1, if possible."""
    yield where
    sizes = _sizes_first(where)[:MOST_SIZES]
    for one in sizes:
        where = _if_any(where, compare(">=", name(one), number(2)))
    for one, other in combinations(sizes, 2):
        where = _if_any(where, compare("<", name(one), name(other)))
    yield where


def _larger(where: isl.Set) -> Iterator[isl.Set]:
    """Yield parts of the set where sizes are larger than a tile.

    Some mistakes show in the second tile only.
    """
    for least in LARGER:
        larger = where
        for one in _sizes_first(where)[:MOST_SIZES]:
            larger = _if_any(larger, compare(">=", name(one), number(least)))
        yield larger


def _if_any(where: isl.Set, condition: Truth) -> isl.Set:
    there = where.intersect(points_of(condition))
    return where if there.is_empty() else there


def _sizes_first(where: isl.Set) -> list[str]:
    """Return the names of sizes, which come first in the search for a small point."""
    return [one for one in params_of(where) if _is_size(one)]


def _is_size(one: str) -> bool:
    return ".shape[" in one or one.endswith("_size")
