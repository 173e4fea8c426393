"""Lists the layouts of a kernel with several products, such as attention, and all its choices."""

from collections.abc import Sequence
from dataclasses import field
from math import prod

from dtpoly.autoschedule.nest import KernelNest, sides_of
from dtpoly.autoschedule.powers import powers
from dtpoly.frozen import dataclass
from dtpoly.plan.layout import Layout

SMALLEST, LARGEST = 16, 128  # tiles of a label
WHOLE = 256  # indices of a label that may be one tile
SUMS = 128  # of a thread, in registers
WARP = 32


@dataclass(frozen=True, slots=True)
class LabelWalk:
    """One way to walk a label: in blocks of programs, or in tiles; 0 for none, for all of it."""

    label: str
    block: int
    tile: int


Option = LabelWalk | int


@dataclass(frozen=True)
class Chain:
    """The choices of a kernel, made one by one: each label's walk, then warps, then stages."""

    nest: KernelNest
    precision: str
    knobs: tuple[tuple[Option, ...], ...]
    fixed: tuple[str, ...] = field(default=())  # labels that go by one

    @property
    def starts(self) -> tuple[tuple[int, ...], ...]:
        """Small blocks in which one label is summed up whole, and the others in the least steps.

        Nothing near may be possible: with two labels whole the tiles are too large, and where
        none is, what is reduced before it is read again has to be computed again.
        """
        found: list[tuple[int, ...]] = []
        for label in self.nest.reduced:
            chosen = [self._first(knob, whole=label) for knob in self.knobs]
            if None not in chosen:
                found.append(tuple(one for one in chosen if one is not None))
        return tuple(found)

    def _first(self, knob: Sequence[Option], whole: str) -> int | None:
        """Return the first option that walks this label whole, or another reduced one in steps."""
        for at, one in enumerate(knob):
            if not isinstance(one, LabelWalk) or one.label in self.nest.labels:
                return at
            if (one.label == whole) is (one.tile == 0):
                return at
        return None

    def layout(self, chosen: Sequence[int]) -> Layout | None:
        """Return the layout of an option of each knob.

        None where sums do not fit in registers, and where there is no loop that has stages.
        """
        options = [knob[at] for knob, at in zip(self.knobs, chosen, strict=True)]
        along = {one.label: one for one in options if isinstance(one, LabelWalk)}
        warps, stages = (one for one in options if isinstance(one, int))
        spans = {x: self._span(along[x]) if x in along else 1 for x in self.nest.sizes}
        sums = max(prod(spans[x] for x in one.kept) for one in self.nest.sums)
        is_loop = any(0 < spans[x] < self.nest.sizes[x] and not o.block for x, o in along.items())
        if sums / (warps * WARP) > SUMS or (stages and not is_loop):
            return None
        blocks = {x: 1 for x in self.fixed} | {x: o.block for x, o in along.items() if o.block}
        sizes = tuple((x, blocks[x]) for x in self.nest.labels if x in blocks)
        order = tuple(x for x, _ in sizes)
        tiles = {x: 0 for x in self.fixed} | {x: one.tile for x, one in along.items()}
        return Layout(
            self.nest.func.name,
            sizes,
            tiles=tuple(tiles.items()),
            order=order if len(order) > 1 else (),
            precision=self.precision,
            warps=warps,
            stages=stages,
        )

    def _span(self, one: LabelWalk) -> int:
        return one.tile or one.block or self.nest.sizes[one.label]


def chain(nest: KernelNest, precision: str) -> Chain:
    """Return rows in blocks, columns in blocks or walked, what is summed up whole or in steps."""
    last = nest.products[-1]
    left, right, batch = sides_of(nest, last)
    knobs: list[tuple[Option, ...]] = []
    for label in (*left, *right):
        size = nest.sizes[label]
        tiles = tuple(powers(SMALLEST, min(LARGEST, max(2 * size - 1, SMALLEST))))
        found = [LabelWalk(label, x, 0) for x in tiles]
        if label in right:
            whole = (0,) if size <= WHOLE else ()
            found += [LabelWalk(label, 0, x) for x in (*whole, *tiles)]
        knobs.append(tuple(found))
    for label in (x for x in nest.reduced if x not in nest.labels):
        size = nest.sizes[label]
        tiles = tuple(x for x in powers(2 * SMALLEST, LARGEST) if x < size)
        some = (0, *tiles) if size <= WHOLE or not tiles else tiles
        knobs.append(tuple(LabelWalk(label, 0, x) for x in some))
    return Chain(nest, precision, (*knobs, (4, 8), (0, 2, 3)), batch)
