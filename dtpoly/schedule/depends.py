"""Says how much of a directive a verdict can depend on, where an algorithm is aligned.

docs/explore.md says which algorithms are, and why schedules that agree in this have one verdict.
"""

from collections.abc import Hashable
from enum import Enum

from dtpoly.frozen import dataclass


class Piece(Enum):
    """What part of a label a number is the size of."""

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
    """All of one directive that a verdict can depend on.

    Schedules that share a verdict agree in the skeletons. Of the numbers along a label, only the
    relations between them count. If a directive `is_once`, two of it on one Func may contradict
    each other, so that schedules with two of it share nothing.
    """

    skeleton: tuple[Hashable, ...]
    numbers: tuple[Number, ...] = ()
    is_once: bool = False
