"""Defines the nodes of the loops of one program: bounds, conditions, and tiles of statements.

Lanes were cut out beforehand, so that a tile is one point, and grid axes are parameters. So these
are loops over tiles and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.masks import Condition as MaskCondition


@dataclass(frozen=True, slots=True)
class Combined:
    """An operation on bounds: `min`, `max`, `+`, `-`, `*`, `//` or `%`."""

    operation: str
    operands: tuple[Bound, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A bound that is `left` where every condition holds, and `right` elsewhere."""

    conditions: tuple[Condition, ...]
    left: Bound
    right: Bound


Bound = Affine | Combined | Chosen


@dataclass(frozen=True, slots=True)
class Compared:
    """The condition `left >= right`, or `left == right` if `is_equal` is true."""

    left: Bound
    right: Bound
    is_equal: bool = False


@dataclass(frozen=True, slots=True)
class OneOfWays:
    """The condition that all conditions of one of the ways hold."""

    ways: tuple[tuple[Condition, ...], ...]


Condition = Compared | OneOfWays


@dataclass(frozen=True, slots=True)
class For:
    """A loop, `for name in range(start, stop, step)`.

    Isl gave it its name, the schedule its axis.
    """

    name: str
    axis: str
    start: Bound
    stop: Bound
    step: int
    body: tuple[LoopNode, ...]


@dataclass(frozen=True, slots=True)
class Once:
    """A loop of one iteration whose value is not an affine function, so it needs a name."""

    name: str
    axis: str
    value: Bound
    body: tuple[LoopNode, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """A body that runs if every condition holds."""

    conditions: tuple[Condition, ...]
    body: tuple[LoopNode, ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile of a statement, by its start; `occurs` is the set of tiles that this node runs.

    A lane computes where all conditions of one of the `ways` hold.
    """

    statement: str
    start: Mapping[str, Bound]  # from each dim to the index of its first lane
    loops: Mapping[str, Affine]  # from each axis to the value that the loop over it counts here
    occurs: isl.Set
    ways: tuple[tuple[MaskCondition, ...], ...]


LoopNode = For | Once | Guard | Tile


def plus(value: Bound, number: int) -> Bound:
    """Return the sum of a bound and a number."""
    match value:
        case Affine():
            return value + Affine((), number)
        case Combined(operation="min" | "max", operands=operands):
            return Combined(value.operation, tuple(plus(one, number) for one in operands))
        case Combined(operation="+", operands=(one, Affine(terms=()) as two)):
            total = two.constant + number
            return Combined("+", (one, Affine((), total))) if total else one
        case Combined():
            return Combined("+", (value, Affine((), number))) if number else value
        case Chosen(left=left, right=right):
            return replace(value, left=plus(left, number), right=plus(right, number))
        case _:
            assert_never(value)
