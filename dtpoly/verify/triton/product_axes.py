"""Axes of tiles whose extent is a product: their lanes are numbered by several names together.

A lane of an axis with `512 * w_lanes` lanes could be one number, from which a division by `w_lanes`
gives the position in each factor. But sets cannot express a division by a name. So such an axis has
one name for each factor, the outermost first. Which factor is the outermost is seen only where the
tile is reshaped: then LaidOutAnewError is raised, and the kernel is read again with the right order
in `laid_out`.
"""

from __future__ import annotations

from dtpoly.verify.algebra.kernel_values import TOGETHER, lanes_of
from dtpoly.verify.algebra.whole import Whole, number
from dtpoly.verify.triton.kernel_state import KernelState

Extents = tuple[Whole, ...]
Axes = tuple[str | None, ...]


class LaidOutAnewError(Exception):
    """An axis of this extent has other factors than was assumed: the kernel is read again."""

    def __init__(self, extent: Whole, factors: Extents) -> None:
        super().__init__("an axis has other factors than was thought")
        self.extent = extent
        self.factors = factors


def axis_of(state: KernelState, extent: Whole) -> str | None:
    """Make a new axis of lanes, with a name for each factor of its extent; None for one lane."""
    factors = state.laid_out.get(extent) or _factors(extent)
    if len(factors) < 2:
        return state.lane(extent)
    return _axis(state, extent, factors)


def like(state: KernelState, axis: str) -> str | None:
    """Make a new axis with the factors of another one."""
    factors = extents_of(state, axis)
    if len(factors) < 2:
        return state.lane(state.extents[axis])
    return _axis(state, state.extents[axis], factors)


def extents_of(state: KernelState, axis: str) -> Extents:
    """Return the factors of an axis, the outermost first."""
    return tuple(state.extents[one] for one in lanes_of((axis,)))


def shape_of(state: KernelState, axes: Axes) -> tuple[Whole, ...]:
    """Return how many lanes there are along each axis."""
    return tuple(number(1) if one is None else state.extents[one] for one in axes)


def merged(extents: Extents) -> Extents:
    """Return the factors of an axis that joins others: constants side by side are multiplied."""
    found: list[Whole] = []
    for extent in extents:
        if found and extent.constant is not None and found[-1].constant is not None:
            found[-1] = found[-1] * extent
        elif extent.constant != 1:
            found.append(extent)
    return tuple(found)


def _axis(state: KernelState, extent: Whole, factors: Extents) -> str:
    names = [one for factor in factors if (one := state.lane(factor)) is not None]
    axis = TOGETHER.join(names)
    state.extents[axis] = extent
    state.bound_lanes(extent)
    return axis


def _factors(extent: Whole) -> Extents:
    """Return the factors of a product: the constant first, the others in no meaningful order."""
    if extent.constant is not None or len(extent.terms) != 1:
        return (extent,)
    ((monomial, coefficient),) = extent.terms
    numbers = (number(coefficient),) if coefficient != 1 else ()
    return (*numbers, *(Whole((((atom,), 1),)) for atom in monomial))
