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
from dtpoly.verify.algebra.regions import Region, renamed_region, same, set_of, without
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Literal,
    Pair,
    PlaceOf,
    Term,
    Total,
    ValueOf,
    choose,
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
    number,
    one_of,
    put_whole,
)

# The totals of steps, and whether their names go up or down.
ORDERED = {"affine": 1, "affine back": -1}
JOINED = "affine"
# Steps that a kernel may have apart, such as those of its last tile.
MOST_PIECES = 40

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
    """Some steps of a recurrence: one for each choice of its names.

    They come in the order of their keys, which are compared from the first number on.
    """

    bound: tuple[str, ...]
    key: tuple[Whole, ...]
    domain: Truth
    body: Term

    def inside(self, bound: tuple[str, ...], key: tuple[Whole, ...], domain: Truth) -> StepPiece:
        """Return the same steps for each choice of names that come before their own."""
        both_of = both(domain, self.domain)
        return StepPiece((*bound, *self.bound), (*key, *self.key), both_of, self.body)


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
            key = tuple(name(one) * ORDERED[operation] for one in inner.bound)
            return (found[0].inside(inner.bound, key, inner.domain),)
        case AppliedOperation(operation="affine", operands=(left, right)):
            one, other = _pieces(run, left), _pieces(run, right)
            return None if one is None or other is None else (*one, *other)
        case _:
            return (StepPiece((), (), TRUE, term),)


@dataclass(frozen=True, slots=True)
class StepPart:
    """A part of a piece whose step has no choices left, and where it is."""

    piece: StepPiece
    bound: tuple[str, ...]
    where: Region
    body: Term

    @property
    def key(self) -> tuple[Whole, ...]:
        """Return the key by which its steps are ordered."""
        return self.piece.key


def _numbered(pieces: Sequence[StepPiece]) -> tuple[StepPiece, ...]:
    """Return pieces that come one after another, each with its number first in its key."""
    return tuple(one.inside((), (number(at),), TRUE) for at, one in enumerate(pieces))


def _parts(
    run: ProofRun, pieces: Sequence[StepPiece], where: Region, compare_terms: Compare
) -> list[StepPart]:
    """Return the parts of pieces that do something; a step that stands for many becomes these."""
    found: list[StepPart] = []
    for piece in pieces:
        inside = where.intersect(set_of(piece.domain))
        for case in cases(run, piece.body, inside):
            if _is_nothing(case.term):
                continue
            bound = (*piece.bound, *case.bound)
            many = _steps_of(run, case.term, case.where, compare_terms)
            if many is None or len(found) > MOST_PIECES:
                found.append(StepPart(piece, bound, case.where, case.term))
                continue
            own = tuple(one.inside(bound, piece.key, TRUE) for one in _numbered(many))
            found += _parts(run, own, case.where, compare_terms)
    return found


def _steps_of(
    run: ProofRun, step: Term, where: Region, compare_terms: Compare
) -> tuple[StepPiece, ...] | None:
    """Return the steps that one step stands for; None if it stands for itself.

    A kernel keeps the state at the end of a part as a pair: the product of the factors, and what
    the steps make of 0 (lemma 26).
    """
    if not isinstance(step, Pair):
        return None
    found = sequence_of(run, step.place)
    if found is None or not is_identity("add", found.first):
        return None
    product: Term = Literal("1")
    for one in found.pieces:
        factors = Total("mul", one.bound, one.domain, _factor(one.body))
        product = AppliedOperation("mul", (product, factors))
    return found.pieces if compare_terms(run, step.value, product, where) is None else None


def _factor(step: Term) -> Term:
    """Return the factor of a step, which may be chosen."""
    match step:
        case Pair(value=factor):
            return factor
        case Choose(condition=condition, yes=yes, no=no):
            return choose(condition, _factor(yes), _factor(no))
        case _:
            return ValueOf(step)


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
    mine, theirs = sequence_of(run, kernel), sequence_of(run, algorithm)
    if mine is None or theirs is None:
        return "steps of a recurrence whose order is not clear"
    if compare_terms(run, mine.first, theirs.first, where) is not None:
        return "a recurrence begins with another value"
    if len(theirs.pieces) != 1 or len(theirs.pieces[0].bound) != 1:
        return "steps of a recurrence in several parts"
    (wanted,) = theirs.pieces
    (place_of_step,) = wanted.key
    sign = 1 if place_of_step == name(wanted.bound[0]) else -1
    parts = _parts(run, _numbered(mine.pieces), where, compare_terms)
    if len(parts) > MOST_PIECES:
        return "steps of a recurrence in many parts"
    places = _matched(run, parts, wanted, where, compare_terms)
    if places is None:
        return "other steps of a recurrence"
    for other, later in zip(parts, places, strict=True):
        # Another step of the same part, or one of another part, has names of its own.
        new = {old: run.fresh(old) for old in other.bound}
        values = {old: name(to) for old, to in new.items()}
        key = tuple(put_whole(one, values) for one in other.key)
        there, later = renamed_region(other.where, new), put_whole(later, values)
        for one, place in zip(parts, places, strict=True):
            wrong = compare(">=", place * sign, later * sign)
            both_of = set_of(both(_comes_before(one.key, key), wrong))
            if not run.is_empty(one.where.intersect(there).intersect(both_of)):
                return "steps of a recurrence in another order"
    return None


def _comes_before(one: Sequence[Whole], other: Sequence[Whole]) -> Truth:
    """Return when a key comes before another one; two that agree in all numbers have one form."""
    ways: list[Truth] = []
    alike: Truth = TRUE
    for mine, theirs in zip(one, other, strict=False):
        ways.append(both(alike, compare("<", mine, theirs)))
        alike = both(alike, compare("==", mine, theirs))
    return one_of(*ways)


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
    (label,) = wanted.bound
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
