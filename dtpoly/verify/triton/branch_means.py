"""Recognise sums of squared deviations in a branch, as loops keep them (lemma 27).

The tail of a walk is an update without a loop around it. It is read as one more iteration: before
it, the value is a sum of powers of deviations from the mean of what was summed so far.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeGuard

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    PointerValue,
    Radix,
    TileValue,
    Value,
    as_term,
    lanes_of,
)
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.terms import AppliedOperation, Carried, Term, Total, put
from dtpoly.verify.algebra.whole import both, name
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.mean_frames import SumUpdate, moved_in_branch

# The loop that a branch is read as. No name of a value is left that has it.
BRANCH = "branch"
Names = Mapping[str, Value]


def after_moves(state: KernelState, begun: Sequence[Names], after: Names) -> dict[str, Value]:
    """Return what names hold where sums of deviations are recognised that a branch has moved."""
    found = dict(after)
    for before in begun:
        sums = [one for one in after if _is_summed(before.get(one), after[one])]
        for one, value in found.items() if sums else ():
            old = before.get(one)
            if one not in sums and old != value and _is_number(old):
                found[one] = _moved(state, one, old, value, (before, after), sums) or value
    return found


def _is_number(value: Value | None) -> TypeGuard[TileValue]:
    """Return whether a value is a tile of numbers, and not of addresses or program ids."""
    return isinstance(value, TileValue) and not isinstance(value.item, PointerValue | Radix)


def _is_summed(old: Value | None, new: Value) -> bool:
    """Return whether a name is what it was before, and something added to it."""
    if not _is_number(old) or not _is_number(new) or old == new:
        return False
    is_alike = old.axes == new.axes and old.kind == new.kind and kinds.is_float(new.kind)
    return is_alike and SumUpdate(as_term(old.item, 0), as_term(new.item, 0)).tile is not None


def _moved(
    state: KernelState,
    one: str,
    old: TileValue,
    new: Value,
    names: tuple[Names, Names],
    sums: Sequence[str],
) -> TileValue | None:
    """Return a sum of deviations that a branch moves once, with the mean of one of some sums."""
    if not _is_number(new) or old.axes != new.axes or old.kind != new.kind:
        return None
    terms = (as_term(old.item, 0), as_term(new.item, 0))
    if not _has_sum(terms[0]):
        return None
    known = both(state.facts, state.where)
    region = set_of(known if is_affine(known) else state.facts)
    lanes = lanes_of(new.axes)
    me = Carried(one, BRANCH, tuple(map(name, lanes)))
    others = _other_sums(state, one, names[0], lanes)
    for of in sums:
        for total in _updates(state, (names[0][of], names[1][of]), lanes):
            some = [other for other in others if other not in (terms[0], total.old)]
            found = moved_in_branch(state.run, terms, total, me, region, some)
            if found is not None:
                return replace(new, item=found)
    return None


def _other_sums(
    state: KernelState, one: str, before: Names, lanes: tuple[str, ...]
) -> tuple[Term, ...]:
    """Return the sums that other names hold before a branch, at the same lanes."""
    found = list[Term]()
    for other, value in before.items():
        if other == one or not _is_number(value) or len(lanes_of(value.axes)) != len(lanes):
            continue
        values = dict(zip(lanes_of(value.axes), map(name, lanes), strict=True))
        term = put(state.run, as_term(value.item, 0), values)
        if _has_sum(term):
            found.append(term)
    return tuple(dict.fromkeys(found))


def _has_sum(term: Term) -> bool:
    match term:
        case Total(operation="add"):
            return True
        case AppliedOperation(operation="add", operands=operands):
            return any(map(_has_sum, operands))
        case _:
            return False


def _updates(
    state: KernelState, tiles: tuple[Value, Value], lanes: tuple[str, ...]
) -> Iterator[SumUpdate]:
    """Yield a sum before and after a branch, at each of the lanes at which it may stand."""
    old, new = tiles
    assert isinstance(old, TileValue)
    assert isinstance(new, TileValue)

    def at(tile: TileValue, places: tuple[str, ...]) -> Term:
        values = dict(zip(lanes_of(tile.axes), map(name, places), strict=True))
        return put(state.run, as_term(tile.item, 0), values)

    for places in combinations(lanes, len(lanes_of(new.axes))):
        yield SumUpdate(at(old, places), at(new, places))
