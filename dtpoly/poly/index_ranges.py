"""Computes the range of the indices of reads, from the ranges of their labels.

If the reads of a Func are skew, the private copy of the Func computes the box of these ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from math import gcd

from dtpoly.algorithm.expressions import Affine, Term, divided, division
from dtpoly.algorithm.index_ends import labels_of
from dtpoly.frozen import dataclass
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Access
from dtpoly.poly.spaces import Affs, affs, affs_of_pairs, to_aff


@dataclass(frozen=True, slots=True)
class Range:
    """The part of a label that one iteration needs: at most `extent` indices from an origin on."""

    origin: Affine
    extent: int | None


@dataclass(frozen=True, slots=True)
class Use:
    """A read, the iterations that make it, and the ranges of its labels in an iteration."""

    iterations: isl.Set
    read: Access
    ranges: Mapping[str, Range]

    @property
    def is_skew(self) -> bool:
        """True if some index adds up labels none of which has the smallest possible step.

        `3 * x + 5 * y` takes some of the numbers between its least and its largest value, and only
        roundings tell which. `2 * x + 4 * y` takes every second number, and `x + 9 * y` takes runs
        of numbers. A label that does not change within an iteration does not count. Quotients and
        remainders are terms like labels.
        """
        return any(
            _is_skew([c for term, c in index.terms if self._moves(term)])
            for index in self.read.indices
        )

    def _moves(self, term: Term) -> bool:
        """True if a term may change within an iteration."""
        return any(self.ranges[label].extent != 1 for label in labels_of(term))


def may_be_skew(read: Access) -> bool:
    """True if a read is skew when all of its labels change within an iteration."""
    return any(_is_skew([c for _, c in index.terms]) for index in read.indices)


def _is_skew(coefficients: Sequence[int]) -> bool:
    return len(coefficients) > 1 and min(map(abs, coefficients)) > gcd(*coefficients)


def covering(uses: Sequence[Use], place: tuple[str, ...]) -> isl.Map:
    """Return the relation from an iteration to a box around all elements that these reads need.

    The reads are of one array. Each side of the box is one affine function of the iteration. If no
    function is known to bound all reads, the box is open there, and the array itself ends it.
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
    """Return the least and the largest value of an index; None where there is no bound."""
    ends = [_ends(coefficient, _range_of(term, ranges)) for term, coefficient in index.terms]
    constant = Affine((), index.constant)
    return _sum([low for low, _ in ends], constant), _sum([high for _, high in ends], constant)


def _range_of(term: Term, ranges: Mapping[str, Range]) -> tuple[Affine | None, Affine | None]:
    """Return the least and the largest value of a term."""
    if isinstance(term, str):
        one = ranges[term]
        last = None if one.extent is None else one.origin + Affine((), one.extent - 1)
        return one.origin, last
    term = division(term)
    if term.operator == "%":
        return Affine(), Affine((), term.divisor - 1)
    low, high = (
        None if end is None else divided("//", end, term.divisor)
        for end in _bounds(term.inner, ranges)
    )
    return low, high


def _ends(
    coefficient: int, ends: tuple[Affine | None, Affine | None]
) -> tuple[Affine | None, Affine | None]:
    first, last = (None if end is None else end.scaled(coefficient) for end in ends)
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
    """Return one side of all boxes: the least or largest of each coefficient, if that is a bound.

    It is a bound where no coordinate is negative. Bounds are not compared in any other way.
    """
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds):
        return None
    if any(bound.divisions for bound in known):
        return known[0] if len(dict.fromkeys(known)) == 1 else None
    slopes = [dict(bound.linear) for bound in known]
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
