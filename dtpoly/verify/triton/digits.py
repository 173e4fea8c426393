"""Take a program id apart into coordinates, by lemmas about quotients and remainders.

A kernel computes the coordinates of its block from the program id by `//` and `%`. If the divisor
is a product of sizes, isl cannot say what comes of that, so it is said by two lemmas. Both are
proved in docs/proofs.md, and they are the only facts about a program id that isl is not asked.

Mixed radix: for p in [0, M * R), p // R is in [0, M) and p % R in [0, R), and the two together
determine p. Groups: if p // (c * R) is g, then p % (c * R) is below R * min(c, M - c * g), and the
two together determine p. The remainder of p by the number of rows of its group may stand in the
place of the row. No factor of a grid is negative: launching sees to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import combinations
from math import gcd

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Radix, Unread
from dtpoly.verify.algebra.proof_run import Lemma, ProofRun
from dtpoly.verify.algebra.regions import ID
from dtpoly.verify.algebra.shared_nodes import rank
from dtpoly.verify.algebra.whole import (
    Truth,
    Whole,
    both,
    compare,
    extreme,
    name,
    names_of,
    number,
    one_of,
    put_whole,
    within,
)

Part = Whole | Radix


@dataclass
class Digits:
    """The coordinates that were found so far, with their ranges.

    If a program id is divided by the same number again, it gives the same two coordinates.
    """

    run: ProofRun
    ranges: dict[str, Truth] = field(default_factory=dict[str, Truth])
    cuts: dict[tuple[str, Whole], tuple[Part, Part]] = field(
        default_factory=dict[tuple[str, Whole], tuple[Part, Part]]
    )
    whole: dict[str, Radix] = field(default_factory=dict[str, Radix])
    # Products of extents. They are not larger than the grid, if there are programs at all.
    divisors: set[Whole] = field(default_factory=set[Whole])
    # A divisor may be a group of blocks, or all blocks of some labels. True if the first is tried
    # first.
    is_group_first: bool = False
    # Program ids, and parts of them, that were divided by a product of extents.
    mixed: set[str] = field(default_factory=set[str])
    # Program ids of groups; and of which of them a kernel takes the last coordinate by a remainder
    # of their own, and of which by one of the whole program id.
    groups: set[str] = field(default_factory=set[str])
    straight: set[str] = field(default_factory=set[str])
    turned: set[str] = field(default_factory=set[str])
    # The ranges of program ids that are also used as numbers.
    numbers: dict[str, Truth] = field(default_factory=dict[str, Truth])

    def of(self, axis: str, extents: tuple[Whole, ...]) -> Part:
        """Return the program id of an axis of the grid."""
        if axis not in self.whole:
            self.whole[axis] = Radix(self.run.fresh(axis), extents)
        return self.plain(self.whole[axis])

    def plain(self, radix: Radix) -> Part:
        """Return a plain coordinate if the radix has at most one extent; else the radix itself."""
        match radix.extents:
            case ():
                return number(0)
            case (extent,):
                self.ranges.setdefault(radix.name, within(number(0), name(radix.name), extent))
                return name(radix.name)
            case _:
                return radix

    def number(self, part: Part) -> Whole:
        """Return a program id as a number: all that is known is that each program has its own."""
        if isinstance(part, Whole):
            return part
        if part not in self.whole.values():
            raise Unread(0, "a part of a program id is used as a number")
        one = id_name(part)
        self.run.assume(Lemma.OWN_NUMBER, one, part.extents)
        self.numbers[one] = within(number(0), name(one), programs_of(part.extents))
        return name(one)

    def in_coordinates(self, offset: Whole, shape: Sequence[Whole]) -> Whole:
        """Return an offset with program ids as what they are of the coordinates that were found.

        A program id of several sizes is no index of an axis of one of these; but p is p // R times
        R, and p % R. It stays where an axis has an index for each program.
        """
        for radix in self.whole.values():
            one = id_name(radix)
            sizes = [extent for extent in radix.extents if extent.constant is None]
            is_index = not {_product(radix.extents), programs_of(radix.extents)}.isdisjoint(shape)
            if one in names_of(offset) and len(sizes) > 1 and not is_index:
                found = self._together(radix)
                offset = offset if found is None else put_whole(offset, {one: found})
        return offset

    def _together(self, part: Part) -> Whole | None:
        """Return what a program id is of its coordinates; None if it was not divided so."""
        if isinstance(part, Whole):
            return part
        for (of, divisor), (high, low) in self.cuts.items():
            if of == part.name and of in self.mixed:
                first, second = self._together(high), self._together(low)
                return None if first is None or second is None else first * divisor + second
        return None

    def cut(self, radix: Radix, divisor: Whole) -> tuple[Part, Part] | None:
        """Return what `//` and `%` by a divisor give; None if no lemma says it."""
        key = (radix.name, divisor)
        if key not in self.cuts:
            if any(of == radix.name for of, _ in self.cuts):
                return None
            parts = self._parts(radix, divisor)
            if parts is None:
                return None
            self.cuts[key] = parts
        return self.cuts[key]

    def quotient(self, radix: Radix, divisor: Whole) -> Part | None:
        """Return what `//` by a divisor gives; None if no lemma says it."""
        parts = self.cut(radix, divisor)
        return None if parts is None else parts[0]

    def remainder(self, radix: Radix, divisor: Whole) -> Part | None:
        """Return what `%` by a divisor gives; None if no lemma says it."""
        parts = self.cut(radix, divisor)
        if parts is None:
            return self._turned(radix, divisor)
        if radix.name in self.turned:
            return None  # two numbers, of which each could be the coordinate
        self.straight.add(radix.name)
        return parts[1]

    def _turned(self, radix: Radix, divisor: Whole) -> Part | None:
        """Return the remainder of a whole program id by the number of rows of its group.

        In the place of the remainder of what the group leaves, it is a coordinate, too: in each
        column of the group the rows begin elsewhere, and each of them comes once (lemma 2).
        """
        for (of, _), (_, left) in self.cuts.items():
            is_group = of == radix.name and isinstance(left, Radix) and left.name in self.groups
            if not is_group or not isinstance(left, Radix) or left.extents[-1] != divisor:
                continue
            parts = self.cut(left, divisor)
            if parts is None or left.name in self.straight:
                return None
            self.run.assume(Lemma.TURNED, radix.name, left.name, divisor)
            self.turned.add(left.name)
            return parts[1]
        return None

    def is_below(self, value: Whole, divisor: Whole) -> bool:
        """Return whether a value is a coordinate below a divisor: then it is its own remainder."""
        one = value.plain
        return one in self.ranges and self.ranges[one] == within(number(0), value, divisor)

    def _parts(self, radix: Radix, divisor: Whole) -> tuple[Part, Part] | None:
        # If extents are constants, a divisor may be a product of some of them and, by chance, the
        # size of a group, too.
        ways = [self._mixed, self._grouped]
        for way in reversed(ways) if self.is_group_first else ways:
            parts = way(radix, divisor)
            if parts is not None:
                return parts
        return None

    def _mixed(self, radix: Radix, divisor: Whole) -> tuple[Part, Part] | None:
        for below in (*_some_of(radix.extents), radix.extents):
            above = _without(radix.extents, below)
            if divisor == _product(below):
                self.run.assume(Lemma.MIXED_RADIX, radix.name, divisor, above, below)
                self.mixed.add(radix.name)
                self.divisors |= {_product(some) for some in (*_some_of(below), below)}
                high = self.plain(Radix(self.run.fresh("program"), above))
                return high, self.plain(Radix(self.run.fresh("program"), below))
        return None

    def _grouped(self, radix: Radix, divisor: Whole) -> tuple[Part, Part] | None:
        for below in _some_of(radix.extents):
            above = _without(radix.extents, below)
            group = _quotient(divisor, _product(below))
            if len(above) == 1 and group is not None:
                (extent,) = above
                self.run.assume(Lemma.GROUPS, radix.name, divisor, group, extent, below)
                coordinate = self.run.fresh("program")
                groups = (extent + group - 1).floor(group)
                self.ranges[coordinate] = within(number(0), name(coordinate), groups)
                rest = extreme(False, extent - name(coordinate) * group, number(group))
                left = Radix(self.run.fresh("program"), (*below, rest))
                self.groups.add(left.name)
                return name(coordinate), self.plain(left)
        return None

    def facts(self) -> Truth:
        """Return the fact that there are programs, unless some extent is 0."""
        return both(
            *(
                one_of(
                    compare(">=", programs_of(radix.extents), number(1)),
                    *(compare("<=", extent, number(0)) for extent in radix.extents),
                )
                for radix in self.whole.values()
                if id_name(radix) in self.numbers
            )
        )

    def all(self) -> dict[str, Truth]:
        """Return the ranges of all coordinates of a program, also of those that nothing uses."""
        cut = {of for of, _ in self.cuts}
        parts = [p for pair in self.cuts.values() for p in pair if isinstance(p, Radix)]
        for radix in (*self.whole.values(), *parts):
            if radix.name not in cut and len(radix.extents) > 1:
                for extent in radix.extents:
                    one = self.run.fresh("program")
                    self.ranges[one] = within(number(0), name(one), extent)
        return self.ranges


def id_name(radix: Radix) -> str:
    """Return the name of a program id that is used as a number."""
    return ID + radix.name.replace(".", "_")


def programs_of(extents: tuple[Whole, ...]) -> Whole:
    """Return the product of some numbers.

    If several of them are no constants, sets cannot express the product, so it gets a name that is
    made of its factors. Constant divisors are taken out first: so a grid of `2 * blocks` has the
    same product as one of 2 and `blocks`.
    """
    times, sizes = 1, list[Whole]()
    for extent in extents:
        if extent.constant is not None:
            times *= extent.constant
            continue
        divisor = gcd(*(coefficient for _, coefficient in extent.terms))
        times *= divisor
        sizes.append(extent.floor(divisor))
    if len(sizes) == 1:
        return sizes[0] * times
    if not sizes or not times:
        return number(times)
    return name(f"programs({' '.join(sorted(rank(one) for one in sizes))})") * times


def split(extent: Whole, factors: Mapping[Whole, tuple[Whole, ...]]) -> tuple[Whole, ...]:
    """Return the factors of a number of programs, where they are known.

    All of them but one are above 0, so none is negative if the product is not.
    """
    return tuple(one for one in factors.get(extent, (extent,)) if one.constant != 1)


def _without(extents: tuple[Whole, ...], some: tuple[Whole, ...]) -> tuple[Whole, ...]:
    """Return the extents without some of them; equal ones count as often as they occur."""
    left = list(extents)
    for extent in some:
        left.remove(extent)
    return tuple(left)


def _some_of(extents: tuple[Whole, ...]) -> list[tuple[Whole, ...]]:
    """Return all ways to choose some of the extents but not all, the smallest choices first."""
    return [one for count in range(len(extents)) for one in combinations(extents, count)]


def _product(extents: tuple[Whole, ...]) -> Whole:
    result = number(1)
    for extent in extents:
        result = result * extent
    return result


def _quotient(divisor: Whole, product: Whole) -> int | None:
    """Return the constant above 1 by which the product must be multiplied to give the divisor."""
    if not product.terms or not divisor.terms:
        return None
    first, second = divisor.terms[0][1], product.terms[0][1]
    factor = first // second if second and first % second == 0 else 0
    return factor if factor > 1 and product * factor == divisor else None
