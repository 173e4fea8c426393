"""The nodes of the loops of one program: bounds, conditions, and the tiles of each statement.

Lanes were cut out beforehand, so that a tile is one point, and grid axes are parameters. So these
are loops over tiles and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.poly.lazy import isl
from dtpoly.poly.masks import Condition as MaskCondition


@dataclass(frozen=True, slots=True)
class Combined:
    """An operation on bounds: `min`, `max`, `+`, `-`, `*`, `//`, `%`."""

    operation: str
    operands: tuple[Bound, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """One bound where every condition holds, else another."""

    conditions: tuple[Condition, ...]
    left: Bound
    right: Bound


Bound = Affine | Combined | Chosen


@dataclass(frozen=True, slots=True)
class Compared:
    """`left >= right`, or `left == right`."""

    left: Bound
    right: Bound
    is_equal: bool = False


@dataclass(frozen=True, slots=True)
class Either:
    """One of several conjunctions holds."""

    ways: tuple[tuple[Condition, ...], ...]


Condition = Compared | Either


@dataclass(frozen=True, slots=True)
class For:
    """`for name in range(start, stop, step)`; `name` is isl's, `axis` the schedule's."""

    name: str
    axis: str
    start: Bound
    stop: Bound
    step: int
    body: tuple[LoopNode, ...]


@dataclass(frozen=True, slots=True)
class Once:
    """A loop of one iteration whose value is no affine function: a name for it."""

    name: str
    axis: str
    value: Bound
    body: tuple[LoopNode, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """The body if every condition holds."""

    conditions: tuple[Condition, ...]
    body: tuple[LoopNode, ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile of a statement, by where it starts; `occurs` is the set of tiles it is here.

    A lane computes where all conditions of one of the `ways` hold.
    """

    statement: str
    start: Mapping[str, Bound]  # dim -> index of its first lane
    loops: Mapping[str, Affine]  # axis -> what the loop over it counts here
    occurs: isl.Set
    ways: tuple[tuple[MaskCondition, ...], ...]


LoopNode = For | Once | Guard | Tile


def plus(value: Bound, number: int) -> Bound:
    """A bound and a number."""
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
