"""Estimates which share of a statement's instances or tiles the ranges of labels leave.

The cost model counts boxes. A range leaves a part of a box, such as half of it for a triangle. The
share is counted at evenly spaced tiles, so it is exact for few tiles, and near for many.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache
from itertools import product

from dtpoly.algorithm.expressions import Affine

# How many tiles are looked at along each label: at most three labels, at 32 places each.
PLACES = 32
SIZE = "N_"  # this prefix marks the parameters of sizes


class TakenTiles(Enum):
    """The tiles that are counted: those with an index in range, or with all of them in range."""

    SOME = 0
    ALL = 1


@lru_cache(maxsize=4096)
def share(
    taken: tuple[Affine, ...],
    extents: tuple[tuple[str, int], ...],
    spans: tuple[tuple[str, int], ...],
    which: TakenTiles,
) -> float:
    """Return which share of tiles counts; a span of 1 along each label counts instances."""
    known, lengths = dict(extents), dict(spans)
    labels = tuple(dict.fromkeys(one for each in taken for one in each.labels if one in lengths))
    if not labels or any(not known[label] for label in labels):
        return 1.0
    counted = total = 0
    for starts in product(*(_starts(known[label], lengths[label]) for label in labels)):
        at = dict(zip(labels, starts, strict=True))
        total += 1
        counted += all(_holds(one, at, known, lengths, which) for one in taken)
    return counted / total


def _starts(extent: int, span: int) -> Iterator[int]:
    """Yield the starts of tiles, or of some of them at even distances."""
    tiles = -(-extent // span)
    count = min(tiles, PLACES)
    return (span * ((2 * at + 1) * tiles // (2 * count)) for at in range(count))


def _holds(
    one: Affine,
    at: Mapping[str, int],
    extents: Mapping[str, int],
    spans: Mapping[str, int],
    which: TakenTiles,
) -> bool:
    """Return whether a sum is at least 0 somewhere in a tile, or everywhere."""
    value = one.constant
    for name, coefficient in one.linear:
        if name in at:
            last = min(spans[name], extents[name] - at[name]) - 1
            ends = (coefficient * at[name], coefficient * (at[name] + last))
            value += max(ends) if which is TakenTiles.SOME else min(ends)
        else:
            value += coefficient * extents.get(name.removeprefix(SIZE), 0)
    return value >= 0
