"""Lists tiles for tensor cores, and ways to load them, for a kernel that multiplies matrices."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod

from dtpoly.autoschedule.layout_directives import new_name
from dtpoly.autoschedule.nest import ALIGNED, KernelNest, MovedTensor, NestReduction, sides_of
from dtpoly.autoschedule.powers import above, pieces, powers
from dtpoly.autoschedule.preferences import FOURS, LANES_WIDTH, WIDE, is_by_lanes, is_hopper
from dtpoly.autoschedule.splits import split_products
from dtpoly.explore.devices.devices import Device
from dtpoly.frozen import dataclass
from dtpoly.plan.layout import Group, Layout

# Sides of a block of the result; sums of a thread that fit in registers beside all else.
SIDES = (16, 256)
SUMS = 128
SUMS_BY_LANES = 64  # of products without tensor cores: a thread has rows of operands beside them
WARP = 32
SMALLEST = 16  # what a matrix unit multiplies
DEEP = 128  # bytes of a row of a tile: what shared memory is wide
MOST_STAGES = 4
HALF = 0.5


@dataclass(frozen=True, slots=True)
class ProductShape:
    """The layouts that have the same blocks: first those with the usual steps, warps and stages.

    Whether the sum is cut into parts belongs to these, since without parts a shape with few
    programs looks worse than it is.
    """

    usual: tuple[Layout, ...]
    others: tuple[Layout, ...]


def products(nest: KernelNest, device: Device, precision: str) -> Iterator[ProductShape]:
    """Yield blocks of the last product's two sides, steps along what it sums over."""
    last = nest.products[-1]
    many = int(device["multiprocessors"])
    for rows, columns in product(powers(*SIDES), powers(*SIDES)):
        for is_square, is_along in product(_fills(nest, last), _walks(last)):
            every: list[tuple[Layout, ...]] = []
            for deep in _depths(nest):
                wanted = (rows, columns, deep)
                made = _single(nest, device, precision, wanted, is_square, is_along)
                every += [(x, *split_products(nest, x, many)) for x in made or ()]
            if every:
                others = tuple(x for some in every[1:] for x in some)
                yield ProductShape(every[0], others)


def _single(
    nest: KernelNest,
    device: Device,
    precision: str,
    wanted: tuple[int, int, int],
    is_square: bool,
    is_along: bool,
) -> Iterator[Layout] | None:
    """Return layouts in which lanes are all of a block; None where a side is too short."""
    one = nest.products[-1]
    left, right, batch = sides_of(nest, one)
    fill = _square if is_square else _fill
    sides = _widened(fill(nest, left, wanted[0])) | _widened(fill(nest, right, wanted[1]))
    if prod(sides[x] for x in left) < wanted[0] or prod(sides[x] for x in right) < wanted[1]:
        return None
    blocks = {x: 1 for x in batch} | sides
    summed = _summed(nest, one)
    if is_along:
        longest = max(summed, key=lambda x: nest.sizes[x])
        summed = (*(x for x in summed if x != longest), longest)
        steps = {x: 1 for x in summed} | _fill(nest, (longest,), wanted[2])
    else:
        steps = _widened(_fill(nest, summed, wanted[2]))
    if prod(steps.values()) < min(wanted[2], SMALLEST):
        return None
    order = (*batch, *left, *right)
    order = order if set(order) == set(nest.labels) else nest.labels
    sizes = tuple((label, blocks.get(label, 1)) for label in nest.labels)
    tiles = (*((label, 0) for label in nest.labels), *((x, steps[x]) for x in one.labels))
    flat = (summed if is_along else one.labels) if len(one.labels) > 1 else ()
    layout = Layout(
        nest.func.name,
        sizes,
        tiles=tiles,
        order=order if len(order) > 1 else (),
        flat=flat,
        precision=precision,
        descriptors=_described(nest, device, precision, dict(sizes) | steps),
    )
    return _launched(nest, device, layout, wanted)


def _launched(
    nest: KernelNest, device: Device, layout: Layout, wanted: tuple[int, int, int]
) -> Iterator[Layout]:
    """Warps that have room for the sums, and as many stages as shared memory has room for."""
    rows, columns, deep = wanted
    width = max(one.size for one in nest.loads if one.is_operand)
    stage = (rows + columns) * deep * width
    # As many as one program has room for, and as many as leave room for a second one.
    alone = min(MOST_STAGES, int(device["block_shared"]) // stage)
    beside = min(MOST_STAGES, int(device["shared_bytes"]) // 2 // stage)
    sums = SUMS if width < LANES_WIDTH or layout.precision else SUMS_BY_LANES
    for warps in (4, 8):
        each = rows * columns / (warps * WARP)
        if each <= sums and (warps == 4 or each >= SUMS / 4):
            for stages in sorted({alone, beside} - {0}, reverse=True):
                yield replace(layout, warps=warps, stages=stages if stages > 1 else 0)


def orders_of(nest: KernelNest, layout: Layout) -> Iterator[Layout]:
    """Yield the same block with other orders of programs."""
    yield layout
    yield from _grouped(nest, layout, dict(layout.blocks))


def turns_of(nest: KernelNest, device: Device, layout: Layout) -> Iterator[Layout]:
    """Yield the same block and order with other stages, and with blocks in turn."""
    programs = prod(pieces(nest.sizes[x], size) for x, size in layout.blocks)
    many = int(device["multiprocessors"])
    stages = {layout.stages, max(layout.stages - 1, 0)} if layout.stages > 2 else {layout.stages}
    for count in sorted(stages, reverse=True):
        staged = replace(layout, stages=count)
        yield staged
        # A loop around the steps makes those of threads that multiply themselves slower.
        for each in () if is_by_lanes(nest, layout.precision) else (1, 2, 3):
            if programs > each * many:
                yield replace(staged, each=each)


def least_seconds(nest: KernelNest, device: Device, layout: Layout) -> float:
    """Return what operands take from L2, and products in the units that multiply them, at least.

    This counts nothing but tiles, and so takes no time. Of a product with a range about half is
    left out.
    """
    one = nest.products[-1]
    blocks = dict(layout.blocks)
    left, right, _ = sides_of(nest, one)
    programs = prod(pieces(nest.sizes[x], size) for x, size in layout.blocks)
    rows, columns = (prod(blocks[x] for x in side) for side in (left, right))
    depth = prod(pieces(nest.sizes[x], t) * t for x in one.labels if (t := layout.tile(x)))
    width = max(load.size for load in nest.loads if load.is_operand)
    many = int(device["multiprocessors"])
    uneven = 1.0 if layout.partial else pieces(programs, many) * many / programs
    unit = {1: "i8", 2: "f16", 8: "f64"}.get(width, layout.precision.removesuffix("x3") or "f32")
    multiplied = 2 * programs * rows * columns * depth * uneven / device.tensor(unit)
    moved = programs * (rows + columns) * depth * width / device["l2_rate"]
    return max(multiplied, moved) * (HALF if nest.has_ranges else 1.0)


def _grouped(nest: KernelNest, layout: Layout, blocks: Mapping[str, int]) -> Iterator[Layout]:
    """Groups of blocks of rows that share columns, where both sides have one label."""
    one = nest.products[-1]
    left, right, _ = sides_of(nest, one)
    if len(left) != 1 or len(right) != 1 or not layout.order:
        return
    (label,) = left
    if label not in blocks or right[0] not in blocks:
        return
    count = pieces(nest.sizes[label], blocks[label])
    for group in (4, 8, 16):
        if group < count:
            name = new_name(label, "i", nest.taken)
            yield replace(layout, group=Group(label, name, group))


def _depths(nest: KernelNest) -> tuple[int, ...]:
    """Return how much a step may sum up: rows of tiles are as wide as shared memory is."""
    width = max(one.size for one in nest.loads if one.is_operand)
    size = above(prod(above(nest.sizes[x]) for x in nest.products[-1].labels))
    found = (min(DEEP // width, size), min(DEEP // width // 2, size))
    return tuple(dict.fromkeys(max(x, SMALLEST) for x in found))


def _summed(nest: KernelNest, one: NestReduction) -> tuple[str, ...]:
    """Return the labels that are summed over; those contiguous in most of memory come last."""
    lines = nest.contiguous()
    return tuple(sorted(one.labels, key=lambda x: x in lines))


def _fill(nest: KernelNest, labels: tuple[str, ...], wanted: int) -> dict[str, int]:
    """Share a number of indices among labels. The last label gets all that it can hold."""
    found: dict[str, int] = {}
    for label in reversed(labels):
        found[label] = min(above(nest.sizes[label]), wanted)
        wanted //= found[label]
    return found


def _widened(counts: dict[str, int]) -> dict[str, int]:
    """Return at least as many as a matrix unit multiplies; with fewer, lanes are idle."""
    count = prod(counts.values())
    if not counts or count >= SMALLEST:
        return counts
    longest = max(counts, key=lambda label: counts[label])
    return {**counts, longest: counts[longest] * SMALLEST // count}


def _fills(nest: KernelNest, one: NestReduction) -> tuple[bool, ...]:
    """Return whether sides of several labels may be long, or square."""
    left, right, _ = sides_of(nest, one)
    is_several = any(sum(nest.sizes[x] > 1 for x in side) > 1 for side in (left, right))
    return (False, True) if is_several else (False,)


def _walks(one: NestReduction) -> tuple[bool, ...]:
    """Return whether steps may go along the longest label alone, or along several at once."""
    return (False, True) if len(one.labels) > 1 else (False,)


def _square(nest: KernelNest, labels: tuple[str, ...], wanted: int) -> dict[str, int]:
    """Share a number of indices among labels, so that the last two get about as many."""
    first = _fill(nest, labels[-1:], 1 << (wanted.bit_length() // 2))
    rest = _fill(nest, labels[:-1], wanted // prod(first.values()))
    left = wanted // max(prod(rest.values()), 1)
    return rest | _fill(nest, labels[-1:], left)


def _described(
    nest: KernelNest, device: Device, precision: str, spans: Mapping[str, int]
) -> tuple[str, ...]:
    """Operands whose tiles the copy engine can bring: boxes of rows that begin aligned.

    A kernel that has descriptors is not told that its rows are multiples of four. So where the
    other operand has such rows, none has a descriptor: that one would be loaded element by element.
    Nor has one where elements of four bytes are loaded so: these loads run ahead as well, and were
    faster on both sides than beside a descriptor. And tiles that are brought so have a layout in
    shared memory from which threads read badly, where no tensor core does.
    """
    if not is_hopper(device) or is_by_lanes(nest, precision):
        return ()
    others = (one for one in nest.loads if one.is_operand and not _is_box(one, spans))
    ragged = (one for one in others if one.shape and not one.is_between and one.shape[-1] % WIDE)
    if any(one.shape[-1] % FOURS == 0 or one.size == 4 for one in ragged):
        return ()
    return tuple(dict.fromkeys(one.tensor for one in nest.loads if _is_box(one, spans)))


def _is_box(one: MovedTensor, spans: Mapping[str, int]) -> bool:
    if one.is_turned or any(index.data is not None for index in one.indices):
        return False  # rows that data names are no box
    beside = max((spans.get(x, 1) for x in one.contiguous), default=1)
    return one.is_operand and one.row % ALIGNED == 0 and beside * one.size >= ALIGNED
