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
    lanes_of,
)
from dtpoly.verify.triton.carrying import LoopEnd, after_loop
from dtpoly.verify.triton.data_names import unknown
from dtpoly.verify.triton.earlier import with_others
from dtpoly.verify.triton.kernel_state import KernelState


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
    if not isinstance(old, TileValue) or not isinstance(new, TileValue) or old.kind != new.kind:
        return found
    if isinstance(new.item, PointerValue | Radix) or new.kind not in (*kinds.WHOLES, *kinds.FLOATS):
        return found
    return TileValue(new.axes, unknown(state, new.kind, lanes_of(new.axes)), new.kind)
