"""Lists the layouts of a kernel with several products, such as attention, and all its choices."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import product
from math import inf, log2, prod

from dtpoly.autoschedule.layout_directives import new_name
from dtpoly.autoschedule.nest import KernelNest, sides_of
from dtpoly.autoschedule.powers import above, pieces, powers
from dtpoly.autoschedule.preferences import is_by_lanes
from dtpoly.autoschedule.splits import AT_ONCE, ENOUGH
from dtpoly.frozen import dataclass
from dtpoly.plan.layout import Layout, Partial

SMALLEST, LARGEST = 16, 128  # tiles of a label
SHORT = 8  # steps of sums of products without tensor cores
WHOLE = 256  # indices of a label that may be one tile
SUMS = 128  # of a thread, in registers
WARP = 32
USUAL_ROWS, USUAL_STEP = (64, 128), 64
SMALLEST_PART = 512  # of a label that is reduced in parts
MOST = 16  # programs for each multiprocessor; smaller parts would make more


@dataclass(frozen=True, slots=True)
class LabelWalk:
    """One way to walk a label: in blocks of programs, or in tiles; 0 for none, for all of it."""

    label: str
    block: int
    tile: int


@dataclass(frozen=True, slots=True)
class Threads:
    """The warps of a program, and the iterations that are under way; 0 for what is usual.

    One choice, since more stages may leave room for one program alone, which then wants more warps.
    """

    warps: int
    stages: int


@dataclass(frozen=True, slots=True)
class LabelParts:
    """The size of the parts of a label that have programs of their own; 0 for no parts."""

    label: str
    size: int


Option = LabelWalk | Threads | LabelParts
THREADS = tuple(Threads(warps, stages) for warps in (4, 8) for stages in (0, 2, 3))


@dataclass(frozen=True)
class Chain:
    """The choices of a kernel, made one by one: each label's walk, then threads."""

    nest: KernelNest
    precision: str
    processors: int
    knobs: tuple[tuple[Option, ...], ...]
    fixed: tuple[str, ...] = field(default=())  # labels that go by one

    @property
    def starts(self) -> tuple[tuple[int, ...], ...]:
        """Small blocks in which one label is summed up whole, and the others in the least steps.

        Nothing near may be possible: with two labels whole the tiles are too large, and where
        none is, what is reduced before it is read again has to be computed again.
        """
        found: list[tuple[int, ...]] = [*self._usual()] if self.nest.joined else []
        # Without short steps, the first options and the middle ones are good places to begin.
        longer = [[at for at, one in enumerate(x) if not _is_short(one)] for x in self.knobs]
        found += [tuple(x[0] for x in longer), tuple(x[(len(x) - 1) // 2] for x in longer)]
        for label in self.nest.reduced:
            chosen = [self._first(knob, whole=label) for knob in self.knobs]
            if None not in chosen:
                found.append(tuple(one for one in chosen if one is not None))
        return tuple(found)

    @property
    def least(self) -> tuple[int, ...]:
        """Return what asks for the least room, for where all usual blocks are too large."""
        return tuple(min(range(len(x)), key=lambda at: self._room(x[at])) for x in self.knobs)

    def _room(self, one: Option) -> int:
        """Return how much of registers and shared memory an option asks for, beside others."""
        match one:
            case Threads():
                return one.stages or 0
            case LabelParts():
                return one.size
            case LabelWalk():
                return one.tile or one.block or self.nest.sizes[one.label]

    def _usual(self) -> Iterator[tuple[int, ...]]:
        """Yield blocks of 64 and of 128 rows, with all columns, and steps of 64.

        In a joined loop the steps along a label do not depend on what else is whole.
        """
        rows = sides_of(self.nest, self.nest.products[-1])[0]
        for many, threads in product(USUAL_ROWS, (Threads(4, 3), Threads(8, 3))):
            wanted = dict.fromkeys(rows, many)
            chosen = [self._nearest(knob, wanted, threads) for knob in self.knobs]
            yield tuple(chosen)

    def _nearest(self, knob: Sequence[Option], rows: Mapping[str, int], threads: Threads) -> int:
        """Return the option of a knob that is nearest to what is usual."""

        def away(at: int) -> float:
            one = knob[at]
            if isinstance(one, Threads):
                return 0.0 if one == threads else 1.0
            if isinstance(one, LabelParts):
                count = pieces(self.nest.sizes[one.label], one.size) if one.size else 1
                return abs(log2(count * self._programs(rows) / (ENOUGH * self.processors)))
            if one.label in rows:
                return abs(log2(one.block / rows[one.label])) if one.block else inf
            size = self.nest.sizes[one.label]
            wanted = 0 if size <= WHOLE else USUAL_STEP
            is_walked = not one.block
            return abs(one.tile - wanted) if is_walked else inf

        return min(range(len(knob)), key=away)

    def _programs(self, rows: Mapping[str, int]) -> int:
        """Return how many programs there are with these blocks of rows, each with all columns."""
        return programs_of(self.nest, {**dict.fromkeys(self.fixed, 1), **rows})

    def _first(self, knob: Sequence[Option], whole: str) -> int | None:
        """Return the first option that walks this label whole, or another reduced one in steps.

        Steps are not short ones.
        """
        for at, one in enumerate(knob):
            if _is_short(one):
                continue
            if not isinstance(one, LabelWalk) or one.label in self.nest.labels:
                return at
            if (one.label == whole) is (one.tile == 0):
                return at
        return None

    def chosen(self, layout: Layout) -> tuple[int, ...] | None:
        """Return the option of each knob that a layout has, maybe one of another kernel.

        None where it has something else, or where this kernel has a label that it lacks.
        """
        part = layout.partial.size if layout.partial else 0
        said: tuple[Option, ...] = (
            Threads(layout.warps, layout.stages),
            *(LabelWalk(x, layout.block(x) or 0, tile) for x, tile in layout.tiles),
            *(LabelParts(x, part) for x in self.nest.joined),
        )
        found: list[int] = []
        for knob in self.knobs:
            at = next((at for at, one in enumerate(knob) if one in said), None)
            if at is None:
                return None
            found.append(at)
        return tuple(found)

    def layout(self, chosen: Sequence[int]) -> Layout | None:
        """Return the layout of an option of each knob.

        None where sums do not fit in registers, and where stages are said without a loop.
        """
        options = [knob[at] for knob, at in zip(self.knobs, chosen, strict=True)]
        along = {one.label: one for one in options if isinstance(one, LabelWalk)}
        (threads,) = (one for one in options if isinstance(one, Threads))
        part = next((one for one in options if isinstance(one, LabelParts) and one.size), None)
        warps, stages = threads.warps, threads.stages
        spans = {x: self._span(along[x]) if x in along else 1 for x in self.nest.sizes}
        sums = max(prod(spans[x] for x in one.kept) for one in self.nest.sums)
        is_loop = any(0 < spans[x] < self.nest.sizes[x] and not o.block for x, o in along.items())
        if sums / (warps * WARP) > SUMS or (stages and not is_loop):
            return None
        blocks = {x: 1 for x in self.fixed} | {x: o.block for x, o in along.items() if o.block}
        sizes = tuple((x, blocks[x]) for x in self.nest.labels if x in blocks)
        order = tuple(x for x, _ in sizes)
        tiles = {x: 0 for x in self.fixed} | {x: one.tile for x, one in along.items()}
        partial = None
        if part is not None:
            if not 0 < along[part.label].tile <= part.size:
                return None
            name = new_name(part.label, "p", self.nest.taken)
            count = above(pieces(self.nest.sizes[part.label], part.size))
            lanes = prod(spans[x] for x in self.nest.labels)
            tiles |= {name: min(count, max(AT_ONCE // lanes, 1))}
            partial = Partial(part.label, name, part.size)
        return Layout(
            self.nest.func.name,
            sizes,
            partial,
            tiles=tuple(tiles.items()),
            order=order if len(order) > 1 and partial is None else (),
            descending=tuple(x for x in order if x in self.nest.growing),
            precision=self.precision,
            warps=warps,
            stages=stages,
        )

    def _span(self, one: LabelWalk) -> int:
        return one.tile or one.block or self.nest.sizes[one.label]


def _is_short(one: Option) -> bool:
    """Return whether an option walks a label in shorter steps than tensor cores take."""
    return isinstance(one, LabelWalk) and not one.block and 0 < one.tile < 2 * SMALLEST


def programs_of(nest: KernelNest, blocks: Mapping[str, int]) -> int:
    """Return how many programs there are with blocks of some labels; others are in one program."""
    return prod(pieces(nest.sizes[label], block) for label, block in blocks.items())


def parts(nest: KernelNest, blocks: Mapping[str, int], processors: int) -> Iterator[LabelParts]:
    """Yield parts of the label whose loops are joined, if there are few programs.

    With them there are some programs for each multiprocessor. A kernel that loads what others
    multiplied is left whole: it is seldom the best, and the search would take twice as long.
    """
    if len(nest.products) < 2:
        return
    long = [label for label in nest.joined if label not in nest.labels]
    programs = programs_of(nest, blocks)
    if len(long) == 1 and programs < ENOUGH * processors:
        size = nest.sizes[long[0]]
        for part in powers(SMALLEST_PART, size // 2):
            if processors <= programs * pieces(size, part) <= MOST * processors:
                yield LabelParts(long[0], part)


def chain(nest: KernelNest, precision: str, processors: int) -> Chain:
    """Return rows in blocks, columns in blocks or walked, what is summed up whole or in steps.

    With few programs also in parts that have programs of their own.
    """
    last = nest.products[-1]
    left, right, batch = sides_of(nest, last)
    knobs: list[tuple[Option, ...]] = []
    for label in (*left, *right):
        size = nest.sizes[label]
        tiles = tuple(powers(SMALLEST, min(LARGEST, max(2 * size - 1, SMALLEST))))
        found = [LabelWalk(label, x, 0) for x in tiles]
        if label in right:
            whole = (0,) if size <= WHOLE else ()
            found = [one for one in found if one.block < size]
            found += [LabelWalk(label, 0, x) for x in (*whole, *tiles)]
        knobs.append(tuple(found))
    for label in (x for x in nest.reduced if x not in nest.labels):
        size = nest.sizes[label]
        # Lanes have what they multiply in registers, so that they want short steps.
        multiplied = any(label in one.labels for one in nest.products)
        least = SMALLEST if multiplied else SHORT
        least = least if is_by_lanes(nest, precision) else 2 * SMALLEST
        tiles = tuple(x for x in powers(least, LARGEST) if x < size)
        some = (0, *tiles) if size <= WHOLE or not tiles else tiles
        knobs.append(tuple(LabelWalk(label, 0, x) for x in some))
    fewest = {**dict.fromkeys(batch, 1), **dict.fromkeys(left, USUAL_ROWS[0])}
    cut = tuple(parts(nest, fewest, processors))
    if cut:
        knobs.append((LabelParts(cut[0].label, 0), *cut))
    return Chain(nest, precision, processors, (*knobs, THREADS), batch)
