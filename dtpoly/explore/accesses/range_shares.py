"""Estimates which share of a statement's instances or tiles the ranges of labels leave.

The cost model counts boxes. A range leaves a part of a box, such as half of it for a triangle. The
share is counted at evenly spaced tiles, so it is exact for few tiles, and near for many.
"""

from collections.abc import Iterator, Mapping, Sequence
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
    places = [tuple(_starts(known[label], lengths[label])) for label in labels]
    sums = [[*_sums(one, labels, places, known, lengths, which)] for one in taken]
    inside = [all(value >= 0 for value in values) for values in zip(*sums, strict=True)]
    return sum(inside) / len(inside) if inside else 1.0


def _starts(extent: int, span: int) -> Iterator[int]:
    """Yield the starts of tiles, or of some of them at even distances."""
    tiles = -(-extent // span)
    count = min(tiles, PLACES)
    return (span * ((2 * at + 1) * tiles // (2 * count)) for at in range(count))


def _sums(
    one: Affine,
    labels: tuple[str, ...],
    places: Sequence[tuple[int, ...]],
    extents: Mapping[str, int],
    spans: Mapping[str, int],
    which: TakenTiles,
) -> Iterator[int]:
    """Yield for each combination of tiles what a sum is at most there, or at least.

    It is a sum of what each label contributes, which is computed once for each tile of the label.
    """
    factors = dict(one.linear)
    base = one.constant
    for name, coefficient in factors.items():
        if name not in labels:
            base += coefficient * extents.get(name.removeprefix(SIZE), 0)
    shares: list[tuple[int, ...]] = []
    for label, starts in zip(labels, places, strict=True):
        by, extent, span = factors.get(label, 0), extents[label], spans[label]
        is_at_end = (by > 0) == (which is TakenTiles.SOME)
        last = (min(span, extent - start) - 1 if is_at_end else 0 for start in starts)
        shares.append(tuple(by * (start + far) for start, far in zip(starts, last, strict=True)))
    return (base + sum(values) for values in product(*shares))
