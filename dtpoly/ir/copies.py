"""Steps of copies that go on while a kernel computes: they are checked, and not printed yet.

A buffer lies in memory that all lanes of a program share, and has several slots, each for one tile.
A copy into a slot is begun, and the kernel goes on. Copies that were begun since the last `Commit`
are one group. Groups end in their order. So `WaitFor(1)` waits until all but the last one are done.
Each lane waits for what it has copied itself. After a barrier behind the wait, it sees what the
others have copied, too.
"""

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.kinds import Element
from dtpoly.ir.tile_values import Axes, Test


@dataclass(frozen=True, slots=True)
class SharedBuffer:
    """Memory that the lanes of a program share: so many slots, each for a tile of a shape."""

    name: str
    slots: int
    shape: tuple[int, ...]
    dtype: Element


@dataclass(frozen=True, slots=True)
class CopyLater:
    """Begin to copy a tile of a tensor into a slot; 0 where a condition fails.

    Slots are counted round and round: `slot` may be any number, and its remainder counts.
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
    """Wait until no more than `pending` of the groups, the last ones, are under way."""

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
