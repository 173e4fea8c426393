"""Say what a loop leaves of a name that its body sets anew."""

from __future__ import annotations

from collections.abc import Mapping

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    LostValue,
    PointerValue,
    Radix,
    TileValue,
    Value,
)
from dtpoly.verify.triton.carrying import LoopEnd, after_loop
from dtpoly.verify.triton.compiler_doubts import BECOMES
from dtpoly.verify.triton.earlier import with_others
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.loop_choices import unknown_after_loop


def left_by_loop(
    state: KernelState,
    one: str,
    around: tuple[Mapping[str, Value], Mapping[str, Value]],
    end: LoopEnd,
) -> Value:
    """Return what a loop leaves of a name.

    It may depend on what other names hold when an iteration begins. Where no values are compared,
    what is not understood may be any value of its type.
    """
    before, after = around
    found = after_loop(state.run, one, before, after, end)
    told = None
    if isinstance(found, LostValue):
        told = with_others(state.run, one, before, after, end)
    found = found if told is None else after_loop(state.run, one, before, told, end)
    old, new = before[one], after[one]
    if state.is_valued or not isinstance(found, LostValue):
        return found
    if not isinstance(old, TileValue) or not isinstance(new, TileValue):
        return found
    # Of other types, Triton compiles no such loop.
    is_alike = BECOMES.get(old.kind, old.kind) == BECOMES.get(new.kind, new.kind)
    is_known = new.kind in (*kinds.WHOLES, *kinds.FLOATS, kinds.SIZE, kinds.OFFSET)
    if isinstance(new.item, PointerValue | Radix) or not is_alike or not is_known:
        return found
    return TileValue(new.axes, unknown_after_loop(state, one, old, new, end), new.kind)
