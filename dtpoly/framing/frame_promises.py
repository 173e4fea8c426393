"""Lists the promises of callers that a frame may need, from many to few.

A kernel is rarely right for all sizes: its offsets have 32 bits, and a tile has so many lanes at
most. Which promises wrappers keep is not seen in launches, but what was launched must keep them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import prod

from dtpoly.framing.frame_building import BuiltFrame
from dtpoly.framing.kernel_frame import FINITE, KernelFrame
from dtpoly.framing.launch_groups import LOADED, Row
from dtpoly.framing.size_formulas import LEAST_LANES, MOST_MORE, USUAL_BLOCKS

# The most lanes of a row in one tile, from the usual limit down; and the sizes of other labels.
TILES = (65536, 8192, 1024, 256, 64)
SIZES_OF_LOOPS = ("2**30", "2**27", "2**20")
# How many numbers of few bits one number may hold.
PACKED = (2, 4, 8)
MOST_ELEMENTS = 2**30
MOST_ORDERED = 4  # with more labels than that, orders of sizes are not guessed
VALUES = {"2**30": 2**30, "2**27": 2**27, "2**20": 2**20}


def relations_of(labels: Mapping[str, Row], blocks: Sequence[int]) -> tuple[str, ...]:
    """Return what sizes of labels have to do with one another, and with blocks.

    A label may count the blocks of another one, as scales of blocks do, or be as long as two others
    that are put side by side, or as one other and a little more.
    """
    found: list[str] = []
    for name, row in labels.items():
        for other, sizes in labels.items():
            for block in (*blocks, *PACKED):
                counts = tuple(-(-size // block) for size in sizes) if block > 1 else ()
                if name != other and len(set(row)) > 1 and row == counts:
                    found.append(f"len({name}) == cdiv(len({other}), {block})")
                    if all(size % block == 0 for size in sizes):
                        found.append(f"len({other}) % {block} == 0")
                    break
    found += _padded(labels, blocks)
    found += _sums(labels)
    found += _orders(labels)
    for name, row in labels.items():
        # Without a mask, a tile must fit: then callers pad their tensors.
        fitting = [
            block for block in blocks if block > 1 and all(size % block == 0 for size in row)
        ]
        # The largest one comes first, and so is left out first if a smaller one is enough.
        if len(set(row)) > 1:
            found += [f"len({name}) % {one} == 0" for one in sorted(fitting, reverse=True)]
    return tuple(dict.fromkeys(found))


def powers_of(made: BuiltFrame, labels: Mapping[str, Row]) -> tuple[str, ...]:
    """Return what callers promise of sizes that are numbers of lanes: they are powers of two.

    A product of tiles needs some lanes, too.
    """
    found: list[str] = []
    for one in made.powers:
        row = labels.get(one, ())
        found += [f"len({one}) >= {LEAST_LANES}"] if min(row, default=0) >= LEAST_LANES else []
        found.append(f"len({one}) == next_power_of_2(len({one}))")
    return tuple(found)


def _padded(labels: Mapping[str, Row], blocks: Sequence[int]) -> Iterator[str]:
    """Yield which sizes are others, rounded up to whole blocks, as of a padded buffer."""
    varied = {name: row for name, row in labels.items() if len(set(row)) > 1}
    for name, row in varied.items():
        for other, sizes in varied.items():
            for block in dict.fromkeys((*blocks, *USUAL_BLOCKS)):
                rounded = tuple(-(-size // block) * block for size in sizes)
                if name != other and block > 1 and row == rounded != sizes:
                    yield f"len({name}) == {block} * cdiv(len({other}), {block})"
                    break


def _sums(labels: Mapping[str, Row]) -> Iterator[str]:
    """Yield which sizes are the sum of two others, or of another one and a small number."""
    varied = {name: row for name, row in labels.items() if len(set(row)) > 1}
    for name, row in varied.items():
        others = {other: sizes for other, sizes in varied.items() if other != name}
        for other, sizes in others.items():
            more = {have - size for have, size in zip(row, sizes, strict=True)}
            if len(more) == 1 and 0 < (step := more.pop()) <= MOST_MORE:
                yield f"len({name}) == len({other}) + {step}"
        for (one, first), (other, second) in combinations(others.items(), 2):
            if row == tuple(left + right for left, right in zip(first, second, strict=True)):
                yield f"len({name}) == len({one}) + len({other})"


def _orders(labels: Mapping[str, Row]) -> Iterator[str]:
    """Yield which sizes are never above others, as of a buffer that is as long as callers need."""
    varied = {name: row for name, row in labels.items() if len(set(row)) > 1}
    if len(varied) > MOST_ORDERED:
        return
    for name, row in varied.items():
        for other, sizes in varied.items():
            is_less = all(size < than for size, than in zip(row, sizes, strict=True))
            if name != other and is_less:
                yield f"len({name}) <= len({other})"


def _products(frame: KernelFrame, labels: Mapping[str, Row]) -> tuple[str, ...]:
    """Return that results have not too many elements, as a count of their blocks in 32 bits needs.

    Of a tensor whose strides are passed, its reach says nothing about that.
    """
    found: list[str] = []
    for one in frame.tensors:
        sizes = [labels[word] for word in one.axes if word in labels]
        counts = [prod(row) for row in zip(*sizes, strict=True)]
        if one.use != LOADED and len(sizes) > 1 and max(counts, default=0) < MOST_ELEMENTS:
            words = " * ".join(f"len({word})" for word in one.axes if word in labels)
            found.append(f"{words} < 2**30")
    return tuple(dict.fromkeys(found))


def promise_sets(
    made: BuiltFrame,
    labels: Mapping[str, Row],
    near: Sequence[str],
    relations: Sequence[str],
    *,
    with_values: bool,
) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return rows of sets of promises, each row from few to many; all launches keep each of them.

    The last set of a later row promises more than that of an earlier one: smaller tiles, or finite
    values. Only of values nothing is known, as no element is looked at.
    """
    reaches = tuple(f"reach({name}) < 2**31" for name in near)
    sizes = [_below(made.looped, bound, VALUES[bound], labels) for bound in SIZES_OF_LOOPS]
    # A number of blocks that is one less than a size must not be 0 either.
    said = " ".join((*made.frame.grid, *(text for _, text in made.frame.arguments)))
    leasts = {label: 2 if f"len({label}) - 1" in said else 1 for label in labels}
    least = tuple(
        f"len({label}) >= {leasts[label]}"
        for label, row in labels.items()
        if all(size >= leasts[label] for size in row)
    )
    # Of a size that is 1, Triton makes a constant, which has no methods.
    two = tuple(f"len({label}) >= 2" for label, row in labels.items() if min(row) >= 2)
    products = _products(made.frame, labels)
    # Without an algorithm, few forms need values that are finite: these come last.
    tiles_first = [(lanes, more) for lanes in _tiles(made, labels) for more in ((), (FINITE,))]
    order = tiles_first if with_values else sorted(tiles_first, key=lambda pair: len(pair[1]))
    rows: list[tuple[tuple[str, ...], ...]] = []
    for lanes, more in order:
        tiles = _below(made.tiled, str(lanes), lanes, labels)
        row = [
            (*tiles, *more),
            *((*tiles, *one, *more) for one in sizes[:2]),
            (*tiles, *reaches, *more),
            *((*tiles, *one, *reaches, *more) for one in sizes),
            (*tiles, *sizes[-1], *reaches, *least, *more),
            (*tiles, *sizes[-1], *reaches, *(two or least), *products, *more),
        ]
        # What labels have to do with one another is left out at the end, if it is not needed.
        rows.append(tuple(dict.fromkeys((*one, *relations) for one in row)))
    return tuple(dict.fromkeys(rows))


def kinds_of(promises: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return promises apart by their kind, of which often none is needed, or several are.

    What labels have to do with one another stands alone: a larger divisor is left out first.
    """
    kinds: dict[str, list[str]] = {}
    for one in promises:
        kind = "reach" if one.startswith("reach(") else ""
        # An order of two sizes stands alone, and so does what is said of elements.
        if not one.endswith(")") and "[...]" not in one:
            kind = next((sign for sign in (" <= ", " >= ") if sign in one), kind)
        kinds.setdefault(kind or one, []).append(one)
    # The order of two sizes is a coincidence more often than a bound of one is.
    orders = [kind for kind in kinds if " <= len(" in kind]
    return tuple(tuple(kinds[kind]) for kind in dict.fromkeys((*orders, *kinds)))


def _tiles(made: BuiltFrame, labels: Mapping[str, Row]) -> Iterator[int]:
    """Yield limits of tiles that all launches kept."""
    if not made.tiled:
        yield TILES[0]
        return
    largest = max((size for label in made.tiled for size in labels.get(label, ())), default=0)
    fitting = [lanes for lanes in TILES if lanes >= largest]
    yield from fitting or TILES[:1]


def _below(of: Sequence[str], text: str, bound: int, labels: Mapping[str, Row]) -> tuple[str, ...]:
    return tuple(
        f"len({label}) <= {text}"
        for label in of
        if all(size <= bound for size in labels.get(label, ()))
    )
