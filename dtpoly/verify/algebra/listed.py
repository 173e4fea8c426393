"""Define lists: the largest pairs of a value and a place, in order, as `rtopk` counts them.

A list is a reduction of pairs by LIST, which joins sets of pairs. What is at place j of it is
`nth(list, j)`: the pair before which j others stand. NaN is before every other value, a larger
value before a smaller one, and of equal values the one at the smaller place. Behind all pairs of
the set stand pairs that say nothing: the least value of the type, at no place.

The least value shows in results, so lists of whole numbers of each type have an operation of their
own.
"""

from __future__ import annotations

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.terms import (
    LIST,
    NTH,
    AppliedOperation,
    Pair,
    Place,
    Term,
    Total,
    names,
    put,
)
from dtpoly.verify.algebra.whole import Truth, Whole, name, number, put_truth

# The operations that join lists, one for each type of whole numbers, and one for floats.
OF_WHOLES = {kind: f"{LIST} of {kind}" for kind in kinds.LEAST}
LISTS = frozenset((LIST, *OF_WHOLES.values()))
# The name of a lane in a formula that says which lanes a tile has.
LANE = "lane of a list"


def list_of(kind: str) -> str:
    """Return the operation that joins lists of values of a type."""
    return OF_WHOLES.get(kind, LIST)


def is_nothing(operation: str, pair: Pair, nowhere: tuple[str, ...]) -> bool:
    """Return whether a pair is one of those that stand behind all others in each list."""
    kind = operation.removeprefix(f"{LIST} of ")
    least = ("-inf",) if operation == LIST else ("-inf", f"least {kind}")
    texts = [getattr(one, "text", "") for one in (pair.value, pair.place)]
    return texts[0] in least and texts[1] in nowhere


def at_place(pairs: Term, place: Whole) -> Term:
    """Return the pair at a place of a list."""
    return AppliedOperation(NTH, (pairs, Place(place)))


def of_lanes(
    run: ProofRun, operation: str, pair: Term, lane: str | None, lanes: Truth, *, is_kept: bool
) -> Term:
    """Return the list of the pairs that a tile has in the lanes of an axis: LANE is one of `lanes`.

    If the result has as many lanes (`is_kept`), and the pairs are those of a list in order, it is
    this list: only so many of its pairs are asked for (lemma 12).
    """
    at = number(0) if lane is None else name(lane)
    match pair:
        case AppliedOperation(operation=own, operands=(inner, Place(value=place))) if (
            is_kept and own == NTH and place == at and _is_list(operation, inner)
        ):
            return inner
        case _:
            if lane is None or lane not in names(pair):
                return pair  # each lane has this pair, and pairs that are equal count as one
            # No name is free that a list binds. Both parts of a pair get the same one.
            bound = f"{lane}.listed"
            moved = put(run, pair, {lane: name(bound)})
            return Total(operation, (bound,), put_truth(lanes, {LANE: name(bound)}), moved)


def _is_list(operation: str, term: Term) -> bool:
    match term:
        case Total(operation=own) | AppliedOperation(operation=own):
            return own == operation
        case _:
            return False
