"""Says how much of a directive a verdict can depend on, where an algorithm is aligned.

docs/explore.md says which algorithms are, and why schedules that agree in this have one verdict.
"""

from collections.abc import Hashable
from enum import Enum

from dtpoly.frozen import dataclass


class Piece(Enum):
    """The part of a label that a number is the size of."""

    BLOCK = "a block, for a program"
    TILE = "a tile, for lanes"


@dataclass(frozen=True, slots=True)
class Number:
    """The size of the pieces of a label; of one producer alone, if that is not empty."""

    label: str
    piece: Piece
    size: int
    producer: str = ""


@dataclass(frozen=True, slots=True)
class Depends:
    """The part of one directive on which a verdict can depend.

    Schedules that share a verdict have equal skeletons, and the numbers along each label compare in
    the same way. If a directive `is_once`, two of it on one Func may contradict each other, so
    schedules that have two of it share no verdict.
    """

    skeleton: tuple[Hashable, ...]
    numbers: tuple[Number, ...] = ()
    is_once: bool = False
