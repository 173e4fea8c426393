"""Lists ways to walk a kernel that reduces, but not by products of matrices."""

from collections.abc import Iterator
from itertools import chain
from math import prod

from dtpoly.autoschedule.elementwise import filled
from dtpoly.autoschedule.nest import KernelNest, MovedTensor
from dtpoly.autoschedule.powers import above, powers
from dtpoly.autoschedule.splits import split
from dtpoly.autoschedule.threads import warps
from dtpoly.plan.layout import Layout

# Elements that a program has at once: of whole lines, of a part of them.
WHOLE, PART = 65536, (1024, 16384)
OF_LIST = 128  # of a tile of which mostly nothing enters a list, at least
# Those of a thread.
OF_WHOLE, OF_PART, OF_COLUMNS = (4, 128), (4, 64), (8, 64)
ROWS = 256
SEVERAL = (1024, 4096, 16384)  # elements of several lines
LONG = 16384  # a line that is enough for a program
FEWEST = 512
# Side by side in memory, where what is contiguous is no label that is reduced.
BESIDE = (32, 256)
# Of a window, which is reduced over so few indices: columns that a program and a thread have.
WINDOW, BESIDE_WINDOWS, OF_WINDOWS = 16, (256, 8192), (4, 32)
# Sides of squares whose sides share what is read, and elements of a thread.
SIDES, OF_SQUARES = (16, 128), (8, 64)
# Of what scans carry on: columns side by side, steps at once, and elements of a thread.
BESIDE_STATE, STEPS, OF_STATE = 8, (1, 4, 16), (4, 64)


def reductions(nest: KernelNest, processors: int) -> Iterator[Layout]:
    """Yield whole lines or parts of them; with too few programs, also sums of parts."""
    along = [label for label in nest.contiguous() if label in (*nest.labels, *nest.reduced)]
    line = along[0] if along else nest.reduced[-1]
    made = _lines(nest, line) if line in nest.reduced else _columns(nest, line)
    others = tuple(_others(nest, line)) if line in nest.rows else ()
    going = _going_on(nest, line) if line in nest.rows else ()
    besides = (_squares(nest), _in_groups(nest, line), _rows_of_groups(nest))
    for layout in chain(made, going, *(_lines(nest, one) for one in others), *besides):
        yield layout
        yield from split(nest, layout, processors)


def _going_on(nest: KernelNest, line: str) -> Iterator[Layout]:
    """Yield layouts of a kernel whose loop is followed by scans of what it reads, in some steps.

    A program has all that one step of the scans gives.
    """
    scanned = {
        x for one in nest.sums if one.is_scan and one.func != nest.func.name for x in one.labels
    }
    along = [label for label in nest.labels if label in scanned]
    inner = [label for label in nest.reduced if label not in along]
    state = prod(above(nest.sizes[label]) for label in inner)
    if len(along) != 1:
        return
    for beside in powers(BESIDE_STATE, min(BESIDE[1], above(nest.sizes[line]))):
        for steps in STEPS:
            elements = beside * steps * state
            if elements <= WHOLE:
                for number in warps(elements, *OF_STATE):
                    tiles = {along[0]: steps, **dict.fromkeys(inner, 0)}
                    yield _layout(nest, {line: beside}, tiles, number)


def _others(nest: KernelNest, line: str) -> Iterator[str]:
    """Yield reduced labels to walk along, though another label is the one that is contiguous.

    One is read where the result is read, too; or what is contiguous is so short that all of it are
    few columns, and a program would walk a long way down.
    """
    longest = max(nest.reduced, key=lambda one: nest.sizes[one])
    is_short = nest.sizes[line] < BESIDE[0] <= nest.sizes[longest]
    for one in nest.reduced:
        if {*_twins(nest, one)} & {*nest.rows} or (is_short and one == longest):
            yield one


def _twins(nest: KernelNest, line: str) -> tuple[str, ...]:
    """Return other labels along which a tensor is read where it is reduced along this label.

    A norm may read a row at k to sum it up, and at n to scale it: both are the same memory, and a
    program that has the row goes along both. A maximum and a scan may go along a row, too.
    """
    axes = {(one.tensor, at) for one in nest.loads for at, x in _plain(one) if x == line}
    found = (x for one in nest.loads for at, x in _plain(one) if (one.tensor, at) in axes)
    mine = (*nest.rows, *nest.reduced)
    return tuple(dict.fromkeys(x for x in found if x in mine and x != line))


def _plain(one: MovedTensor) -> Iterator[tuple[int, str]]:
    """Yield the axes that are read at nothing but a label, with the label."""
    for axis, index in enumerate(one.indices):
        if index.plain is not None:
            yield axis, index.plain


def _lines(nest: KernelNest, line: str) -> Iterator[Layout]:
    """Yield layouts of a kernel that reduces along what is contiguous."""
    longest = above(nest.sizes[line])
    twins = _twins(nest, line)
    inner = [label for label in nest.reduced if label not in (line, *twins)]
    places = _places(nest)
    rows = [label for label in reversed(nest.rows) if label not in (*twins, *places)]
    room = max(prod(nest.sizes[label] for label in rows), 1)
    most = max(ROWS, FEWEST // longest)  # of lines of one index, enough for a warp
    for count in powers(1, min(most, above(room))):
        blocks = filled(nest, rows, count) | places
        elements = count * longest
        if elements <= WHOLE and elements >= min(FEWEST, room * longest):
            for number in warps(elements, *OF_WHOLE):
                whole = dict.fromkeys((line, *twins), 0)
                yield _layout(nest, blocks, whole | dict.fromkeys(inner, 1), number)
        if inner and elements < PART[0]:
            yield from _short_lines(nest, blocks, line, elements)
        least = OF_LIST if any(one.is_list for one in nest.sums) else PART[0]
        for part in powers(least, min(PART[1] // count, longest // 2)):
            if count > (1 if longest > LONG else 4):
                continue
            for number in warps(count * part, *OF_PART):
                parts = dict.fromkeys((line, *twins), part)
                yield _layout(nest, blocks, parts | dict.fromkeys(inner, 1), number)


def _places(nest: KernelNest) -> dict[str, int]:
    """Return blocks of all places of lists: a program has whole lists, whichever it takes out."""
    kept = {label for one in nest.sums if one.is_list for label in one.kept}
    named = [label for label in nest.rows if label not in kept]
    return {label: above(nest.sizes[label]) for label in named} if kept else {}


def _short_lines(
    nest: KernelNest, blocks: dict[str, int], line: str, elements: int
) -> Iterator[Layout]:
    """Yield tiles of several lines that are reduced together, since one alone is too short."""
    inner = _nearest_first(nest, line)
    for many in SEVERAL:
        tiles = filled(nest, inner, max(many // elements, 1))
        for number in warps(elements * prod(tiles.values()), *OF_PART):
            whole = dict.fromkeys((line, *_twins(nest, line)), 0)
            yield _layout(nest, blocks, whole | tiles, number)


def _squares(nest: KernelNest) -> Iterator[Layout]:
    """Yield squares of the result, as of a product: each side shares what the other one reads.

    A distance or a score of all pairs is summed up like that, index by index of what is reduced.
    """
    if any(one.is_scan or not one.has_parts for one in nest.sums):
        return
    pairs = [(x, y) for x in nest.rows for y in nest.rows if x != y and _shares(nest, x, y)]
    if not pairs:
        return
    x, y = max(pairs, key=lambda one: (nest.rows.index(one[1]), nest.sizes[one[0]]))
    tiles = dict.fromkeys(nest.reduced, 1)
    for down in powers(min(SIDES[0], above(nest.sizes[x])), min(SIDES[1], above(nest.sizes[x]))):
        for beside in powers(
            min(SIDES[0], above(nest.sizes[y])), min(SIDES[1], above(nest.sizes[y]))
        ):
            if down * beside >= PART[0]:
                for number in warps(down * beside, *OF_SQUARES):
                    yield _layout(nest, {x: down, y: beside}, tiles, number)


def _in_groups(nest: KernelNest, line: str) -> Iterator[Layout]:
    """Yield blocks of whole groups, where what is fused in is read at a quotient of a label.

    What a norm of groups of channels reduces is then what its program reads, and its means are
    computed once. A tile has all of a group's channels, and as much of each as there is room for.
    The result is computed along the same: where its label is read as one that is reduced is, it
    has tiles of the same size.
    """
    for label, by in nest.groups.items():
        if label not in nest.rows:
            continue
        beside = {x for one in nest.loads for x in _within_groups(one, by, nest)}
        first = [x for x in nest.reduced if x in beside]
        order = [*first, *([line] if line in nest.reduced and line not in first else [])]
        order += [x for x in nest.reduced if x not in order]
        for many in powers(PART[0], WHOLE):
            tiles = filled(nest, order, many)
            elements = prod(tiles.values())
            if elements == many:
                whole = {x: 0 if tile >= nest.sizes[x] else tile for x, tile in tiles.items()}
                alike = [(twin, whole[x]) for x in tiles for twin in _twins(nest, x)]
                whole |= {twin: tile for twin, tile in alike if twin not in (*whole, label)}
                for number in warps(elements, *OF_PART):
                    yield _layout(nest, {label: by}, whole, number)


def _rows_of_groups(nest: KernelNest) -> Iterator[Layout]:
    """Yield whole rows of groups, with all that a row's groups are reduced to.

    Scales of groups that are stored on the way are so once for a row, whose elements are read once.
    """
    for own, label in nest.read_in_groups.items():
        if label not in nest.rows or nest.groups.get(label) is None:
            continue
        beside = {x for one in nest.loads for x in _within_groups(one, nest.groups[label], nest)}
        row = above(nest.sizes[label])
        if not beside or {*nest.reduced} != beside:
            continue
        others = [x for x in reversed(nest.rows) if x != label]
        for count in powers(1, max(SEVERAL[2] // row, 1)):
            if count * row <= WHOLE and count * row >= PART[0]:
                tiles = dict.fromkeys((label, own, *nest.reduced), 0)
                for number in warps(count * row, *OF_WHOLE):
                    yield _layout(nest, filled(nest, others, count), tiles, number)


def _within_groups(one: MovedTensor, by: int, nest: KernelNest) -> Iterator[str]:
    """Yield reduced labels that number what is in a group of so many, as i does in `16 * g + i`."""
    for index in one.indices:
        steps = dict(index.linear) if not index.divisions and index.data is None else {}
        for label, factor in steps.items():
            is_inside = factor == 1 and nest.sizes[label] == by and by in steps.values()
            if is_inside and label in nest.reduced:
                yield label


def _shares(nest: KernelNest, one: str, other: str) -> bool:
    """Return whether something that is reduced is read at one of two labels, and else at both."""
    reduced = {*nest.reduced}
    mine = [load.labels for load in nest.loads if load.labels & reduced]
    has_one = any(one in labels and other not in labels for labels in mine)
    return has_one and any(other in labels and one not in labels for labels in mine)


def _nearest_first(nest: KernelNest, line: str) -> list[str]:
    """Return the other labels that are reduced, those whose indices are nearest in memory first."""
    largest = max(nest.loads, key=lambda one: one.bytes)
    order = [label for index in largest.indices for label in index.labels]
    inner = [label for label in nest.reduced if label not in (line, *_twins(nest, line))]
    return sorted(inner, key=lambda one: -order.index(one) if one in order else 1)


def _columns(nest: KernelNest, line: str) -> Iterator[Layout]:
    """Yield layouts that keep what is contiguous: columns side by side, added up in parts."""
    down = nest.reduced[-1]
    inner = [label for label in nest.reduced if label != down]
    size = above(nest.sizes[down])
    others = [label for label in reversed(nest.rows) if label != line]
    for beside in powers(min(BESIDE[0], above(nest.sizes[line])), BESIDE[1]):
        # A short line has its neighbours beside it.
        blocks = filled(nest, [line, *others], beside)
        if prod(blocks.values()) < beside:
            continue
        for part in powers(min(8, size), min(PART[1] // beside, size)):
            if beside * part < min(PART[0], size * beside):
                continue
            for number in warps(beside * part, *OF_COLUMNS):
                tile = 0 if part == size else part
                tiles = {down: tile, **dict.fromkeys(inner, 1)}
                yield _layout(nest, blocks, tiles, number)
    if size <= WINDOW and not any(one.is_scan for one in nest.sums):
        yield from _windows(nest, [line, *others])


def _windows(nest: KernelNest, rows: list[str]) -> Iterator[Layout]:
    """Yield many columns whose few indices are added up one after another.

    A tile of them would have lanes up to the next power of two, of which some have nothing to do.
    """
    tiles = dict.fromkeys(nest.reduced, 1)
    for beside in powers(*BESIDE_WINDOWS):
        blocks = filled(nest, rows, beside)
        if prod(blocks.values()) == beside:
            for number in warps(beside, *OF_WINDOWS):
                yield _layout(nest, blocks, tiles, number)


def _layout(nest: KernelNest, blocks: dict[str, int], tiles: dict[str, int], number: int) -> Layout:
    blocked = tuple(label for label in nest.rows if label not in tiles)
    sizes = tuple((label, blocks.get(label, 1)) for label in blocked)
    rows = tuple((label, 0) for label in blocked)
    order = blocked if len(blocked) > 1 else ()
    return Layout(nest.func.name, sizes, tiles=(*rows, *tiles.items()), order=order, warps=number)
