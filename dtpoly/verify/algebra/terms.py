"""Define terms, in which both the values of a kernel and those of an algorithm are written.

A term is a function of names. For a kernel these are lanes, loops, program coordinates and sizes;
for the algorithm they are its labels. Casts between floats are left out (see docs/proofs.md,
precision).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.shared_nodes import Shared
from dtpoly.verify.algebra.whole import (
    FALSE,
    TRUE,
    Put,
    Truth,
    Whole,
    both,
    name,
    names_of,
    negation,
    one_of,
    put_truth,
    put_whole,
)


@dataclass(frozen=True, slots=True, eq=False)
class Literal(Shared):
    """A written number: the `repr` of an int, a float or a bool, so that nan equals nan."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Given(Shared):
    """The value of a scalar input."""

    name: str
    is_bool: bool


@dataclass(frozen=True, slots=True, eq=False)
class Place(Shared):
    """A whole number as a value: an index or a size."""

    value: Whole


@dataclass(frozen=True, slots=True, eq=False)
class Element(Shared):
    """An element of a tensor. An index is a number over names; or it is data, and a term."""

    tensor: str
    indices: tuple[Index, ...]
    # The number of its load in the kernel, and the lanes and iterations of that load. For the
    # algorithm's own reads these are 0 and empty.
    load: int
    at: tuple[Whole, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AppliedOperation(Shared):
    """An elementwise operation."""

    operation: str
    operands: tuple[Term, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Choose(Shared):
    """A choice: one value where a formula over names holds, and another elsewhere."""

    condition: Truth
    yes: Term
    no: Term


@dataclass(frozen=True, slots=True, eq=False)
class Total(Shared):
    """A reduction over every value of the bound names for which the domain holds."""

    operation: str
    bound: tuple[str, ...]
    domain: Truth
    body: Term


@dataclass(frozen=True, slots=True, eq=False)
class Stored(Shared):
    """The value that memory holds at an element: that of the one case that holds.

    A case has bound names, a condition and a value; it holds for just one choice of its names.
    """

    cases: tuple[Case, ...]


# Reductions of pairs, with the operation by which the value of a pair is found. Reductions of
# truths have names of their own: their identity is False or True, and among numbers that is a value
# like any other.
EXTREMES = {"argmax": "maximum", "argmin": "minimum", "argany": "or", "argall": "and"}
# A value that a loop keeps in the frame of a running maximum (see frames), and then what must be
# finite for it to be that value.
RUNNING = "running"
EXTREMES_OF_TRUTHS = {"argmax": "argany", "argmin": "argall"}
# The reduction that makes lists of pairs (see listed), and the pair at a place of a list.
LIST = "list"
NTH = "nth"


@dataclass(frozen=True, slots=True, eq=False)
class Pair(Shared):
    """A value and the place where it was found; `argmax` reduces such pairs."""

    value: Term
    place: Term


@dataclass(frozen=True, slots=True, eq=False)
class PlaceOf(Shared):
    """The place in a pair."""

    pair: Term


@dataclass(frozen=True, slots=True, eq=False)
class ValueOf(Shared):
    """The value in a pair."""

    pair: Term


@dataclass(frozen=True, slots=True, eq=False)
class Carried(Shared):
    """The value that a variable had when an iteration of a loop began, at some lanes."""

    variable: str
    loop: str
    lanes: tuple[Whole, ...]


Term = (
    Literal
    | Given
    | Place
    | Element
    | AppliedOperation
    | Choose
    | Total
    | Stored
    | Pair
    | PlaceOf
    | ValueOf
    | Carried
)
Case = tuple[tuple[str, ...], Truth, Term]
Index = Whole | Term


def put(run: ProofRun, term: Term, values: Put) -> Term:
    """Return the term with numbers in place of names."""
    return _Putting(run, values).term(term) if names(term).intersection(values) else term


def renamed(run: ProofRun, total: Total) -> Total:
    """Return the same reduction with fresh bound names."""
    new = {old: run.fresh(old) for old in total.bound}
    values = {old: name(to) for old, to in new.items()}
    domain = put_truth(total.domain, values)
    return Total(total.operation, tuple(new.values()), domain, put(run, total.body, values))


def renamed_case(run: ProofRun, case: Case) -> Case:
    """Return the same case of a stored value with fresh bound names."""
    bound, where, value = case
    new = {old: run.fresh(old) for old in bound}
    values = {old: name(to) for old, to in new.items()}
    return tuple(new.values()), put_truth(where, values), put(run, value, values)


class _Putting:
    """A substitution of numbers for names; terms are shared, so it does each term only once."""

    def __init__(self, run: ProofRun, values: Put) -> None:
        self.run = run
        self.values = values
        self.taken = {*values, *(n for value in values.values() for n in names_of(value))}
        self.done: dict[Term, Term] = {}

    def term(self, term: Term) -> Term:
        found = self.done.get(term)
        if found is None:
            found = self.done[term] = self._term(term)
        return found

    def case(self, case: Case) -> Case:
        """Return a case after the substitution.

        The names that the case binds are renamed first, if the new numbers have these names too.
        """
        bound, where, value = (
            renamed_case(self.run, case) if self.taken.intersection(case[0]) else case
        )
        return bound, put_truth(where, self.values), self.term(value)

    def _term(self, term: Term) -> Term:
        match term:
            case Literal() | Given():
                return term
            case Place(value=value):
                return Place(put_whole(value, self.values))
            case Element(tensor=tensor, indices=indices, load=load, at=at):
                new = tuple(
                    put_whole(i, self.values) if isinstance(i, Whole) else self.term(i)
                    for i in indices
                )
                return Element(tensor, new, load, tuple(put_whole(i, self.values) for i in at))
            case Stored(cases=cases):
                return Stored(tuple(self.case(case) for case in cases))
            case AppliedOperation(operation=operation, operands=operands):
                return AppliedOperation(operation, tuple(self.term(one) for one in operands))
            case Choose(condition=condition, yes=yes, no=no):
                where = put_truth(condition, self.values)
                return choose(where, self.term(yes), self.term(no))
            case Total(operation=operation, bound=bound, domain=domain, body=body):
                if self.taken.intersection(bound):
                    return self._term(renamed(self.run, term))
                return Total(operation, bound, put_truth(domain, self.values), self.term(body))
            case Pair(value=value, place=where):
                return pair(self.term(value), self.term(where))
            case PlaceOf(pair=inner):
                return PlaceOf(self.term(inner))
            case ValueOf(pair=inner):
                return ValueOf(self.term(inner))
            case Carried(variable=variable, loop=loop, lanes=lanes):
                return Carried(
                    variable, loop, tuple(put_whole(lane, self.values) for lane in lanes)
                )


def choose(condition: Truth, yes: Term, no: Term) -> Term:
    """Return one value where the formula holds, and the other elsewhere, simplified if possible."""
    if condition == TRUE or yes == no:
        return yes
    if condition == FALSE:
        return no
    match yes, no:
        case (ValueOf(pair=first), ValueOf(pair=second)):
            return ValueOf(choose(condition, first, second))
        case (PlaceOf(pair=first), PlaceOf(pair=second)):
            return PlaceOf(choose(condition, first, second))
        case (
            AppliedOperation(operation="nth", operands=(first, at)),
            AppliedOperation(operation="nth", operands=(second, where)),
        ) if at == where:
            return AppliedOperation(NTH, (choose(condition, first, second), at))
        case _:
            return Choose(condition, yes, no)


def pair(value: Term, place: Term) -> Term:
    """Return a pair of a value and where it was found, simplified if possible."""
    match value, place:
        case (ValueOf(pair=first), PlaceOf(pair=second)) if first == second:
            return first
        case (Choose(condition=c, yes=a, no=b), Choose(condition=d, yes=i, no=j)) if c == d:
            return choose(c, pair(a, i), pair(b, j))
        case _:
            return Pair(value, place)


def children(term: Term) -> tuple[Term, ...]:
    """Return the terms right below a term."""
    match term:
        case Literal() | Given() | Place() | Carried():
            return ()
        case Element(indices=indices):
            return tuple([index for index in indices if not isinstance(index, Whole)])
        case AppliedOperation(operands=operands):
            return operands
        case Choose(yes=yes, no=no):
            return (yes, no)
        case Total(body=body):
            return (body,)
        case Stored(cases=cases):
            return tuple(value for _, _, value in cases)
        case Pair(value=value, place=place):
            return (value, place)
        case PlaceOf(pair=inner) | ValueOf(pair=inner):
            return (inner,)


def rebuilt(term: Term, parts: tuple[Term, ...]) -> Term:
    """Return the term with other terms in place of those right below it."""
    if parts == children(term):
        return term
    match term:
        case Element(tensor=tensor, indices=indices, load=load, at=at):
            rest = iter(parts)
            new = tuple([one if isinstance(one, Whole) else next(rest) for one in indices])
            return Element(tensor, new, load, at)
        case AppliedOperation(operation=operation):
            return AppliedOperation(operation, parts)
        case Choose(condition=condition):
            return choose(condition, *parts)
        case Total(operation=operation, bound=bound, domain=domain):
            return Total(operation, bound, domain, parts[0])
        case Stored(cases=cases):
            return Stored(
                tuple((b, w, value) for (b, w, _), value in zip(cases, parts, strict=True))
            )
        case Pair():
            return pair(*parts)
        case PlaceOf():
            return PlaceOf(parts[0])
        case ValueOf():
            return ValueOf(parts[0])
        case _:
            return term


def walk(term: Term) -> Iterator[Term]:
    """Yield the term and all terms below it, each of them once."""
    seen: set[Term] = set()
    pending = [term]
    while pending:
        one = pending.pop()
        if one not in seen:
            seen.add(one)
            yield one
            pending.extend(children(one))


def swapped(term: Term, old: Term, new: Term) -> Term:
    """Return the term with another one in the place of one of its parts."""
    done: dict[Term, Term] = {old: new}

    def go(one: Term) -> Term:
        if one not in done:
            done[one] = rebuilt(one, tuple(map(go, children(one))))
        return done[one]

    return go(term)


@cache
def weight(term: Term) -> int:
    """Return how many parts the term has when it is written out."""
    return 1 + sum(weight(one) for one in children(term))


@cache
def sources(term: Term) -> frozenset[str]:
    """Return the tensors and scalars that the value is made of."""
    match term:
        case Given(name=one):
            return frozenset((one,))
        case Element(tensor=one):
            return frozenset((one,)).union(*(sources(index) for index in children(term)))
        case _:
            return frozenset[str]().union(*(sources(one) for one in children(term)))


@cache
def names(term: Term) -> frozenset[str]:
    """Return the names that the value depends on, without those that it binds."""
    found: set[str] = set()
    for one in children(term):
        found |= names(one)
    match term:
        case Place(value=place):
            found.update(names_of(place))
        case Element(indices=indices, at=at):
            for index in (*indices, *at):
                if isinstance(index, Whole):
                    found.update(names_of(index))
        case Stored(cases=cases):
            found.clear()
            for bound, where, value in cases:
                found |= (names(value) | set(names_of(where))) - set(bound)
        case Carried(lanes=lanes):
            for lane in lanes:
                found.update(names_of(lane))
        case Choose(condition=condition):
            found.update(names_of(condition))
        case Total(bound=bound, domain=domain):
            found.update(names_of(domain))
            found.difference_update(bound)
        case _:
            pass
    return frozenset(found)


def truth_of(term: Term) -> Truth | None:
    """Return a term of truth as a formula over names; None if it depends on data."""
    match term:
        case Literal(text="True"):
            return TRUE
        case Literal(text="False"):
            return FALSE
        case Choose(condition=condition, yes=yes, no=no):
            first, second = truth_of(yes), truth_of(no)
            if first is None or second is None:
                return None
            return one_of(both(condition, first), both(negation(condition), second))
        case _:
            return None


def of_truth(truth: Truth) -> Term:
    """Return a formula over names as a term."""
    return choose(truth, Literal("True"), Literal("False"))
