"""Stores of a value and of where it was found, in; the two that keep one pair in two tensors, out.

`argmax` accumulates a pair: value and place lie in two tensors, and change together. They are taken
for one tensor of pairs only if they are in step: each store of the one has one of the other at the
same instances, elements and place in the text, and no other access to either stands between.
Then both have at any time taken in the same pairs, and each holds its part of their reduction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dtpoly.verify.access import Access, Ran
from dtpoly.verify.terms import EXTREMES, Apply, Choose, Element, Pair, PlaceOf, Term, ValueOf
from dtpoly.verify.whole import All, Truth


def partner(ran: Ran, store: Access) -> Access | None:
    """The store that puts the other part of the same pair into another tensor."""
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


def are_in_step(ran: Ran, ones: Sequence[Access]) -> bool:
    """True if accesses happen at the same instances, to the same indices, with none between."""
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


def _place(of: Access) -> int:
    """Where it stands in the text, in the innermost loop around it."""
    return of.time[-1].constant or 0


def taken(pair: Term, value: Access, place: Access, found: list[Element]) -> list[Term] | None:
    """Of `argmax(argmax(old, a), b)` [a, b]: the old pair is what is in the elements."""
    match pair:
        case Apply(operation=operation, operands=(left, right)) if operation in EXTREMES:
            for old, new in ((left, right), (right, left)):
                if _is_old(old, value, place, found):
                    return [new]
                inner = old if isinstance(old, Apply) and old.operation == operation else None
                pieces = None if inner is None else taken(inner, value, place, found)
                if pieces is not None:
                    return [*pieces, new]
            return None
        case _:
            return None


def _is_old(term: Term, value: Access, place: Access, found: list[Element]) -> bool:
    """True for what the elements held; a mask of the loads must be one of the stores."""
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
    ran: Ran, own: Iterable[Access], others: Iterable[Access]
) -> dict[Access, Access] | None:
    """Of each store that is no accumulation the one of the other tensor; None if some has none."""
    left = list(others)
    found: dict[Access, Access] = {}
    for one in own:
        alike = [other for other in left if are_in_step(ran, (one, other))]
        if len(alike) != 1:
            return None
        found[one] = alike[0]
        left.remove(alike[0])
    return None if left else found
