"""Formulas in, sets of points out, and the one question of proofs: whether a set is empty.

A region is a tree over formulas, and names are its axes; nothing is computed before the question,
and then by whoever answers (see `asking`). "Not empty" proves nothing: it ends in a finding, or in
another attempt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from dtpoly.frozen import dataclass
from dtpoly.verify import asking
from dtpoly.verify.terms import fresh
from dtpoly.verify.whole import (
    FALSE,
    TRUE,
    All,
    Atom,
    Either,
    Extreme,
    Floor,
    Not,
    Sign,
    Truth,
    Whole,
    compare,
    name,
    names_of,
    one_of,
    put_whole,
)

# What the names of program ids begin with.
ID = "id of "


class NotAffine(Exception):
    """A product of two names: sets have no word for it."""


@dataclass(frozen=True, eq=False)
class Region:
    """A set of points: values of these names, and any of all others."""

    names: frozenset[str]

    def intersect(self, other: Region) -> Region:
        """The points of both."""
        return Meet(self.names | other.names, self, other)

    def union(self, other: Region) -> Region:
        """The points of either."""
        return Join(self.names | other.names, self, other)

    def subtract(self, other: Region) -> Region:
        """The points that the other has not."""
        return Minus(self.names | other.names, self, other)

    def is_empty(self) -> bool:
        """True if it has no points."""
        return asking.is_empty(self)

    def is_disjoint(self, other: Region) -> bool:
        """True if they have no point together."""
        return self.intersect(other).is_empty()

    def is_subset(self, other: Region) -> bool:
        """True if the other has every point of this one."""
        return self.subtract(other).is_empty()


@dataclass(frozen=True, eq=False)
class Holds(Region):
    """Where a formula holds."""

    truth: Truth


@dataclass(frozen=True, eq=False)
class Meet(Region):
    """The points of both."""

    left: Region
    right: Region


@dataclass(frozen=True, eq=False)
class Join(Region):
    """The points of either."""

    left: Region
    right: Region


@dataclass(frozen=True, eq=False)
class Minus(Region):
    """The points of the first that the second has not."""

    left: Region
    right: Region


@dataclass(frozen=True, eq=False)
class Without(Region):
    """Where there are values of some names, such that it is a point."""

    of: Region
    gone: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Twins(Region):
    """Two points that are apart in some names, and in no others; the second has new ones."""

    of: Region
    new: tuple[tuple[str, str], ...]

    @property
    def apart(self) -> Truth:
        """That they are two."""
        return one_of(*(compare("!=", name(old), name(new)) for old, new in self.new))


@cache
def set_of(of: Truth) -> Region:
    """Where the formula holds."""
    if not is_affine(of):
        raise NotAffine(of)
    return Holds(names_of(of), of)


def everywhere() -> Region:
    """No condition."""
    return set_of(TRUE)


def nowhere() -> Region:
    """A condition that nothing meets."""
    return set_of(FALSE)


def same(left: Whole, right: Whole) -> Region:
    """Where two numbers are the same."""
    return set_of(compare("==", left, right))


def without(of: Region, names: Iterable[str]) -> Region:
    """The set with some names projected out: where there is a value for each."""
    gone = tuple(one for one in dict.fromkeys(names) if one in of.names)
    return Without(of.names.difference(gone), of, gone) if gone else of


def without_ids(of: Region) -> Region:
    """The set without program ids as numbers: the coordinates of a program say which it is."""
    return without(of, sorted(one for one in of.names if one.startswith(ID)))


def holds(condition: Truth, where: Region) -> bool:
    """True if the formula holds everywhere on the set."""
    return where.is_subset(set_of(condition))


def equal(left: Whole, right: Whole, where: Region) -> bool:
    """True if two numbers are the same everywhere on the set."""
    return left == right or where.is_subset(same(left, right))


def is_single(of: Region, bound: Iterable[str]) -> bool:
    """True if there is at most one choice of some names for each choice of the others.

    Program ids as numbers need not be looked at: the coordinates say which program it is.
    """
    new = {one: fresh(one) for one in bound if not one.startswith(ID)}
    if not new:
        return True
    of = without_ids(of)
    return Twins(of.names | {*new, *new.values()}, of, tuple(new.items())).is_empty()


@cache
def is_affine(of: Whole | Truth) -> bool:
    """True if it has no product of names."""
    match of:
        case Whole(terms=terms):
            return all(
                len(monomial) < 2 and all(_is_affine(atom) for atom in monomial)
                for monomial, _ in terms
            )
        case Sign(operand=operand) | Not(operand=operand):
            return is_affine(operand)
        case _:
            return all(is_affine(part) for part in of.parts)


def _is_affine(of: Atom) -> bool:
    match of:
        case str():
            return True
        case Floor(operand=operand):
            return is_affine(operand)
        case Extreme(left=left, right=right):
            return is_affine(left) and is_affine(right)
        case Either(condition=condition, yes=yes, no=no):
            return is_affine(condition) and is_affine(yes) and is_affine(no)


def said(of: Region) -> dict[str, Whole]:
    """What formulas of a set say that names are, over the others; it is not proved here."""
    found: dict[str, Whole] = {}
    for one in _equations(of):
        left = put_whole(one, found)
        for monomial, factor in left.terms:
            if len(monomial) != 1 or factor not in (1, -1) or not isinstance(monomial[0], str):
                continue
            rest = (left - name(monomial[0]) * factor) * -factor
            if monomial[0] not in names_of(rest):
                put = {monomial[0]: rest}
                found = {old: put_whole(value, put) for old, value in found.items()} | put
                break
    return found


def _equations(of: Region) -> Iterator[Whole]:
    """Numbers that are 0 on a set."""
    match of:
        case Holds(truth=truth):
            for part in truth.parts if isinstance(truth, All) else (truth,):
                if isinstance(part, Sign) and part.exactly:
                    yield part.operand
        case Meet(left=left, right=right):
            yield from _equations(left)
            yield from _equations(right)
        case Minus(left=left):
            yield from _equations(left)
        case Without(of=inner):
            yield from _equations(inner)
        case _:
            return
