"""Lists ways to cut the result of a kernel that reduces nothing into blocks."""

from collections.abc import Iterator
from math import prod

from dtpoly.autoschedule.nest import KernelNest
from dtpoly.autoschedule.powers import above, powers
from dtpoly.autoschedule.threads import warps
from dtpoly.plan.layout import Layout

# Elements that a program computes, all at once; and those of a thread.
FEWEST, MOST = 512, 8192
EACH = (4, 32)
SIDES = (32, 128)  # of blocks that are contiguous one way here and the other way there


def elementwise(nest: KernelNest) -> Iterator[Layout]:
    """Yield blocks along what is contiguous in memory; square ones where two labels are."""
    lines = [label for label in nest.contiguous() if label in nest.labels]
    if not nest.labels:
        yield Layout(nest.func.name, warps=1)
        return
    if len(lines) > 1:
        seen: set[tuple[tuple[str, int], ...]] = set()
        for one, other in ((a, b) for a in powers(*SIDES) for b in powers(*SIDES)):
            sides = _along(nest, lines[0], one, lines[1]), _along(nest, lines[1], other, lines[0])
            blocks = sides[1] | sides[0]
            if (key := tuple(sorted(blocks.items()))) not in seen:
                seen.add(key)
                yield from _of(nest, blocks)
        return
    line = lines[0] if lines else nest.labels[-1]
    longest = above(nest.sizes[line])
    for along in powers(min(256, longest), min(MOST, longest)):
        for rows in _rows(nest, line, along, longest):
            yield from _of(nest, {line: along, **rows})


def _along(nest: KernelNest, line: str, count: int, other: str) -> dict[str, int]:
    """Share a number of indices among a label and those around it where it is contiguous.

    A short one has what is beside it in the same memory, but not the other side of the square.
    """
    around = next((x.indices for x in nest.memory if line in x.contiguous), ())
    labels = [index.plain or "" for index in reversed(around)]
    mine = [x for x in dict.fromkeys((line, *labels)) if x in nest.labels and x != other]
    return filled(nest, mine, count)


def _rows(nest: KernelNest, line: str, along: int, longest: int) -> Iterator[dict[str, int]]:
    """Yield blocks of lines: of several lines if these are short, or share what they read."""
    others = [label for label in reversed(nest.labels) if label != line]
    shared = any(not {*others} <= one.labels for one in nest.loads) and others
    most = MOST // along if along == longest or shared else 1
    for count in powers(1, max(most, 1)):
        if count * along < min(FEWEST, longest * prod(nest.sizes[x] for x in others)):
            continue
        if along != longest and count > 8:
            continue
        yield filled(nest, others, count)


def filled(nest: KernelNest, labels: list[str], count: int) -> dict[str, int]:
    """Share a number of indices among labels. The first label gets all that it can hold."""
    found: dict[str, int] = {}
    for label in labels:
        found[label] = min(above(nest.sizes[label]), count)
        count //= found[label]
    return found


def _of(nest: KernelNest, blocks: dict[str, int]) -> Iterator[Layout]:
    sizes = tuple((label, blocks.get(label, 1)) for label in nest.labels)
    order = nest.labels if len(nest.labels) > 1 else ()
    tiles = tuple((label, 0) for label in nest.labels)
    for count in warps(prod(size for _, size in sizes), *EACH):
        yield Layout(nest.func.name, sizes, tiles=tiles, order=order, warps=count)
