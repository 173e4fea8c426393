"""Read a branch that takes a tile into a list only if some element may enter it (lemma 12d).

    if tl.max((~(tile < tl.min(values, 1)[:, None])).to(tl.int32)) >= 1:
        values, places = dt_list(values, places, tile, at, 1, 8)

Where no element is at least as large as the least value of its list, the list with the elements is
the list as it was. So it does not matter whether the branch is taken: after it, names hold what
they hold if it always is. That needs a list in order, as `dt_list` gives it, or one of nothing. For
the list that an iteration of a loop begins with, this is asked where the loop ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.frame_terms import ONE, ZERO
from dtpoly.verify.algebra.kernel_values import TileValue, Value, as_term, lanes_of
from dtpoly.verify.algebra.listed import LISTS
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Pair,
    PlaceOf,
    Term,
    Total,
    ValueOf,
    choose,
    names,
    put,
)
from dtpoly.verify.algebra.whole import TRUE, Truth, both, name, number, put_truth
from dtpoly.verify.triton.broadcast_tiles import aligned
from dtpoly.verify.triton.domains import ranged
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.list_calls import is_in_order, kept_list, nth_of

# A list of rows of rows is not expected.
MOST_AXES = 4
LEAST = ("minimum", f"minimum{kinds.WITHOUT_NAN}")


@dataclass(frozen=True, slots=True)
class EnterTest:
    """The condition that an element is not below a bound, for some numbers of the bound names."""

    element: Term
    least: Term
    bound: tuple[str, ...]
    domain: Truth


@dataclass(frozen=True, slots=True)
class TakenIn:
    """A list after a tile was taken into it: the list before, the pairs of the tile, and names.

    The variables hold the values and the places of the list.
    """

    operation: str
    whole: Term
    before: Term
    tile: Term
    values: str
    places: str


def enter_test(value: Value) -> EnterTest | None:
    """Return what a condition asks, if it asks whether some element is not below a bound."""
    if not isinstance(value, TileValue) or value.axes:
        return None
    match value.item:
        case AppliedOperation(operation="ge", operands=(most, end)) if end == ONE:
            pass
        case AppliedOperation(operation="gt", operands=(most, end)) if end == ZERO:
            pass
        case _:
            return None
    bound, domains = list[str](), list[Truth]()
    term: Term = most
    while isinstance(term, Total) and term.operation == "maximum":
        bound += term.bound
        domains.append(term.domain)
        term = term.body
    match term:
        case AppliedOperation(
            operation="where",
            operands=(AppliedOperation(operation="not", operands=(below,)), yes, no),
        ) if (yes, no) == (ONE, ZERO):
            pass
        case _:
            return None
    match below:
        case AppliedOperation(operation="lt", operands=(element, least)):
            pass
        case AppliedOperation(operation="gt", operands=(least, element)):
            pass
        case _:
            return None
    return EnterTest(element, least, tuple(bound), both(*domains))


def list_either_way(
    state: KernelState,
    test: EnterTest,
    names_of: tuple[Mapping[str, Value], Mapping[str, Value]],
    one: str,
    line: int,
) -> TileValue | None:
    """Return what a name holds after a branch, if it is part of a list that is the same either way.

    `names_of` are the values before the branch, and after it was taken.
    """
    before, after = names_of
    new = after[one]
    if not isinstance(new, TileValue):
        return None
    taken = _taken_in(after, one)
    if taken is None:
        return None
    tiles = (before.get(taken.values), before.get(taken.places))
    first, second = tiles
    if not isinstance(first, TileValue) or not isinstance(second, TileValue):
        return None
    if first.kind != _kind(after, taken.values) or second.kind != _kind(after, taken.places):
        return None
    # The tiles of values and places may name the same lanes by different names.
    shapes = {tuple(axis is None for axis in tile.axes) for tile in (first, second, new)}
    if len(shapes) != 1:
        return None
    axes, items = aligned(state, (first, second), line)
    if axes != new.axes:
        return None
    first, second = (
        TileValue(axes, item, tile.kind) for item, tile in zip(items, (first, second), strict=True)
    )
    if kept_list(state, taken.operation, (first, second)) != taken.before:
        return None
    if not is_in_order(state.run, taken.operation, (first, second)):
        return None
    return new if _tells_all(state, test, taken, first) else None


def _kind(names_held: Mapping[str, Value], one: str) -> str | None:
    found = names_held[one]
    return found.kind if isinstance(found, TileValue) else None


def _taken_in(after: Mapping[str, Value], one: str) -> TakenIn | None:
    """Return the list of which a name holds the values or the places, after a tile was taken in."""
    tile = after[one]
    assert isinstance(tile, TileValue)
    if not isinstance(tile.item, ValueOf | PlaceOf):
        return None
    whole = tile.item.pair
    match nth_of(whole, tile.axes):
        case AppliedOperation(operation=operation, operands=(old, more)) if operation in LISTS:
            pass
        case _:
            return None
    parts = [_held(after, part(whole), tile) for part in (ValueOf, PlaceOf)]
    values, places = parts
    if values is None or places is None:
        return None
    return TakenIn(operation, whole, old, more, values, places)


def _held(after: Mapping[str, Value], item: Term, like: TileValue) -> str | None:
    """Return the one name that holds a term in the lanes of a tile."""
    found = [
        one
        for one, tile in after.items()
        if isinstance(tile, TileValue) and tile.item == item and tile.axes == like.axes
    ]
    return found[0] if len(found) == 1 else None


def _tells_all(state: KernelState, test: EnterTest, taken: TakenIn, old: TileValue) -> bool:
    """Return whether the test looks at each value of the tile, beside the least one of its list."""
    *axes, last = old.axes
    rows = lanes_of(tuple(axes))
    match taken.tile:
        case Total(operation=operation, bound=(lane,), domain=domain, body=body) if (
            operation == taken.operation
        ):
            lanes, here, value = (*rows, lane), domain, _value_in(body)
        case pair_of_all:
            lanes, here, value = rows, TRUE, _value_in(pair_of_all)
    # Elements that are the same in all lanes of an axis are looked at if the first one is.
    needed = names(test.element) | names(test.least)
    first_lane = {one: number(0) for one in test.bound if one not in needed}
    bound = [one for one in test.bound if one in needed]
    if value is None or len(lanes) > MOST_AXES or len(bound) > len(lanes):
        return False
    known = both(state.facts, ranged({}, state.ranges, rows), here)
    if not is_affine(known):
        return False
    for order in permutations(lanes, len(bound)):
        at = {**first_lane, **dict(zip(bound, map(name, order), strict=True))}
        if put(state.run, test.element, at) != value:
            continue
        if not _is_least(state, put(state.run, test.least, at), old, last):
            continue
        asked = put_truth(test.domain, at)
        if is_affine(asked) and state.run.holds(asked, set_of(known)):
            return True
    return False


def _value_in(pairs: Term) -> Term | None:
    """Return the value of a pair, or the choice of values of a choice of pairs."""
    match pairs:
        case Pair(value=value):
            return value
        case Choose(condition=condition, yes=yes, no=no):
            first, second = _value_in(yes), _value_in(no)
            return None if first is None or second is None else choose(condition, first, second)
        case _:
            return None


def _is_least(state: KernelState, term: Term, old: TileValue, last: str | None) -> bool:
    """Return whether a term is the least of the values along the last axis of a tile."""
    value = as_term(old.item, 0)
    if last is None or last not in names(value):
        return term == value
    match term:
        case Total(operation=operation, bound=(lane,), domain=domain, body=body) if (
            operation in LEAST
        ):
            lanes = ranged({}, state.ranges, (last,))
            asked = put_truth(domain, {lane: name(last)})
            if put(state.run, body, {lane: name(last)}) != value or not is_affine(asked):
                return False
            return is_affine(lanes) and state.run.holds(asked, set_of(lanes))
        case _:
            return False
