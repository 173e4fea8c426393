"""Find the two stores that keep the two parts of one pair, a value and its place, in two tensors.

`argmax` accumulates a pair: its value and its place lie in two tensors, and change together. The
verifier may treat the two tensors as one tensor of pairs, but only if they are in step: each store
to the one has a store to the other at the same instances, the same elements and the same place in
the text, with no other access to either tensor between the two. Then both tensors have taken in the
same pairs at any time, and each holds its own part of their reduction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dtpoly.verify.algebra.terms import (
    EXTREMES,
    AppliedOperation,
    Choose,
    Element,
    Pair,
    PlaceOf,
    Term,
    ValueOf,
)
from dtpoly.verify.algebra.whole import All, Truth
from dtpoly.verify.triton.access import KernelAccess, Ran


def partner(ran: Ran, store: KernelAccess) -> KernelAccess | None:
    """Return the store that puts the other part of the same pair into another tensor.

    The result is None if there is no such store, or if the two are not in step.
    """
    match store.value:
        case ValueOf(pair=pair):
            wanted: Term = PlaceOf(pair)
        case PlaceOf(pair=pair):
            wanted = ValueOf(pair)
        case _:
            return None
    found = [one for one in ran.accesses if one.kind == "store" and one.value == wanted]
    if len(found) != 1 or found[0].tensor == store.tensor:
        return None
    return found[0] if are_in_step(ran, (store, found[0])) else None


def are_in_step(ran: Ran, ones: Sequence[KernelAccess]) -> bool:
    """True if accesses happen at the same instances and indices, with no other one between."""
    first = ones[0]
    for one in ones[1:]:
        if (one.loops, one.indices, one.time[:-1]) != (first.loops, first.indices, first.time[:-1]):
            return False
        if one.kind == first.kind and (one.lanes, one.where) != (first.lanes, first.where):
            return False
    tensors = {one.tensor for one in ones}
    places = [_place(one) for one in ones]
    depth = len(first.time)
    return not any(
        other.tensor in tensors
        and other not in ones
        and other.time[: depth - 1] == first.time[:-1]
        and min(places) < (other.time[depth - 1].constant or 0) < max(places)
        for other in ran.accesses
    )


def _place(of: KernelAccess) -> int:
    """Return where the access stands in the text, within the innermost loop around it."""
    return of.time[-1].constant or 0


def taken(
    pair: Term, value: KernelAccess, place: KernelAccess, found: list[Element]
) -> list[Term] | None:
    """Return the pairs that a store adds to the old pair: for `argmax(argmax(old, a), b)`, [a, b].

    The old pair must be what the two elements hold already; these elements are added to `found`.
    The result is None if the term is not of that form.
    """
    match pair:
        case AppliedOperation(operation=operation, operands=(left, right)) if operation in EXTREMES:
            for old, new in ((left, right), (right, left)):
                if _is_old(old, value, place, found):
                    return [new]
                inner = (
                    old
                    if isinstance(old, AppliedOperation) and old.operation == operation
                    else None
                )
                pieces = None if inner is None else taken(inner, value, place, found)
                if pieces is not None:
                    return [*pieces, new]
            return None
        case _:
            return None


def _is_old(term: Term, value: KernelAccess, place: KernelAccess, found: list[Element]) -> bool:
    """True if the term is what the elements held; a mask of the loads must be one of the stores."""
    match term:
        case Choose(condition=condition, yes=yes) if _parts(condition) <= _parts(value.where):
            return _is_old(yes, value, place, found)
        case Pair(value=Element() as first, place=Element() as second):
            found += [first, second]
            return (first.tensor, first.indices, second.tensor, second.indices) == (
                value.tensor,
                value.indices,
                place.tensor,
                place.indices,
            )
        case _:
            return False


def _parts(of: Truth) -> set[Truth]:
    return set(of.parts) if isinstance(of, All) else {of}


def beginnings(
    ran: Ran, own: Iterable[KernelAccess], others: Iterable[KernelAccess]
) -> dict[KernelAccess, KernelAccess] | None:
    """Return for each store that is no accumulation its partner in the other tensor.

    The result is None if a store of either tensor has no partner, or has several.
    """
    left = list(others)
    found: dict[KernelAccess, KernelAccess] = {}
    for one in own:
        alike = [other for other in left if are_in_step(ran, (one, other))]
        if len(alike) != 1:
            return None
        found[one] = alike[0]
        left.remove(alike[0])
    return None if left else found
