"""Read loops and quotients whose step or divisor is a power of two that is not below the size.

A wrapper often passes `next_power_of_2(n)` for a tile that the kernel takes in a loop all the same:
`for i in range(0, n, BLOCK)` runs once then, or not at all if n is 0.
"""

from __future__ import annotations

from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.whole import Extreme, Whole, both, compare, extreme, names_of, number
from dtpoly.verify.triton.domains import ranged
from dtpoly.verify.triton.kernel_state import KernelState


def is_round(state: KernelState, low: Whole, high: Whole, step: Whole) -> bool:
    """Return whether a step is at least 1, and leads from one number to another or beyond it."""
    wanted = both(compare(">=", step, number(1)), compare(">=", low + step, high))
    here = both(state.facts, state.here())
    here = both(here, ranged(state.digits.ranges, state.ranges, names_of(both(here, wanted))))
    if not is_affine(both(here, wanted)):
        return False
    state.run.about(state.line, "a step that is a size leads to the end")
    return state.run.holds(wanted, set_of(here))


def as_one(
    state: KernelState, ends: tuple[Whole, Whole, Whole], kind: str, line: int
) -> tuple[Whole, Whole, Whole]:
    """Return the bounds and the step of a loop; where one step leads to the end, steps are 1."""
    low, high, by = ends
    if by.constant is not None or not is_round(state, low, high, by):
        return ends
    # Triton compares the counter with the end after the only iteration, too.
    state.looked_at(low + by, kind, line)
    return low, extreme(False, high, low + 1), number(1)


def is_at_most_once(state: KernelState, low: Whole, high: Whole) -> bool:
    """Return whether a loop in steps of 1 runs at most once, where that can be seen of its end."""
    atoms = (atom for monomial, _ in high.terms for atom in monomial)
    has_limit = any(isinstance(one, Extreme) for one in atoms)
    return has_limit and is_round(state, low, high, number(1))


def blocks_of(state: KernelState, size: Whole, by: Whole) -> Whole | None:
    """Return how many blocks a size has, if one is enough: 1, or 0 for nothing; else None."""
    is_one = is_round(state, number(0), size, by) and is_round(state, -size, number(0), size + 1)
    return extreme(False, size, number(1)) if is_one else None
