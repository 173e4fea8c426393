"""Chooses a few small sizes at which the kernels of a Program can be tried."""

from collections.abc import Iterator
from itertools import combinations

from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import DtpolyError

MOST = 40
# A number that is larger, up to this one, is tried by itself.
MOST_ALONE = 1024
# Numbers of which two are tried at once, or almost twice.
LARGE = range(16, 257)
FOUR = 4
PRIMES = (3, 5, 7, 2, 11, 4, 6)


def few_sizes(program: Program) -> Iterator[dict[str, int]]:
    """Yield a few choices of sizes that make different branches of a kernel run.

    These are the sizes, in order: all of them 1; each another small number; one more than the
    largest number that the directives say of each label; multiples of four, for text that only runs
    at such sizes; and one more than two of the largest numbers.

    Numbers that are too large to be used for all labels at once are used for one label at a time,
    while the other sizes are small: one more than the number; one less than two of it, so that what
    is left is more than half a tile; and one more than it for two labels at once, so that a block
    is neither in the first row of blocks nor in the first column.
    """
    labels = [label.name for label in program.labels]
    said = {label: 2 for label in labels}
    for directive in program.directives:
        for argument in directive.arguments:
            label = str(argument.target).rpartition(".")[2]
            if label in said and isinstance(argument.value, int):
                said[label] = max(said[label], argument.value)
    apart = {label: PRIMES[at % len(PRIMES)] for at, label in enumerate(labels)}
    seen: list[dict[str, int]] = []
    for assumed in (
        dict.fromkeys(labels, 1),
        apart,
        {label: min(size, MOST) + 1 for label, size in said.items()},
        # A file may load four elements at once where sizes and strides are multiples of 4.
        {label: FOUR * size for label, size in apart.items()},
        # Two whole tiles: something may be left over from the first.
        {label: 2 * min(size, MOST // 2) + 1 for label, size in said.items()},
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
