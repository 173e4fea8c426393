"""Describes what an access of a statement moves over all loops around it."""

from functools import cached_property

from dtpoly.algorithm.expressions import Affine
from dtpoly.explore.accesses.tile_counts import (
    CountedAlong,
    StatementWalk,
    lanes_of,
    steps_of,
    total,
    trips,
)
from dtpoly.frozen import dataclass

# A tile of at most this many lanes is loaded before a loop that does not change it, as in codegen.
KEPT = 1 << 12
FOURS = 4  # elements of which rows must be multiples
VECTOR = 16  # bytes


@dataclass(frozen=True)
class AccessStream:
    """One load or store of a kernel, over everything that it walks.

    An operand of a product goes through shared memory. Scratch belongs to one program.
    """

    array: str
    is_store: bool
    indices: tuple[Affine, ...]
    walk: StatementWalk
    size: int  # bytes of an element
    shape: tuple[int, ...]
    is_operand: bool = False
    is_scratch: bool = False
    is_atomic: bool = False
    is_kept: bool = False  # other statements read the same tile
    is_aligned: bool = False  # rows begin aligned whatever their length, as of what kernels pass on
    told: int = 16  # what the kernel knows rows to be multiples of, if they are: 16, 4, or nothing

    @cached_property
    def labels(self) -> frozenset[str]:
        """Return the labels of the indices."""
        return frozenset(label for index in self.indices for label in index.labels)

    @cached_property
    def loaded(self) -> int:
        """Return how many elements go through the stream in all programs together."""
        return self._total(CountedAlong.INDICES)

    @cached_property
    def lanes(self) -> int:
        """Return the number of elements with the lanes that a mask leaves out."""
        return self._total(CountedAlong.TILES) * lanes_of(self.walk, self.labels)

    def _total(self, along: CountedAlong) -> int:
        kept = self._kept
        found = total(
            self.walk,
            {
                label: along
                if label in self.labels
                else CountedAlong.ONCE
                if label in kept
                else CountedAlong.TILES
                for label in self.walk.statement.labels
            },
        )
        return found // self._iterations(kept)

    def _iterations(self, kept: frozenset[str]) -> int:
        """Count the iterations for each of which a copy counts, although it is loaded once."""
        found = 1
        for axis in self.walk.loops if self.walk.joined else ():
            if axis.index.plain in kept and axis.name in self.walk.statement.copies:
                found *= trips(self.walk, axis)
        return found

    @cached_property
    def tile(self) -> int:
        """Return how many elements one step moves."""
        found = 1
        for label in self.labels & self.walk.labels:
            found *= min(steps_of(self.walk, label), max(self.walk.extents[label], 1))
        return found

    @cached_property
    def run(self) -> int:
        """Return how many elements of a tile are neighbours in memory."""
        if not self.indices or not self.shape:
            return 1
        run, behind = 1, 1
        for index, extent in zip(reversed(self.indices), reversed(self.shape), strict=False):
            near = [
                label
                for label, factor in index.terms
                if isinstance(label, str) and abs(factor) == 1
            ]
            along = max((steps_of(self.walk, label) for label in near), default=1)
            run += (min(along, extent) - 1) * behind
            behind *= extent
            if along < extent:
                break
        return max(run, 1)

    @cached_property
    def is_wide(self) -> bool:
        """True if a thread may move several elements at once, as far as Triton knows.

        All that Triton sees of a number is whether it is divisible by 16. A kernel is told that
        rows are multiples of four (`codegen/fours.py`).
        """
        if self.size >= 16 or self.run < 2 or not (self.begins_aligned and self.told):
            return False
        if self.is_aligned:
            return True
        if not self.shape or len(self.shape) == 1:
            return all(extent % 16 == 0 for extent in self.shape)
        return self.shape[-1] % FOURS == 0

    @property
    def at_once(self) -> int:
        """Return how many elements a thread moves by one instruction, of 16 bytes at most."""
        return max(min(VECTOR // self.size, self.told, self.run), 1) if self.is_wide else 1

    @property
    def begins_aligned(self) -> bool:
        """Return whether tiles begin where rows do, or whole numbers of vectors further.

        A sum of labels, as a window has, and a shift begin anywhere.
        """
        if not self.indices:
            return True
        last = self.indices[-1]
        return len(last.terms) <= 1 and last.constant % 16 == 0

    @property
    def is_resident(self) -> bool:
        """True if a tile of an operand is loaded before the joined loop that multiplies it."""
        return self.is_operand and bool(self._kept)

    @property
    def _kept(self) -> frozenset[str]:
        """Return the labels whose loops do not change the indices.

        The load stands before these loops, also that of an operand where loops are joined.
        """
        is_again = self.is_operand and not self.walk.joined
        if self.is_store or is_again or (self.tile > KEPT and not self.is_operand):
            return frozenset()
        kept: set[str] = set()
        for axis in reversed(self.walk.loops):
            label = axis.index.plain
            if label is None or label in self.labels or label not in self.walk.labels:
                break
            is_apart = axis.name in self.walk.statement.copies and not self.walk.joined
            if is_apart and steps_of(self.walk, label) > 1:
                break
            kept.add(label)
        return frozenset(kept)
