"""Take a reduction apart into the bag of values that it reduces, and a term into its cases.

`value` compares reductions as bags: the order of the values does not count, but how often a value
is in the bag may. A case is a part of a set on which a term has no choices left.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.identities import is_identity
from dtpoly.verify.algebra.numerals import is_in_range, is_single
from dtpoly.verify.algebra.proof_limits import check_time
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region, set_of
from dtpoly.verify.algebra.term_building import applied
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Literal,
    Pair,
    Stored,
    Term,
    Total,
    children,
    rebuilt,
    renamed,
    renamed_case,
)
from dtpoly.verify.algebra.whole import TRUE, Truth, both, negation


@dataclass(frozen=True)
class BagPiece:
    """A part of a bag: it has one value for each choice of the bound names within the domain."""

    bound: tuple[str, ...]
    domain: Truth
    body: Term
    # The bound names that reductions bind; the other bound names say which store is seen.
    own: tuple[str, ...] = ()


def pieces(run: ProofRun, operation: str, term: Term) -> list[BagPiece]:
    """Return the bag that a term reduces; a term that is no reduction is a bag of one value."""
    return list(_pieces(run, operation, term))


def _pieces(run: ProofRun, operation: str, term: Term) -> Iterator[BagPiece]:
    check_time()
    match term:
        case AppliedOperation(operation=own, operands=operands) if own == operation:
            for one in operands:
                yield from _pieces(run, operation, one)
        case Total(operation=own) if own == operation:
            inner = renamed(run, term)
            for piece in _pieces(run, operation, inner.body):
                where = both(inner.domain, piece.domain)
                names = (*inner.bound, *piece.own)
                yield BagPiece((*inner.bound, *piece.bound), where, piece.body, names)
        case Choose(condition=condition, yes=yes, no=no):
            for where, side in ((condition, yes), (negation(condition), no)):
                for piece in _pieces(run, operation, side):
                    yield BagPiece(piece.bound, both(where, piece.domain), piece.body, piece.own)
        case Stored(cases=cases):
            for bound, where, value in (renamed_case(run, one) for one in cases):
                for piece in _pieces(run, operation, value):
                    there = both(where, piece.domain)
                    yield BagPiece((*bound, *piece.bound), there, piece.body, piece.own)
        case AppliedOperation(operation="add", operands=(inner, Literal(text="0"))):
            # What a kernel adds 0 to so that Triton sees that it is computed; -0.0 counts as 0.
            yield from _pieces(run, operation, inner)
        case _ if is_identity(operation, term):
            pass
        case _:
            yield BagPiece((), TRUE, term)


@dataclass(frozen=True)
class Case:
    """A term without choices, and the set of points where it is what the whole term is."""

    bound: tuple[str, ...]
    where: Region
    term: Term


def cases(run: ProofRun, term: Term, where: Region) -> list[Case]:
    """Take a term apart into its cases on a set; choices inside of reductions stay as they are."""
    return [] if run.is_empty(where) else list(_cases(run, term, where, ()))


def _cases(run: ProofRun, term: Term, where: Region, bound: tuple[str, ...]) -> Iterator[Case]:
    """Yield the cases on a set that may have points.

    If a choice is decided in one way everywhere, the set is not cut, because it has fewer parts
    then.
    """
    check_time()
    split = _choice(term)
    match split:
        case None:
            yield Case(bound, where, _folded(term))
        case Choose(condition=condition, yes=yes, no=no):
            holds = set_of(condition)
            inside, outside = where.intersect(holds), where.subtract(holds)
            if run.is_empty(inside):
                yield from _cases(run, _swapped(term, split, no), where, bound)
            elif run.is_empty(outside):
                yield from _cases(run, _swapped(term, split, yes), where, bound)
            else:
                yield from _cases(run, _swapped(term, split, yes), inside, bound)
                yield from _cases(run, _swapped(term, split, no), outside, bound)
        case Stored(cases=stored):
            for case in stored:
                is_used = not where.names.isdisjoint(case[0])
                names, condition, value = renamed_case(run, case) if is_used else case
                inside = where.intersect(set_of(condition))
                if not run.is_empty(inside):
                    yield from _cases(run, _swapped(term, split, value), inside, (*bound, *names))


@cache
def _choice(term: Term) -> Choose | Stored | None:
    """Return the first choice in a term that is not inside of a reduction."""
    match term:
        case Choose() | Stored():
            return term
        case Total():
            return None
        case _:
            return next((found for one in children(term) if (found := _choice(one))), None)


def _swapped(term: Term, old: Term, new: Term) -> Term:
    if term == old:
        return new
    if isinstance(term, Total):
        return term
    parts = children(term)
    changed = tuple(_swapped(one, old, new) for one in parts)
    if changed == parts:
        return term
    if isinstance(term, AppliedOperation):
        return applied(term.operation, changed)
    return rebuilt(term, changed)


@cache
def _folded(term: Term) -> Term:
    """Carry out arithmetic on written numbers, if the result is exact.

    It is useful because masked lanes often come to 0 * 0. A number that is infinite in f32, or a
    nan, is left alone: infinity less itself is a nan.
    """
    match term:
        case AppliedOperation(operation=("add" | "sub" | "mul") as operation, operands=operands):
            left, right = (_folded(one) for one in operands)
            if isinstance(left, Literal) and isinstance(right, Literal):
                try:
                    a, b = Fraction(left.text), Fraction(right.text)
                except ValueError:
                    return AppliedOperation(operation, (left, right))
                value = a + b if operation == "add" else a - b if operation == "sub" else a * b
                if all(map(is_in_range, (a, b))) and is_single(value):
                    return Literal(str(value))
            return AppliedOperation(operation, (left, right))
        case Pair(value=value, place=place):
            return Pair(_folded(value), _folded(place))
        case _:
            return term
