"""Chooses a few small sizes at which the kernels of a Program can be tried."""

from collections.abc import Iterator
from itertools import combinations

from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.found_ranges import has_conditions
from dtpoly.algorithm.program import Argument, Program, Split
from dtpoly.diagnostics import DtpolyError
from dtpoly.frozen import dataclass

MOST = 40
# A number that is larger, up to this one, is tried by itself.
MOST_ALONE = 1024
# Numbers of which two are tried at once, or almost twice.
LARGE = range(16, 257)
FOUR = 4
# Rows that are tried at once where there are many columns.
ROWS = 16
PRIMES = (3, 5, 7, 2, 11, 4, 6)


@dataclass(frozen=True, slots=True)
class SaidParts:
    """Holds numbers that directives say of a label with parts: size, tile, how many are merged.

    A tile of 1 is that of a label of which no tile is said; so it is with parts, which are merged
    one by one.
    """

    label: str
    size: int
    tile: int
    merged: int


def few_sizes(program: Program) -> Iterator[dict[str, int]]:
    """Yield a few choices of sizes that make different branches of a kernel run.

    These are the sizes, in order: all of them 1; those of parts; each another small number; one
    more than the largest number that the directives say of each label; one more than two of the
    largest numbers; where there are ranges, almost three of them; these themselves; and multiples
    of four, for text that only runs at such sizes.

    Numbers that are too large to be used for all labels at once are used for one label at a time,
    while the other sizes are small: one more than the number; one less than two of it, so that what
    is left is more than half a tile; and one more than it for two labels at once, so that a block
    is neither in the first row of blocks nor in the first column.
    """
    labels = [label.name for label in program.labels]
    said = {label: max((2, *_numbers_of(program, label))) for label in labels}
    apart = {label: PRIMES[at % len(PRIMES)] for at, label in enumerate(labels)}
    seen: list[dict[str, int]] = []
    for assumed in (
        dict.fromkeys(labels, 1),
        *_sizes_of_parts(program),
        apart,
        {label: min(size, MOST) + 1 for label, size in said.items()},
        # Two whole tiles: something may be left over from the first.
        {label: 2 * min(size, MOST // 2) + 1 for label, size in said.items()},
        *_most_of_three(program, said),
        # Nothing may be left over, so that the last whole tile must not be left out.
        {label: min(size, MOST) for label, size in said.items()},
        # A file may load four elements at once where sizes and strides are multiples of 4. Of many
        # labels these are many elements, so they come late.
        {label: FOUR * size for label, size in apart.items()},
        *(
            {**apart, label: times * size + 1}
            for label, size in said.items()
            for times in (1, 2)
            if MOST < times * size <= MOST_ALONE
        ),
        *({**apart, label: 2 * size - 1} for label, size in said.items() if size in LARGE),
        *(
            {**apart, one: said[one] + 1, other: said[other] + 1}
            for one, other in combinations(labels, 2)
            if said[one] in LARGE and said[other] in LARGE
        ),
    ):
        try:
            sizes = filled(program, {}, assumed)
        except DtpolyError:
            # No size of a label follows from these.
            continue
        if sizes not in seen:
            seen.append(sizes)
            yield sizes


def _most_of_three(program: Program, said: dict[str, int]) -> Iterator[dict[str, int]]:
    """Yield sizes of two tiles and most of a third, where it depends on others which indices count.

    Of a tile that a range does not cut there are many rows then, so that the largest element of
    some is in the second tile.
    """
    if bool(program.ranges) or has_conditions(program):
        yield {label: 3 * min(size, MOST // 2) - 3 for label, size in said.items()}


def _arguments(program: Program) -> Iterator[Argument]:
    """Yield the arguments of all directives."""
    for directive in program.directives:
        yield from directive.arguments


def _numbers_of(program: Program, label: str) -> Iterator[int]:
    """Yield the numbers that directives say of a label, or of a label of one of its Funcs."""
    for argument in _arguments(program):
        if str(argument.target).rpartition(".")[2] == label:
            value = argument.value
            if isinstance(value, int | Split):
                yield value if isinstance(value, int) else value.factor


def _parts(program: Program) -> Iterator[SaidParts]:
    """Yield what is said of each label whose blocks have a name, as in `y:p/1024`."""
    for argument in _arguments(program):
        label = str(argument.target).rpartition(".")[2]
        if isinstance(argument.value, Split):
            size, name = argument.value.factor, argument.value.name
            tiles = [one for one in _numbers_of(program, label) if 0 < one < size]
            yield SaidParts(label, size, max((1, *tiles)), max((1, *_numbers_of(program, name))))


def _sizes_of_parts(program: Program) -> Iterator[dict[str, int]]:
    """Yield sizes with a few parts, of which the last has a whole tile and a part of one.

    First there are two parts. Then there is one tile of parts that are merged, and others that do
    not fill another tile, so that what a tile of parts has is brought to the frame of those that
    come later; then there is one tile of parts more. The other sizes are such that there is one
    program for a part, but many rows in it: in each row the largest element is somewhere else, and
    a mistake may show only where it is in a certain tile.
    """
    labels = [label.name for label in program.labels]
    is_ranged = bool(program.ranges) or has_conditions(program)
    numbers = {label: {*_numbers_of(program, label)} - {0} for label in labels}
    for one in _parts(program):
        # If a tile has more than two parts, two are left over; of two parts, one is.
        many = max(2, one.merged + (one.merged > 2))
        for parts, unsaid in ((1, 2), (many, 1), (many + one.merged, 1)):
            size = parts * one.size + one.tile + 1
            small = {
                label: min((ROWS, *said)) if said else unsaid for label, said in numbers.items()
            }
            yield {**small, one.label: size}
            if is_ranged:
                # Which indices count depends on others: there are as many rows as columns.
                square = {label: size for label, rows in small.items() if rows > unsaid}
                yield {**small, **square, one.label: size}
