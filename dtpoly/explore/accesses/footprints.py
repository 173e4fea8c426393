"""Counts the elements that a load or store touches while some axes of the grid are fixed."""

from collections.abc import Mapping, Sequence
from math import prod

from dtpoly.algorithm.expressions import Affine
from dtpoly.explore.accesses.reached_indices import Interval, interval_of, interval_of_term
from dtpoly.explore.accesses.streams import AccessStream
from dtpoly.explore.accesses.tile_counts import reach


def footprint(stream: AccessStream, fixed: Mapping[str, Interval]) -> int:
    """Return how many elements a stream touches if some axes of the grid are fixed."""
    reached = reach(stream.walk, fixed)
    return elements(stream.indices, stream.shape, reached)


def elements(
    indices: tuple[Affine, ...], shape: tuple[int, ...], reached: Mapping[str, Interval]
) -> int:
    """Return how many elements there are at indices whose labels are in intervals."""
    if any(reached[label].count == 0 for index in indices for label in index.labels):
        return 0
    found = 1
    left = list(zip(indices, shape, strict=True))
    while left:
        group = [left.pop(0)]
        while more := [one for one in left if _meet(one[0], group)]:
            group += more
            left = [one for one in left if one not in more]
        found *= _distinct(group, reached)
    return found


def _meet(index: Affine, group: Sequence[tuple[Affine, int]]) -> bool:
    labels = set(index.labels)
    return any(labels & set(other.labels) for other, _ in group)


def _distinct(group: Sequence[tuple[Affine, int]], reached: Mapping[str, Interval]) -> int:
    """Count the elements along axes of a tensor whose indices have labels in common."""
    if len(group) == 1:
        (index, extent) = group[0]
        return _values(index, extent, reached)
    labels = {label for index, _ in group for label in index.labels}
    many = 1
    for label in labels:
        many *= reached[label].count
    along = 1
    for index, extent in group:
        along *= _values(index, extent, reached)
    return min(many, along)


def _values(index: Affine, extent: int, reached: Mapping[str, Interval]) -> int:
    """Count the values of an index that are inside the tensor.

    Of an index that is data, nothing is known. It is counted as if it were another one for each
    index of its labels, as long as the axis has others: a random access.
    """
    if not index.terms:
        return 1
    if index.data is not None:
        return min(prod(reached[label].count for label in index.labels), extent)
    intervals = {term: interval_of_term(term, reached.__getitem__) for term, _ in index.terms}
    whole = interval_of(index, reached.__getitem__)
    low, high = whole.low, whole.high
    filled, is_dense = 1, True
    for term, factor in sorted(index.terms, key=lambda term: abs(term[1])):
        is_dense = is_dense and abs(factor) <= filled
        filled += abs(factor) * (intervals[term].count - 1)
    if is_dense:
        return Interval(low, high).meet(Interval(0, extent - 1)).count
    if len(index.terms) == 1:
        ((_, factor),) = index.terms
        step = abs(factor)
        first = low if low >= 0 else low + -(low // step) * step
        return max((min(high, extent - 1) - first) // step + 1, 0)
    # A sum with holes is a set of values, kept as one bit for each value.
    bits = 1
    for term, factor in index.terms:
        bits = _summed(bits, abs(factor), intervals[term].count)
    kept = bits >> max(-low, 0)
    return (kept & ((1 << max(extent - max(low, 0), 0)) - 1)).bit_count()


def _summed(bits: int, factor: int, count: int) -> int:
    """Return the set of all sums of a value and one of the first `count` multiples of a number."""
    done, found = 1, bits
    while done < count:
        more = min(done, count - done)
        found |= found << (factor * more)
        done += more
    return found
