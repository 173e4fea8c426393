"""Describe sets of points by formulas; proofs ask whether such a set is empty (see `proof_run`).

A region is a tree whose leaves are formulas; the names in these are its axes. Nothing is computed
before the question is asked, and then it is computed by whoever answers: isl in a proof, or a
certificate in its checker. The answer "not empty" proves nothing. It leads to a
finding, or to another attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.whole import (
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
    put_truth,
    put_whole,
)

# The names of program ids begin so.
ID = "id of "
# A proof comes to the same set by several ways: of the sets that were made lately, as many as this
# are kept, so that the set is the same object, and what isl found of it is known.
LATELY = 2_000


class NotAffine(Exception):
    """Raised for a product of two names, which the language of sets cannot express."""


@dataclass(frozen=True, eq=False)
class Region:
    """A set of points: each point gives values to these names, and all other names are free."""

    names: frozenset[str]

    def intersect(self, other: Region) -> Region:
        """Return the points that are in both sets."""
        return _meet(self, other)

    def union(self, other: Region) -> Region:
        """Return the points that are in at least one of the sets."""
        return _join(self, other)

    def subtract(self, other: Region) -> Region:
        """Return the points that are not in the other set."""
        return _minus(self, other)


@dataclass(frozen=True, eq=False)
class WhereTrue(Region):
    """The points where a formula holds."""

    truth: Truth


@dataclass(frozen=True, eq=False)
class Meet(Region):
    """The points that are in both sets."""

    left: Region
    right: Region


@dataclass(frozen=True, eq=False)
class Join(Region):
    """The points that are in at least one of two sets."""

    left: Region
    right: Region


@dataclass(frozen=True, eq=False)
class Minus(Region):
    """The points of the left set that are not in the right one."""

    left: Region
    right: Region


@dataclass(frozen=True, eq=False)
class Without(Region):
    """A projection: the points that are in the set for some values of the `gone` names."""

    of: Region
    gone: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Twins(Region):
    """Pairs of points of one set that differ in some names, and agree in all others.

    `new` has for each name in which they differ the name that the second point uses for it.
    """

    of: Region
    new: tuple[tuple[str, str], ...]

    @property
    def apart(self) -> Truth:
        """Return the condition that the two points differ."""
        return one_of(*(compare("!=", name(old), name(new)) for old, new in self.new))


@lru_cache(LATELY)
def _meet(left: Region, right: Region) -> Region:
    return Meet(left.names | right.names, left, right)


@lru_cache(LATELY)
def _join(left: Region, right: Region) -> Region:
    return Join(left.names | right.names, left, right)


@lru_cache(LATELY)
def _minus(left: Region, right: Region) -> Region:
    return Minus(left.names | right.names, left, right)


@lru_cache(LATELY)
def _without(of: Region, gone: tuple[str, ...]) -> Region:
    return Without(of.names.difference(gone), of, gone)


@cache
def set_of(of: Truth) -> Region:
    """Return the points where the formula holds."""
    if not is_affine(of):
        raise NotAffine(of)
    return WhereTrue(names_of(of), of)


@lru_cache(LATELY)
def formulas_of(of: Region) -> frozenset[Truth]:
    """Return formulas that hold on a set; a set that formulas alone say is where they all hold."""
    match of:
        case WhereTrue(truth=truth):
            return frozenset(truth.parts if isinstance(truth, All) else (truth,))
        case Meet(left=left, right=right):
            return formulas_of(left) | formulas_of(right)
        case Minus(left=left):
            return formulas_of(left)
        case _:
            return frozenset()


@lru_cache(LATELY)
def _is_said_by_formulas(of: Region) -> bool:
    match of:
        case WhereTrue():
            return True
        case Meet(left=left, right=right):
            return _is_said_by_formulas(left) and _is_said_by_formulas(right)
        case _:
            return False


def is_plainly_subset(left: Region, right: Region) -> bool:
    """True if each formula that says what the right set is stands among those of the left one."""
    return _is_said_by_formulas(right) and formulas_of(right) <= formulas_of(left)


def everywhere() -> Region:
    """Return the set of all points."""
    return set_of(TRUE)


def nowhere() -> Region:
    """Return the empty set."""
    return set_of(FALSE)


def same(left: Whole, right: Whole) -> Region:
    """Return the points where two numbers are the same."""
    return set_of(compare("==", left, right))


def without(of: Region, names: Iterable[str]) -> Region:
    """Project some names out of a set: the result has a point where there is a value for each."""
    gone = tuple(one for one in dict.fromkeys(names) if one in of.names)
    return _without(of, gone) if gone else of


def with_parts(of: Region, change: Callable[[Region, tuple[str, ...]], Region]) -> Region:
    """Return a set that is made in the same way of changed parts.

    `change` also gets the names that are projected out of a part: in it they are other names than
    those outside. A formula has no parts, and those of twins are not the points of a set.
    """
    match of:
        case Meet(left=left, right=right):
            return change(left, ()).intersect(change(right, ()))
        case Join(left=left, right=right):
            return change(left, ()).union(change(right, ()))
        case Minus(left=left, right=right):
            return change(left, ()).subtract(change(right, ()))
        case Without(of=inner, gone=gone):
            return without(change(inner, gone), gone)
        case _:
            raise TypeError(of)


def renamed_region(of: Region, new: Mapping[str, str]) -> Region:
    """Return a set with other names, which occur nowhere yet, in the place of some."""
    if of.names.isdisjoint(new):
        return of
    match of:
        case WhereTrue(truth=truth):
            return set_of(put_truth(truth, {old: name(to) for old, to in new.items()}))
        case Twins():
            mine = [one for one in new if one in of.names]
            for one in mine:
                of = of.intersect(same(name(one), name(new[one])))
            return without(of, mine)
        case _:

            def renamed(part: Region, gone: tuple[str, ...]) -> Region:
                return renamed_region(part, {old: to for old, to in new.items() if old not in gone})

            return with_parts(of, renamed)


def without_ids(of: Region) -> Region:
    """Project the program ids out of a set.

    The coordinates of a program already say which program it is.
    """
    return without(of, sorted(one for one in of.names if one.startswith(ID)))


@cache
def is_affine(of: Whole | Truth) -> bool:
    """True if the number or formula has no product of names."""
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
    """Return what the formulas of a set say that names are, as numbers over the other names.

    The formulas are only read here; whoever uses the result proves it.
    """
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
    """Yield numbers that are 0 everywhere on a set."""
    match of:
        case WhereTrue(truth=truth):
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
