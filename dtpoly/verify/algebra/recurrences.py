"""Terms of recurrences h = a * h + b, and how two of them are compared.

A step is a pair of a factor and what is added. Two steps one after another are a step, too: first
(a, b) and then (c, d) is (a * c, b * c + d). This operation, `affine`, is associative, and its
operands may not change places. So a `Total` of steps has an order: its bound names go up, the first
one slowest; in a total by `affine back` they go down. A recurrence that begins with h is the second
part of `affine` of (anything, h) and its steps.

Two recurrences are equal if they begin alike and have the same steps in the same order. The steps
of a kernel are in the cut `16 * i + lane`, for example. Each of them is proved to be one step of
the algorithm, each step of the algorithm is proved to be there, and of two steps of the kernel the
one that comes first is proved to come first in the algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.identities import is_identity
from dtpoly.verify.algebra.pieces import BagPiece, cases
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region, same, set_of, without
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Literal,
    Pair,
    PlaceOf,
    Term,
    Total,
    pair,
    put,
    renamed,
)
from dtpoly.verify.algebra.unify import equal_to_0, guesses
from dtpoly.verify.algebra.whole import (
    TRUE,
    Truth,
    Whole,
    both,
    compare,
    name,
    one_of,
    put_whole,
)

# The totals of steps, and whether their names go up or down.
ORDERED = {"affine": 1, "affine back": -1}
JOINED = "affine"
# Steps that a kernel may have apart, such as those of its last tile.
MOST_PIECES = 12

Compare = Callable[[ProofRun, Term, Term, Region], object]


def steps(bound: str, domain: Truth, body: Term, is_reverse: bool) -> Term:
    """Return all steps of a domain, in the order of a name or against it."""
    return Total("affine back" if is_reverse else "affine", (bound,), domain, body)


def recurrence(first: Term, done: Term) -> Term:
    """Return the value after some steps, which begin from a first value."""
    return PlaceOf(AppliedOperation(JOINED, (Pair(Literal("0"), first), done)))


def step_of(term: Term) -> list[tuple[Term, Term]]:
    """Return the ways to read a term as `factor * before + added`: before, and the step."""
    found: list[tuple[Term, Term]] = []
    match term:
        case AppliedOperation(operation="add", operands=(left, right)):
            for product, added in ((left, right), (right, left)):
                match product:
                    case AppliedOperation(operation="mul", operands=(one, other)):
                        found.append((other, pair(one, added)))
                        found.append((one, pair(other, added)))
                    case _:
                        pass
        case AppliedOperation(operation="fma", operands=(one, other, added)):
            found += [(other, pair(one, added)), (one, pair(other, added))]
        case _:
            pass
    return found


def is_recurrence(term: Term) -> bool:
    """Return whether a term is the value after some steps."""
    match term:
        case PlaceOf(pair=AppliedOperation(operation="affine", operands=(Pair(), _))):
            return True
        case _:
            return False


@dataclass(frozen=True, slots=True)
class StepPiece:
    """Some steps of a recurrence: one for each choice of its names, in the order of these."""

    order: tuple[tuple[str, int], ...]  # names, each with 1 if it goes up, or -1
    domain: Truth
    body: Term


@dataclass(frozen=True, slots=True)
class StepSequence:
    """The first value of a recurrence, and its steps in their order."""

    first: Term
    pieces: tuple[StepPiece, ...]


def sequence_of(run: ProofRun, term: Term) -> StepSequence | None:
    """Return a recurrence as its first value and its steps; None if their order is not clear."""
    if is_recurrence(term):
        assert isinstance(term, PlaceOf)
        assert isinstance(term.pair, AppliedOperation)
        begun, done = term.pair.operands
        assert isinstance(begun, Pair)
        return _continued(run, begun.place, done)
    for before, step in step_of(term):
        if is_recurrence(before) or _has_steps(step):
            return _continued(run, before, step)
    return None


def _has_steps(term: Term) -> bool:
    return isinstance(term, Total) and term.operation in ORDERED


def _continued(run: ProofRun, before: Term, done: Term) -> StepSequence | None:
    earlier = sequence_of(run, before) or StepSequence(before, ())
    later = _pieces(run, done)
    return None if later is None else StepSequence(earlier.first, (*earlier.pieces, *later))


def _pieces(run: ProofRun, term: Term) -> tuple[StepPiece, ...] | None:
    match term:
        case Total(operation=operation) if operation in ORDERED:
            inner = renamed(run, term)
            found = _pieces(run, inner.body)
            if found is None or len(found) != 1:
                return None  # each choice of the names has several steps
            order = tuple((one, ORDERED[operation]) for one in inner.bound)
            own = found[0]
            return (StepPiece((*order, *own.order), both(inner.domain, own.domain), own.body),)
        case AppliedOperation(operation="affine", operands=(left, right)):
            one, other = _pieces(run, left), _pieces(run, right)
            return None if one is None or other is None else (*one, *other)
        case _:
            return (StepPiece((), TRUE, term),)


@dataclass(frozen=True, slots=True)
class StepPart:
    """A part of a piece whose step has no choices left, and where it is."""

    at: int  # the number of the piece
    piece: StepPiece
    bound: tuple[str, ...]
    where: Region
    body: Term


def _parts(run: ProofRun, pieces: Sequence[StepPiece], where: Region) -> list[StepPart]:
    """Return the parts of pieces that do something."""
    found: list[StepPart] = []
    for at, piece in enumerate(pieces):
        inside = where.intersect(set_of(piece.domain))
        for case in cases(run, piece.body, inside):
            if not _is_nothing(case.term):
                bound = (*(one for one, _ in piece.order), *case.bound)
                found.append(StepPart(at, piece, bound, case.where, case.term))
    return found


def _is_nothing(step: Term) -> bool:
    match step:
        case Pair(value=factor, place=added):
            return is_identity("mul", factor) and is_identity("add", added)
        case _:
            return False


def difference_of_steps(
    run: ProofRun, kernel: Term, algorithm: Term, where: Region, compare_terms: Compare
) -> str | None:
    """Return why two recurrences are not proved equal on a set; None if they are."""
    mine, again = sequence_of(run, kernel), sequence_of(run, kernel)
    theirs = sequence_of(run, algorithm)
    if mine is None or again is None or theirs is None:
        return "steps of a recurrence whose order is not clear"
    if compare_terms(run, mine.first, theirs.first, where) is not None:
        return "a recurrence begins with another value"
    if len(theirs.pieces) != 1 or len(theirs.pieces[0].order) != 1:
        return "steps of a recurrence in several parts"
    (wanted,) = theirs.pieces
    ((_, sign),) = wanted.order
    parts = _parts(run, mine.pieces, where)
    copies = _parts(run, again.pieces, where)
    if len(parts) > MOST_PIECES or [one.at for one in parts] != [one.at for one in copies]:
        return "steps of a recurrence in many parts"
    places = _matched(run, parts, wanted, where, compare_terms)
    if places is None:
        return "other steps of a recurrence"
    for one, place in zip(parts, places, strict=True):
        for copy, original, other in zip(copies, parts, places, strict=True):
            names = dict(zip(original.bound, map(name, copy.bound), strict=True))
            later = put_whole(other, names)
            wrong = compare(">=", place * sign, later * sign)
            order = _comes_before(one, copy)
            if order is None:
                continue
            here = one.where.intersect(copy.where).intersect(set_of(both(order, wrong)))
            if not run.is_empty(here):
                return "steps of a recurrence in another order"
    return None


def _comes_before(one: StepPart, other: StepPart) -> Truth | None:
    """Return when a step of one part comes before a step of another one; None if never."""
    if one.at != other.at:
        return TRUE if one.at < other.at else None
    ways: list[Truth] = []
    alike: Truth = TRUE
    for (mine, sign), (theirs, _) in zip(one.piece.order, other.piece.order, strict=True):
        ways.append(both(alike, compare("<", name(mine) * sign, name(theirs) * sign)))
        alike = both(alike, compare("==", name(mine), name(theirs)))
    return one_of(*ways) if ways else None


def _matched(
    run: ProofRun,
    parts: Sequence[StepPart],
    wanted: StepPiece,
    where: Region,
    compare_terms: Compare,
) -> list[Whole] | None:
    """Return which step of the algorithm each step of the kernel is; None if that is not proved.

    Each is one of them, no two of a part are the same, and none of the algorithm's is left out. No
    two of different parts are the same, since one comes first.
    """
    ((label, _),) = wanted.order
    wanted_domain = where.intersect(set_of(wanted.domain))
    covered: Region | None = None
    places: list[Whole] = []
    for part in parts:
        found = None
        piece = BagPiece(part.bound, part.piece.domain, part.body, part.bound)
        of = BagPiece((label,), wanted.domain, wanted.body, (label,))
        for guess in guesses(run, piece, of, tuple(equal_to_0(part.where))):
            there = part.where.intersect(same(name(label), guess[label])).intersect(wanted_domain)
            here = without(there, (label,))
            if not run.is_subset(part.where, here) or not run.is_single(there, part.bound):
                continue
            step = put(run, wanted.body, guess)
            if compare_terms(run, part.body, step, part.where) is None:
                found = guess[label]
                image = without(there, part.bound)
                covered = image if covered is None else covered.union(image)
                break
        if found is None:
            return None
        places.append(found)
    left = wanted_domain if covered is None else wanted_domain.subtract(covered)
    return places if run.is_empty(left) else None
