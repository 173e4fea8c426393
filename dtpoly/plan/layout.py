"""Describes how the loops of one kernel are laid out, before directives say it.

The autoscheduler decides it, and each directive says its own part of it, and why.
"""

from collections.abc import Mapping
from math import inf, prod

from dtpoly.frozen import dataclass

Sizes = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A number of blocks of a label that follow each other before the other labels go on."""

    label: str
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Partial:
    """A label that is reduced in blocks of that size; the label of the blocks has a name."""

    label: str
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The loops of one kernel, as a schedule says them, without what is fused into it.

    A tile of 0 is the whole block or label. `each` is how many programs a multiprocessor keeps.
    """

    func: str
    blocks: Sizes = ()
    partial: Partial | None = None
    tiles: Sizes = ()
    order: tuple[str, ...] = ()  # of programs, outermost first
    descending: tuple[str, ...] = ()  # labels of which programs take the last block first
    group: Group | None = None
    flat: tuple[str, ...] = ()
    precision: str = ""
    descriptors: tuple[str, ...] = ()
    aligned: tuple[str, ...] = ()
    turned: tuple[str, ...] = ()
    each: int = 0
    warps: int = 4
    stages: int = 0
    busy: float = inf  # seconds that the kernel is predicted to take

    def block(self, label: str) -> int | None:
        """Return the block of a label, if it has one."""
        return dict(self.blocks).get(label)

    def tile(self, label: str) -> int:
        """Return how many indices of a label are computed together; 0 is all of them."""
        return dict(self.tiles).get(label, 1)


@dataclass(frozen=True, slots=True)
class Decided:
    """A kernel with its layout, and the numbers that say why it is laid out so."""

    layout: Layout
    sizes: Mapping[str, int]
    reduced: tuple[str, ...]  # labels that something in the kernel reduces over
    product: tuple[str, ...]  # labels that its last product of matrices sums over
    operand: int  # bytes of an element that is multiplied
    kept: tuple[tuple[str, ...], ...]  # the labels of each tile that a program has
    processors: int
    programs: int
    shared: int  # bytes of shared memory

    def span(self, label: str) -> int:
        """Return how many indices of a label are computed together."""
        size = self.sizes.get(label, 0)
        around = self.layout.block(label) or size
        tile = self.layout.tile(label)
        return min(tile or around, around) if around else tile

    @property
    def elements(self) -> int:
        """Return how many elements a program has at once, of the largest tile that anything has."""
        return max(prod(map(self.span, labels)) for labels in self.kept)

    @property
    def blocks(self) -> int:
        """Return how many blocks there are, apart from those of a reduction in parts."""
        return prod(self.parts(label, size) for label, size in self.layout.blocks)

    def parts(self, label: str, size: int) -> int:
        """Return how many parts of a size a label has; the last one may be smaller."""
        return -(-self.sizes[label] // size)
