"""Recognise stores that add to what memory holds, as in `store(p, load(p) + x)`.

After such stores an element holds what it began with, put together with the reduction of all that
was added since. `memory` asks for these when it looks for what a load sees. The operation need not
be a sum: OPERATIONS lists those that are recognised, and pairs of a value and a place (argmax) are
recognised, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.identities import IDENTITY
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import set_of
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Element,
    PlaceOf,
    Term,
    ValueOf,
    choose,
    walk,
)
from dtpoly.verify.algebra.whole import All, Truth, both, negation, put_truth, put_whole
from dtpoly.verify.proof.paired import are_in_step, partner, taken
from dtpoly.verify.triton.access import KernelAccess, Ran
from dtpoly.verify.triton.domains import before, domain, renaming, same_element

OPERATIONS = ("add", "mul", "maximum", "minimum", "or", "and")


@dataclass(frozen=True)
class Accumulation:
    """A store of `old op piece op ...`, where its own instance loaded `old` just before."""

    store: KernelAccess
    operation: str
    pieces: tuple[Term, ...]
    # For a pair of value and place: the store of its other part.
    other: KernelAccess | None = None


def accumulation(run: ProofRun, ran: Ran, store: KernelAccess, facts: Truth) -> Accumulation | None:
    """Return what a store accumulates; None if it does not, or if it may overwrite another one.

    The load must be in the same loops as the store, no piece may read the tensor again, and no
    other store may write the element between the load and the store.
    """
    if store.kind != "store" or store.value is None:
        return None
    found: list[Element] = []
    if isinstance(store.value, ValueOf | PlaceOf):
        return _of_pairs(run, ran, store, store.value.pair, facts)
    taken = _taken(store.value, store, found)
    if taken is None or not found:
        return None
    operation, pieces = taken
    loads = [a for a in ran.accesses if any(a.load == one.load for one in found)]
    if any(a.loops != store.loops for a in loads):
        return None
    if any(_reads_it(piece, store) for piece in pieces):
        return None
    if any(
        _comes_between(run, ran, load, other, store, facts)
        for load in loads
        for other in ran.accesses
    ):
        return None
    return Accumulation(store, operation, tuple(pieces))


def _of_pairs(
    run: ProofRun, ran: Ran, store: KernelAccess, whole: Term, facts: Truth
) -> Accumulation | None:
    """Return what two stores accumulate together: the value and the place of one pair."""
    other = partner(ran, store)
    if other is None or not isinstance(whole, AppliedOperation):
        return None
    value, place = (store, other) if isinstance(store.value, ValueOf) else (other, store)
    found: list[Element] = []
    pieces = taken(whole, value, place, found)
    if pieces is None or len(found) != 2:
        return None
    loads = [next(a for a in ran.accesses if a.load == one.load) for one in found]
    if not are_in_step(ran, (value, place, *loads)):
        return None
    if max(_last(one) for one in loads) > min(_last(one) for one in (value, place)):
        return None
    if any(_reads_it(piece, one) for piece in pieces for one in (value, place)):
        return None
    if any(
        _comes_between(run, ran, load, access, one, facts)
        for load, one in zip(loads, (value, place), strict=True)
        for access in ran.accesses
    ):
        return None
    return Accumulation(store, whole.operation, tuple(pieces), other)


def _last(of: KernelAccess) -> int:
    return of.time[-1].constant or 0


def _reads_it(piece: Term, store: KernelAccess) -> bool:
    return any(isinstance(one, Element) and one.tensor == store.tensor for one in walk(piece))


def _comes_between(
    run: ProofRun,
    ran: Ran,
    load: KernelAccess,
    other: KernelAccess,
    store: KernelAccess,
    facts: Truth,
) -> bool:
    """Return whether another store may write the element after the load and before the store."""
    if other.kind == "load" or other.tensor != store.tensor:
        return False
    put = renaming(run, ran, other, kept=tuple(ran.programs))
    time = tuple(put_whole(one, put) for one in other.time)
    run.about(store.line, f"puts something to what it loaded, line {other.line} not between")
    between = both(
        facts,
        domain(ran, store),
        put_truth(domain(ran, other), put),
        same_element(store, {}, other, put),
        before(load.time, time),
        before(time, store.time),
    )
    return not run.is_empty(set_of(between))


def _taken(term: Term, store: KernelAccess, found: list[Element]) -> tuple[str, list[Term]] | None:
    """Take `old op a op b` apart into op and [a, b]; None if the term has not this form.

    Loads that may be `old` are added to `found`. A choice between `old op a` and `old` counts as
    `old op (a, or what changes nothing)`.
    """
    match term:
        case AppliedOperation(operation=operation, operands=(left, right)) if (
            operation in OPERATIONS
        ):
            for old, new in ((left, right), (right, left)):
                if _is_old(old, store, found):
                    return operation, [new]
                inner = _taken(old, store, found)
                if inner is not None and inner[0] == operation:
                    return operation, [*inner[1], new]
            return None
        case Choose(condition=condition, yes=yes, no=no):
            for where, other, stays in ((condition, yes, no), (negation(condition), no, yes)):
                inner = _taken(other, store, found)
                if inner is not None and _is_old(stays, store, found):
                    nothing = IDENTITY[inner[0]]
                    return inner[0], [choose(where, one, nothing) for one in inner[1]]
            return None
        case _:
            return None


def _is_old(term: Term, store: KernelAccess, found: list[Element]) -> bool:
    """Return whether a term is what the stored element held before.

    If the load has a mask, each condition of it must be a condition of the store, too.
    """
    match term:
        case Choose(condition=condition, yes=yes) if _parts(condition) <= _parts(store.where):
            return _is_old(yes, store, found)
        case Element(tensor=tensor, indices=indices) if tensor == store.tensor:
            found.append(term)
            return indices == store.indices
        case _:
            return False


def _parts(of: Truth) -> set[Truth]:
    return set(of.parts) if isinstance(of, All) else {of}


def one_operation(accumulations: Sequence[Accumulation]) -> bool:
    """Return whether all accumulations are by the same operation."""
    return len({one.operation for one in accumulations}) <= 1
