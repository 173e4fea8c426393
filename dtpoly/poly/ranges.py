"""Computes between which numbers the indices of reads lie, from the ranges of their labels.

If the reads of a Func are skew, the copy of it computes the box that this gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from math import gcd

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.poly.lazy import isl
from dtpoly.poly.model import Access
from dtpoly.poly.spaces import Affs, affs, affs_of_pairs, to_aff


@dataclass(frozen=True, slots=True)
class Range:
    """The part of a label that one iteration needs: from an origin, so many at most."""

    origin: Affine
    extent: int | None


@dataclass(frozen=True, slots=True)
class Use:
    """A read, the iterations that have it, and the range of each label of its reader in one."""

    iterations: isl.Set
    read: Access
    ranges: Mapping[str, Range]

    @property
    def is_skew(self) -> bool:
        """Whether some index adds up labels of which none has the smallest possible step.

        `3 * x + 5 * y` takes some of the numbers between its least and its largest one, and which
        is told by roundings only. `2 * x + 4 * y` takes every second one, `x + 9 * y` has runs. A
        label that stays where it is within an iteration has no part in it.
        """
        return any(
            _is_skew([c for label, c in index.terms if self.ranges[label].extent != 1])
            for index in self.read.indices
        )


def may_be_skew(read: Access) -> bool:
    """Whether a read is skew if all of its labels go on within an iteration."""
    return any(_is_skew([c for _, c in index.terms]) for index in read.indices)


def _is_skew(coefficients: Sequence[int]) -> bool:
    return len(coefficients) > 1 and min(map(abs, coefficients)) > gcd(*coefficients)


def covering(uses: Sequence[Use], place: tuple[str, ...]) -> isl.Map:
    """`iteration -> elements`: a plain box around all that these reads of one array need.

    Each of its sides is one affine function of the iteration. Where there is none that is known to
    hold for all reads the box is open: the array itself ends there.
    """
    iterations = reduce(lambda a, b: a | b, (use.iterations for use in uses)).coalesce()
    anything = isl.Set.universe(uses[0].read.relation.get_space().range())
    every = isl.Map.from_domain_and_range(iterations, anything)
    of = affs_of_pairs(isl.Map.universe(every.get_space()).wrap())
    named: Affs = {0: of[0]} | dict(zip(place, of[1:], strict=False))
    box = isl.Map.universe(every.get_space()).wrap()
    first = len(place) + 1
    for at, element in enumerate(of[first:]):
        found = [_bounds(use.read.indices[at], use.ranges) for use in uses]
        least = _bound(min, [low for low, _ in found], iterations, place)
        largest = _bound(max, [high for _, high in found], iterations, place)
        if least is not None:
            box = box & element.ge_set(to_aff(least, named))
        if largest is not None:
            box = box & element.le_set(to_aff(largest, named))
    return every & box.unwrap()


def _bounds(index: Affine, ranges: Mapping[str, Range]) -> tuple[Affine | None, Affine | None]:
    """The least value of an index and its largest one, if there are such."""
    ends = [_ends(coefficient, ranges[label]) for label, coefficient in index.terms]
    constant = Affine((), index.constant)
    return _sum([low for low, _ in ends], constant), _sum([high for _, high in ends], constant)


def _ends(coefficient: int, one: Range) -> tuple[Affine | None, Affine | None]:
    first, last = one.origin.scaled(coefficient), None
    if one.extent is not None:
        last = first + Affine((), coefficient * (one.extent - 1))
    return (first, last) if coefficient > 0 else (last, first)


def _sum(parts: Iterable[Affine | None], total: Affine) -> Affine | None:
    for part in parts:
        if part is None:
            return None
        total = total + part
    return total


def _bound(
    choose: Callable[[Iterable[int]], int],
    bounds: Sequence[Affine | None],
    iterations: isl.Set,
    place: tuple[str, ...],
) -> Affine | None:
    """One side of all boxes: of each coefficient the least or the largest, if that holds.

    It does where no coordinate is negative. Bounds of one slope are not compared in any other way.
    """
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds):
        return None
    slopes = [dict(bound.terms) for bound in known]
    terms = ((name, choose(slope.get(name, 0) for slope in slopes)) for name in place)
    side = Affine(tuple((n, c) for n, c in terms if c), choose(one.constant for one in known))
    at = affs(iterations.get_space())
    of: Affs = {0: at[0]} | {name: at[name] for name in place}
    for bound in dict.fromkeys(known):
        inside, outside = (bound, side) if choose is min else (side, bound)
        beyond = to_aff(inside, of).lt_set(to_aff(outside, of))
        if not iterations.is_disjoint(beyond):
            return None
    return side
