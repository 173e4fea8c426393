"""Bound a number that a loop sets to its counter or leaves as it was, as the place of a best one.

`best = tl.where(better, k, best)` leaves what `best` was before the loop, or the counter of one of
the iterations. Which one it is depends on data, so where no values are compared the number is an
unknown one of these (lemma 30 of docs/proofs.md).
"""

from __future__ import annotations

from collections.abc import Iterator

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import TileValue, as_term, lanes_of
from dtpoly.verify.algebra.regions import is_affine
from dtpoly.verify.algebra.term_building import plain, whole_in
from dtpoly.verify.algebra.terms import AppliedOperation, Carried, Choose, Literal, Place, Term
from dtpoly.verify.algebra.whole import (
    Truth,
    Whole,
    compare,
    name,
    names_of,
    one_of,
    put_truth,
)
from dtpoly.verify.triton.carrying import LoopEnd
from dtpoly.verify.triton.data_names import WIDE, unknown
from dtpoly.verify.triton.kernel_state import KernelState

VALUE = "the value that a loop leaves"


def unknown_after_loop(
    state: KernelState, one: str, old: TileValue, new: TileValue, end: LoopEnd
) -> Term:
    """Return an unknown value that a loop leaves of a name, with what is known of the number."""
    kind = WIDE if new.kind in (kinds.SIZE, kinds.OFFSET) else new.kind
    found = unknown(state, kind, lanes_of(new.axes))
    fact = _bounded(state, one, old, new, end)
    if fact is not None:
        assert isinstance(found, AppliedOperation)
        own = found.operands[0]
        assert isinstance(own, Literal)
        state.bounded[own.text] = (VALUE, fact)
    return found


def _bounded(
    state: KernelState, one: str, old: TileValue, new: TileValue, end: LoopEnd
) -> Truth | None:
    """Return which numbers a loop may leave; None if that is not known."""
    if not kinds.is_whole(new.kind) or len(end.last) != 1 or end.left_out is not None:
        return None
    start = old.item if isinstance(old.item, Whole) else None
    if start is None or not _is_fixed(state, start):
        return None
    (counter,) = end.last
    lanes = tuple(name(axis) for axis in lanes_of(new.axes))
    me = Carried(one, end.loop, lanes)
    facts = [compare("==", name(VALUE), start)]
    for leaf in _leaves(as_term(new.item, 0)):
        if leaf == me:
            continue
        value = whole_in(plain(leaf)) if isinstance(leaf, Place | Literal) else None
        if value is None:
            return None
        if _is_fixed(state, value):
            facts.append(compare("==", name(VALUE), value))
            continue
        more = value - name(counter)
        if more.constant is None or not _is_fixed(state, end.here, besides=counter):
            return None
        facts.append(put_truth(end.here, {counter: name(VALUE) - more}))
    found = one_of(*facts)
    return found if is_affine(found) else None


def _leaves(term: Term) -> Iterator[Term]:
    """Yield the values between which a term chooses."""
    match term:
        case Choose(yes=yes, no=no) | AppliedOperation(operation="where", operands=(_, yes, no)):
            yield from _leaves(yes)
            yield from _leaves(no)
        case _:
            yield term


def _is_fixed(state: KernelState, formula: Whole | Truth, *, besides: str = "") -> bool:
    """Return whether a formula is about sizes alone, which are the same in each instance."""
    moving = {*state.ranges, *state.wraps, *state.digits.numbers, *state.digits.ranges}
    names = names_of(formula) - {besides}
    return not names & moving and not any("@" in one for one in names)
