"""Defines the steps of asynchronous copies, which go on while a kernel computes.

The checks of kernels know these steps. No printer writes them yet.

A buffer lies in memory that all lanes of a program share, and has several slots, each for one tile.
A copy into a slot is begun, and the kernel goes on. Copies that were begun since the last `Commit`
are one group. Groups end in their order. So `WaitFor(1)` waits until all groups but the last one
are done. Each lane waits only for what it has copied itself. After a barrier behind the wait, it
also sees what the other lanes have copied.
"""

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.kinds import Element
from dtpoly.ir.tile_values import Axes, Test


@dataclass(frozen=True, slots=True)
class SharedBuffer:
    """Memory that the lanes of a program share: `slots` slots, each for a tile of this shape."""

    name: str
    slots: int
    shape: tuple[int, ...]
    dtype: Element


@dataclass(frozen=True, slots=True)
class CopyLater:
    """Begin to copy a tile of a tensor into a slot; elements are 0 where a condition fails.

    `slot` may be any number: its remainder by the number of slots is the number of the slot.
    """

    buffer: str
    slot: Affine
    tensor: str
    indices: tuple[Affine, ...]
    conditions: tuple[Test, ...]
    axes: Axes


@dataclass(frozen=True, slots=True)
class Commit:
    """Make one group of the copies that were begun since the last group."""


@dataclass(frozen=True, slots=True)
class WaitFor:
    """Wait until at most the last `pending` groups are under way."""

    pending: int


@dataclass(frozen=True, slots=True)
class LoadSlot:
    """`name = ` the tile in a slot of a buffer."""

    name: str
    buffer: str
    slot: Affine
    axes: Axes
    dtype: Element


CopyStep = SharedBuffer | CopyLater | Commit | WaitFor | LoadSlot
