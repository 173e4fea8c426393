"""Find which side of a branch is always taken, where a name would be lost after it otherwise.

A kernel may move an address every few rounds, by `if (i + STEP) % BLOCK == 0:`. With some constants
that is in each round, or in none.
"""

from __future__ import annotations

from collections.abc import Mapping

from dtpoly.verify.algebra.kernel_values import LostValue, Value
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.whole import Truth, both, names_of, negation
from dtpoly.verify.triton.carrying import merged
from dtpoly.verify.triton.domains import ranged
from dtpoly.verify.triton.kernel_state import KernelState


def after_branch(
    state: KernelState,
    condition: Truth,
    yes: Mapping[str, Value],
    no: Mapping[str, Value],
    line: int,
) -> Mapping[str, Value]:
    """Return what names hold after a branch, from what they hold after each of its sides."""
    found = merged(state, condition, yes, no, line)
    is_open = any(
        isinstance(value, LostValue)
        and not isinstance(yes.get(one), LostValue | None)
        and not isinstance(no.get(one), LostValue | None)
        for one, value in found.items()
    )
    here = both(state.facts, state.here(), condition)
    here = both(here, ranged(state.digits.ranges, state.ranges, names_of(here)))
    if not is_open or not is_affine(here):
        return found
    state.run.about(line, "a branch always takes one of its sides")
    facts = both(state.facts, state.here())
    ranges = ranged(state.digits.ranges, state.ranges, names_of(here))
    where = set_of(both(facts, ranges))
    for side, always in ((yes, condition), (no, negation(condition))):
        if state.run.holds(always, where):
            return side
    return found
