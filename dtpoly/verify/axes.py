"""Axes whose lanes are numbered by several names together, since their extent is a product.

Of `512 * w_lanes` lanes a single number says which of 512, and which of `w_lanes`; but a quotient
by `w_lanes` is nothing that sets can say. So such an axis has one name for each factor, outermost
first. Which factor is outermost is seen where the tile is reshaped: `laid_out` remembers it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dtpoly.verify.values import TOGETHER, lanes_of
from dtpoly.verify.whole import Whole, number

if TYPE_CHECKING:
    from dtpoly.verify.machine import Machine

Extents = tuple[Whole, ...]
Axes = tuple[str | None, ...]


class LaidOutAnewError(Exception):
    """An axis of that extent has other factors than was thought: the kernel is read again."""

    def __init__(self, extent: Whole, factors: Extents) -> None:
        super().__init__("an axis has other factors than was thought")
        self.extent = extent
        self.factors = factors


def axis_of(machine: Machine, extent: Whole) -> str | None:
    """A new axis of lanes, with a name for each factor of its extent; None for one lane."""
    factors = machine.laid_out.get(extent) or _factors(extent)
    if len(factors) < 2:
        return machine.lane(extent)
    return _axis(machine, extent, factors)


def like(machine: Machine, axis: str) -> str | None:
    """A new axis with the factors of another."""
    factors = extents_of(machine, axis)
    if len(factors) < 2:
        return machine.lane(machine.extents[axis])
    return _axis(machine, machine.extents[axis], factors)


def extents_of(machine: Machine, axis: str) -> Extents:
    """The factors of an axis, outermost first."""
    return tuple(machine.extents[one] for one in lanes_of((axis,)))


def shape_of(machine: Machine, axes: Axes) -> tuple[Whole, ...]:
    """How many lanes there are along each axis."""
    return tuple(number(1) if one is None else machine.extents[one] for one in axes)


def merged(extents: Extents) -> Extents:
    """The factors of an axis that is made of others: numbers that are neighbours are one."""
    found: list[Whole] = []
    for extent in extents:
        if found and extent.constant is not None and found[-1].constant is not None:
            found[-1] = found[-1] * extent
        elif extent.constant != 1:
            found.append(extent)
    return tuple(found)


def _axis(machine: Machine, extent: Whole, factors: Extents) -> str:
    names = [one for factor in factors if (one := machine.lane(factor)) is not None]
    axis = TOGETHER.join(names)
    machine.extents[axis] = extent
    machine.bound_lanes(extent)
    return axis


def _factors(extent: Whole) -> Extents:
    """The factors of a product, in any order."""
    if extent.constant is not None or len(extent.terms) != 1:
        return (extent,)
    ((monomial, coefficient),) = extent.terms
    numbers = (number(coefficient),) if coefficient != 1 else ()
    return (*numbers, *(Whole((((atom,), 1),)) for atom in monomial))
