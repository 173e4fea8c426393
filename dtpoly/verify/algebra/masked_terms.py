"""Rewrite the algorithm's masks, so that a sum has 0 where its mask leaves an element out.

    exp(where(c, s, -inf) - m)  is  where(c, exp(s - m), 0)  if m is finite where c does not hold
    where(c, w, 0) * v          is  where(c, w * v, 0)       0 times a masked value is 0: a licence
    where(c and t, v, 0)        is  where(c, where(t, v, 0), 0)

Here c is a condition on indices, and t a test of data. A kernel that never comes to an element that
a mask leaves out has no such term at all, so its sum has to be compared with the right side.
"""

from __future__ import annotations

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.frame_terms import INFINITIES, NOTHING, ONE, ZERO, is_frame
from dtpoly.verify.algebra.frames import ODD, OF_MASKED
from dtpoly.verify.algebra.numerals import finite
from dtpoly.verify.algebra.proof_limits import check_time
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region, nowhere, set_of, without
from dtpoly.verify.algebra.rounding import split, without_may
from dtpoly.verify.algebra.term_building import plain
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Literal,
    Place,
    Stored,
    Term,
    Total,
    children,
    choose,
    rebuilt,
    renamed,
    walk,
)
from dtpoly.verify.algebra.value import reduced_bag

OF_MAXIMA = "the largest or smallest of some values is finite"
TRUTHS = (Literal("True"), Literal("False"))


@dataclass(frozen=True, slots=True)
class Unmasked:
    """A term in which masks stand around values, and the points where it may differ.

    At these points a maximum may be of nothing.
    """

    term: Term
    empty: Region


def unmasked(
    run: ProofRun, term: Term, where: Region, *, is_kernel: bool = False
) -> Unmasked | None:
    """Return a term with its masks moved outwards; None if it has none to move.

    Of a kernel's maxima nothing is taken for granted.
    """
    if not _has_mask(term):
        return None
    moving = _Moving(run, where.names, is_kernel=is_kernel)
    found = moving.term(term, where)
    if found == term:
        return None
    empty = nowhere()
    for one in moving.empty:
        empty = empty.union(one)
    return Unmasked(found, where.intersect(empty))


def _has_mask(term: Term) -> bool:
    """Return whether a condition chooses between a value and a number that may change nothing."""
    return any(
        isinstance(one, Choose) and any(map(_changes_nothing, (one.yes, one.no)))
        for one in walk(term)
    )


def _changes_nothing(term: Term) -> bool:
    return plain(term) in (ZERO, *INFINITIES, *TRUTHS)


class _Moving:
    """The rewriting of one term; `outer` are the names of the points where it is compared."""

    def __init__(self, run: ProofRun, outer: frozenset[str], *, is_kernel: bool) -> None:
        self.run = run
        self.outer = outer
        self.is_kernel = is_kernel
        self.empty: list[Region] = []
        self.done: dict[tuple[Term, Region], Term] = {}

    def term(self, term: Term, where: Region) -> Term:
        """Return the term with masks outside, where the names have the values of a set."""
        check_time()
        match term:
            case Choose(condition=condition, yes=yes, no=no):
                holds = set_of(condition)
                yes = self.term(yes, where.intersect(holds))
                return choose(condition, yes, self.term(no, where.subtract(holds)))
            case Total():
                new = renamed(self.run, term)
                inside = where.intersect(set_of(new.domain))
                return rebuilt(new, (self.term(new.body, inside),))
            case AppliedOperation(operation=operation, operands=operands):
                parts = tuple(self.term(one, where) for one in operands)
                return self.applied(operation, parts, where)
            case Stored():
                return term
            case _:
                return rebuilt(term, tuple(self.term(one, where) for one in children(term)))

    def applied(self, operation: str, parts: tuple[Term, ...], where: Region) -> Term:
        """Return an operation on parts whose masks are outside, with its own masks outside."""
        plainly = AppliedOperation(operation, parts)
        for at, one in enumerate(parts):
            if not isinstance(one, Choose) or not any(map(_changes_nothing, (one.yes, one.no))):
                continue
            if operation == "where" and at > 0:
                continue
            holds = set_of(one.condition)
            ways = ((one.yes, where.intersect(holds)), (one.no, where.subtract(holds)))
            sides = [self._side(operation, parts, at, side, there) for side, there in ways]
            if None in sides:
                continue
            yes, no = (side for side in sides if side is not None)
            if any(map(_changes_nothing, (yes, no))):
                return choose(one.condition, yes, no)
        return plainly

    def _side(
        self, operation: str, parts: tuple[Term, ...], at: int, side: Term, where: Region
    ) -> Term | None:
        """Return an operation where an operand is one side of its mask; None if that says nothing.

        If the side changes nothing, the result is carried out.
        """
        if not _changes_nothing(side):
            return self.applied(operation, (*parts[:at], side, *parts[at + 1 :]), where)
        side = plain(side)
        others = (*parts[:at], *parts[at + 1 :])
        word, kind = split(AppliedOperation(operation, parts))
        if word:
            return side if side == ZERO or not kinds.may_be_eight(kind) else None
        match operation:
            case "neg" if side in (ZERO, *INFINITIES):
                return _negated(side)
            case "exp" | "exp2" if side in (NOTHING, ZERO):
                return ZERO if side == NOTHING else ONE
            case "mul" if side == ZERO:
                return self._times_zero(others[0])
            case "mul" if side in INFINITIES:
                by = finite(others[0].text) if isinstance(others[0], Literal) else None
                return None if not by else side if by > 0 else _negated(side)
            case "add" | "sub" if side in INFINITIES:
                there = side if operation == "add" or at == 0 else _negated(side)
                return there if self._is_finite(others[0], where) else None
            case "maximum" | "minimum" if side == INFINITIES[operation == "minimum"]:
                return plain(others[0])
            case "and" | "or" | "where" if self.is_kernel or side not in TRUTHS:
                return None  # a kernel's may work bit by bit
            case "and" | "or":
                decides = TRUTHS[operation == "and"]
                return decides if side == decides else others[0]
            case "where":
                return parts[1 if side == TRUTHS[0] else 2]
            case _:
                return None

    def _times_zero(self, other: Term) -> Term | None:
        """Return 0 times a value, which is 0 by a licence if the value is no written number."""
        if any(isinstance(one, Literal) and one.text in ODD for one in walk(other)):
            return None
        if self.is_kernel and OF_MASKED not in self.run.licences:
            return None
        if not isinstance(other, Literal | Place):
            self.run.take(OF_MASKED)
        return ZERO

    def _is_finite(self, other: Term, where: Region) -> bool:
        """Return whether a value is finite on a set, but for points that are kept as empty."""
        bare = without_may(other)
        match bare:
            case Literal(text=text):
                return finite(text) is not None
            case Place():
                return True
            case _:
                pass
        if self.is_kernel or not is_frame(bare) or not isinstance(bare, Total):
            return False
        known = finite_where(self.run, bare, where)
        if known is None:
            return False
        if not self.run.is_subset(where, known):
            rest = where.subtract(known)
            self.empty.append(without(rest, sorted(rest.names - self.outer)))
        self.run.take(OF_MAXIMA)
        return True


def finite_where(run: ProofRun, frame: Total, where: Region) -> Region | None:
    """Return the points of a set where a maximum or minimum reduces a number; None if nowhere."""
    known: Region | None = None
    for piece, there in reduced_bag(run, frame.operation, frame, where):
        if is_number(piece.body):
            there = without(there, piece.bound)
            known = there if known is None else known.union(there)
    return known


def is_number(term: Term) -> bool:
    """Return whether a value is finite if data are: no infinity is written in it."""
    return not any(map(_is_odd, walk(term)))


def _is_odd(term: Term) -> bool:
    match term:
        case Literal(text=text):
            return text in ODD
        case Total(operation=operation):
            return operation != "add"
        case _:
            return False


def _negated(side: Term) -> Term:
    if side == ZERO:
        return side
    return INFINITIES[side == NOTHING]
