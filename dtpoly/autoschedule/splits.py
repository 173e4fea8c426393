"""Splits reductions and scans over several programs where a layout has too few programs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from dtpoly.autoschedule.layout_directives import new_name
from dtpoly.autoschedule.nest import KernelNest
from dtpoly.autoschedule.powers import above, below, pieces
from dtpoly.plan.layout import Layout, Partial

# Programs for each multiprocessor that are enough, and that are tried.
ENOUGH = 4
TRIED = (4, 8, 16, 32)
LEAST = 8192  # elements that are worth a program
AT_ONCE = 16384  # partial results of a program, and those of a thread: it has an address for each
AT_ONCE_EACH, WARP = 64, 32
# Of products: tiles of many sums, of which a multiprocessor seldom has more than two at once.
ENOUGH_PRODUCTS = 1
TRIED_PRODUCTS = (1, 2, 4)
STEPS = 8  # of a product, that are worth a program


def split(nest: KernelNest, layout: Layout, processors: int) -> Iterator[Layout]:
    """Yield blocks of what the Func reduces or scans: parts, and kernels that put them together."""
    if _programs(nest, layout) >= ENOUGH * processors:
        return
    free = _labels(nest)
    if not free:
        return
    # A part has whole tiles. So the longest label may have fewer parts than another one.
    longest = max(free, key=lambda one: nest.sizes[one])
    most = max(free, key=lambda one: pieces(nest.sizes[one], layout.tile(one) or nest.sizes[one]))
    for label in dict.fromkeys((longest, most)):
        # An index of the label is worth all that is reduced and kept beside it.
        beside = prod(block for _, block in layout.blocks)
        each = prod(nest.sizes[x] for x in nest.reduced if x not in (label, *nest.labels))
        least = LEAST // (beside * each)
        yield from _parts(nest, layout, label, least, [one * processors for one in TRIED])


def split_products(nest: KernelNest, layout: Layout, processors: int) -> Iterator[Layout]:
    """Yield the same for a product whose result has too few blocks for the device."""
    free = _labels(nest)
    if not free or _programs(nest, layout) > ENOUGH_PRODUCTS * processors:
        return
    longest = max(free, key=lambda one: nest.sizes[one])
    least = STEPS * layout.tile(longest)
    yield from _parts(nest, layout, longest, least, [one * processors for one in TRIED_PRODUCTS])
    steps = {one: pieces(nest.sizes[one], layout.tile(one) or nest.sizes[one]) for one in free}
    around = [one for one in free if layout.tile(one) == 1 and one != longest]
    if not around or steps[longest] >= 2 * STEPS:
        return
    # Each index of a loop around those of the tiles is worth all of their steps.
    label = max(around, key=lambda one: steps[one])
    least = pieces(STEPS, prod(steps.values()) // steps[label])
    yield from _parts(nest, layout, label, least, [one * processors for one in TRIED_PRODUCTS])


def _labels(nest: KernelNest) -> list[str]:
    """Return the labels that could have parts."""
    mine = [one for one in nest.sums if one.func == nest.func.name]
    own = {label for one in mine if not one.is_scan for label in one.labels}
    own -= {label for one in mine if not one.has_parts for label in one.labels}
    free = [label for label in nest.reduced if label in own and label not in nest.labels]
    along = {label for one in mine if one.is_scan for label in one.labels}
    if along:  # all parts of a scan begin anew, so that nothing else goes along with them
        free = [*along] if len(along) == 1 and along.isdisjoint(own) else []
    return free


def _programs(nest: KernelNest, layout: Layout) -> int:
    return prod(pieces(nest.sizes[x], block) for x, block in layout.blocks)


def _parts(
    nest: KernelNest, layout: Layout, label: str, least: int, programs: Sequence[int]
) -> Iterator[Layout]:
    """Yield parts of at least so many indices, for about so many programs."""
    size, tile = nest.sizes[label], layout.tile(label)
    if tile == 0:
        return
    lanes = prod(_lanes(nest, layout, one) for one in nest.labels if one != label)
    seen: set[int] = set()
    for each in programs:
        wanted = pieces(each, _programs(nest, layout))
        part = max(above(pieces(size, wanted)), tile, least)
        count = pieces(size, part)
        if part in seen or count < 2:
            continue
        seen.add(part)
        name = new_name(label, "b", nest.taken)
        room = min(AT_ONCE, AT_ONCE_EACH * WARP * layout.warps)
        at_once = min(above(count), max(below(room // lanes), 1))
        tiles = (*layout.tiles, (name, at_once))
        # The order of programs would have to name the parts, too; without one they come last.
        yield replace(layout, partial=Partial(label, name, part), tiles=tiles, order=())


def _lanes(nest: KernelNest, layout: Layout, label: str) -> int:
    """Return how many indices of a label a program has at once."""
    around = layout.block(label) or nest.sizes[label]
    return min(layout.tile(label) or around, around)
