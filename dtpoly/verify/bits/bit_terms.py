"""Write how the value of an element is rounded: which operations are done, in which order.

Such a term keeps what the terms of the other proofs leave out: casts, the order of a sum, and how a
sum is cut into tiles. Nothing in it is simplified. Two equal terms of equal elements give the same
bits; this is what `bit_comparison` asks for.

The names in a term are those of lanes, loops, programs and sizes that the verifier's reader made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.shared_nodes import Shared
from dtpoly.verify.algebra.whole import Truth, Whole
from dtpoly.verify.triton.access import KernelAccess, Ran


@dataclass(frozen=True, slots=True, eq=False)
class BitNumber(Shared):
    """A whole number or a truth that follows from sizes and places alone."""

    item: Whole | Truth
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class BitElement(Shared):
    """An element of a tensor, as it is loaded."""

    tensor: str
    indices: tuple[Whole, ...]
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class BitOperation(Shared):
    """An operation of one lane. The word says which one, and has all its options."""

    word: str
    operands: tuple[BitTerm, ...]
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class BitChoice(Shared):
    """One value where a formula over places and sizes holds, and another elsewhere."""

    condition: Truth
    yes: BitTerm
    no: BitTerm


@dataclass(frozen=True, slots=True, eq=False)
class BitTile(Shared):
    """A number made of all lanes of a tile along an axis, such as `tl.sum` or `tl.dot`.

    How Triton groups the lanes is not known here. It is taken to be the same wherever the word, the
    number of lanes along each axis, and the kernel are the same. `inside` are the values that are
    put together, over the `bound` lanes, and `beside` are values that do not depend on these.
    """

    word: str
    bound: tuple[str, ...]
    shape: tuple[Whole, ...]
    inside: tuple[BitTerm, ...]
    beside: tuple[BitTerm, ...]
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class BitLoopStart(Shared):
    """What a variable holds when an iteration of a loop begins, at some lanes."""

    loop: str
    variable: str
    lanes: tuple[Whole, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BitLoopEnd(Shared):
    """What a variable holds when a loop is over, at some lanes."""

    loop: str
    variable: str
    lanes: tuple[Whole, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BitMoved(Shared):
    """A term with numbers in the place of some of its names."""

    of: BitTerm
    names: tuple[tuple[str, Whole], ...]


@dataclass(frozen=True, slots=True, eq=False)
class BitUnknown(Shared):
    """A value that is not followed: why, and in which line."""

    line: int
    why: str


BitTerm = (
    BitNumber
    | BitElement
    | BitOperation
    | BitChoice
    | BitTile
    | BitLoopStart
    | BitLoopEnd
    | BitMoved
    | BitUnknown
)


@dataclass(frozen=True, slots=True)
class BitValue:
    """What a name of a kernel holds: the axes of a tile, as the reader names them, and a term."""

    axes: tuple[str | None, ...]
    term: BitTerm


@dataclass
class BitLoop:
    """A loop: the names that it counts by with their ranges, and its variables.

    For each variable that it carries on there is the value before the loop, and the value at the
    end of an iteration, both over the lanes of the first one.
    """

    line: int
    ranges: Mapping[str, Truth]
    first: dict[str, BitValue] = field(default_factory=dict[str, BitValue])
    last: dict[str, BitValue] = field(default_factory=dict[str, BitValue])


@dataclass(frozen=True, slots=True)
class BitStore:
    """A store of a kernel, and what is stored."""

    access: KernelAccess
    term: BitTerm


@dataclass(frozen=True, slots=True)
class BitKernel:
    """One launch, as it rounds: its stores, its loops and the number of lanes of each axis."""

    ran: Ran
    stores: Sequence[BitStore]
    loops: Mapping[str, BitLoop]
    extents: Mapping[str, Whole]
