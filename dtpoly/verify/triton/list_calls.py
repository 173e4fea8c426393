"""Evaluate `dt_list`, which keeps the largest pairs of two tiles, and what loops do with it."""

from __future__ import annotations

from collections.abc import Sequence

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.identities import is_identity
from dtpoly.verify.algebra.kernel_values import TileValue, TupleValue, Unread, as_term, lanes_of
from dtpoly.verify.algebra.listed import LANE, LISTS, at_place, list_of, of_lanes
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.residues import settled
from dtpoly.verify.algebra.terms import (
    NTH,
    AppliedOperation,
    Carried,
    Pair,
    Place,
    PlaceOf,
    Term,
    Total,
    ValueOf,
    pair,
    walk,
)
from dtpoly.verify.algebra.whole import (
    TRUE,
    Truth,
    Whole,
    name,
    names_of,
    number,
    put_truth,
    within,
)
from dtpoly.verify.triton.broadcast_tiles import aligned
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.python_operators import not_in_eight

MEANING = "list"
PLACES = "tl.int64"


def listed(state: KernelState, given: Sequence[TileValue], line: int) -> TupleValue:
    """Evaluate `dt_list(values, places, others, at, axis, count)`, which merges two lists of pairs.

    `values` and `places` are the list so far, `others` and `at` are the pairs that may enter it.

    `axis` must be the last axis, and `count` the number of lanes that the list has along it.
    """
    *tiles, axis, count = given
    if len(tiles) != 4:
        raise Unread(line, "a call of dt_list that has not four tiles")
    values, places, others, at = tiles
    kind = values.kind
    if others.kind != kind or {places.kind, at.kind} != {PLACES} or kind == kinds.BOOL:
        raise Unread(line, "a list whose values have several types, or whose places are not i64")
    not_in_eight(kind, line)
    if any(len(tile.axes) != len(values.axes) or not tile.axes for tile in tiles):
        raise Unread(line, "a list that is made of tiles with different numbers of axes")
    if axis.item != number(len(values.axes) - 1):
        raise Unread(line, "a list along an axis that is not the last one")
    operation = list_of(kind)
    axes, old, last = _pairs(state, operation, (values, places), line, is_kept=True)
    _, new, _ = _pairs(state, operation, (others, at), line, is_kept=False)
    lanes = number(1) if last is None else state.extents[last]
    if count.item != lanes or axis.axes or count.axes:
        raise Unread(line, "a list that has not as many places as its tile has lanes")
    together, (first, second) = aligned(state, (old, new), line)
    if together != axes:
        raise Unread(line, "a list that is given tiles with more lanes than its own")
    terms = (as_term(first, line), as_term(second, line))
    place = number(0) if last is None else name(last)
    found = at_place(AppliedOperation(operation, terms), place)
    whole = (*axes, last)
    return TupleValue(
        (TileValue(whole, ValueOf(found), kind), TileValue(whole, PlaceOf(found), PLACES))
    )


def _pairs(
    state: KernelState,
    operation: str,
    tiles: tuple[TileValue, TileValue],
    line: int,
    *,
    is_kept: bool,
) -> tuple[tuple[str | None, ...], TileValue, str | None]:
    """Return the axes of lists, the list of the pairs along the last axis, and that axis."""
    axes, items = aligned(state, tiles, line)
    values = (
        settled(tile.kind, as_term(item, line)) for item, tile in zip(items, tiles, strict=True)
    )
    *rest, last = axes
    if last is not None and len(lanes_of((last,))) != 1:
        raise Unread(line, "a list along an axis whose lanes are numbered by several names")
    lanes = TRUE if last is None else within(number(0), name(LANE), state.extents[last])
    term = of_lanes(state.run, operation, pair(*values), last, lanes, is_kept=is_kept)
    return tuple(rest), TileValue(tuple(rest), term, tiles[0].kind), last


def kept_list(
    state: KernelState, operation: str, tiles: tuple[TileValue, TileValue]
) -> Term | None:
    """Return the list that `dt_list` reads from its first two tiles; None if they hold no list."""
    try:
        return as_term(_pairs(state, operation, tiles, 0, is_kept=True)[1].item, 0)
    except Unread:
        return None


def is_in_order(run: ProofRun, operation: str, tiles: tuple[TileValue, TileValue]) -> bool:
    """Return whether lane l of two tiles has the pair at place l of a list.

    Inside of a loop this is assumed of the tiles with which an iteration begins. Where the loop
    ends, it is checked of the tiles with which the iteration ends.
    """
    axes = tiles[0].axes
    values, places = (settled(tile.kind, as_term(tile.item, 0)) for tile in tiles)
    return starts_in_order(run, operation, pair(values, places), axes)


def starts_in_order(
    run: ProofRun, operation: str, pairs: Term, axes: tuple[str | None, ...]
) -> bool:
    """Return whether pairs are those of a list in order, in the lanes of the last axis."""
    lanes = tuple(name(axis) for axis in lanes_of(axes))
    match pairs:
        case Pair(value=Carried() as value, place=Carried() as place):
            if value.loop != place.loop or not value.lanes == place.lanes == lanes:
                return False
            run.in_order.add((value.loop, value.variable, place.variable))
            return True
        case Pair():
            return is_identity(operation, pairs)
        case _:
            return nth_of(pairs, axes) is not None


def carried_list(term: Term, loop: str, lanes: tuple[Whole, ...]) -> tuple[str, str] | None:
    """Return the variables with the values and the places of a list that a loop carries.

    The term must be the list that these variables held when the iteration began. `lanes` number
    the lists, and the places in each list. None if the term is something else.
    """
    match term:
        case Total(
            operation=operation,
            bound=(one,),
            domain=domain,
            body=Pair(value=Carried() as value, place=Carried() as place),
        ) if operation in LISTS and lanes and names_of(domain) == frozenset((one,)):
            here = (*lanes[:-1], name(one))
            if all(part.loop == loop and part.lanes == here for part in (value, place)):
                return value.variable, place.variable
            return None
        case _:
            return None


def nth_of(term: Term, axes: tuple[str | None, ...]) -> Term | None:
    """Return the list that a tile holds: the pair at place l of the list is in lane l.

    Lanes are those of the last axis of the tile. None if the tile holds no list in this order.
    """
    match term:
        case AppliedOperation(operation=own, operands=(inner, Place(value=at))) if own == NTH:
            is_it = axes and at == (number(0) if axes[-1] is None else name(axes[-1]))
            return inner if is_it else None
        case _:
            return None


def list_after(
    run: ProofRun,
    operation: str,
    start: Term,
    totals: Sequence[Term],
    axes: tuple[str | None, ...],
    inner: Term,
) -> Term:
    """Return the pairs of the lists after a loop.

    `start` has the pairs before the loop, and `inner` is what one iteration makes of the lists.
    `totals` has everything that any iteration puts into the lists (lemma 12).
    """
    last = axes[-1]
    result = of_lanes(run, operation, start, last, _lanes(inner), is_kept=True)
    for total in totals:
        result = AppliedOperation(operation, (result, total))
    return at_place(result, number(0) if last is None else name(last))


def _lanes(inner: Term) -> Truth:
    """Return which lanes the lists have that an iteration begins with, as a formula over LANE."""
    for one in walk(inner):
        match one:
            case Total(bound=(lane,), domain=domain, body=Pair(value=Carried(), place=Carried())):
                return put_truth(domain, {lane: name(LANE)})
            case _:
                pass
    return TRUE
