"""Mistakes in texts in which squared deviations go on with a mean, each made in one place."""

from collections.abc import Iterator

from tests.verify.online_mutants import OnlineMutant, mutants_of

# What is replaced by what, as regular expressions. `mean` is the name of the mean of rows.
OF_MOVES: dict[str, tuple[str, str]] = {
    "no move": (r"\n +\w+ \+= mean_moved \* mean_moved \* .*(?=\n)", ""),
    "moved twice": (
        r"\n( +)(\w+ \+= mean_moved \* mean_moved \* .*)(?=\n)",
        r"\n\1\2\n\1\2",
    ),
    "moved the other way": (r"(\w+) \+= (mean_moved \* mean_moved)", r"\1 -= \2"),
    "moved without a square": (r"(\+= mean_moved) \* mean_moved", r"\1"),
    "moved by a cube": (r"(\+= mean_moved) \* mean_moved", r"\1 * mean_moved * mean_moved"),
    "moved by half": (r"(\+= mean_moved \* mean_moved)", r"\1 * 0.5"),
    "moved for one element less": (
        r"(mean_moved \* mean_moved \* tl\.cast\(y_start)",
        r"\1 - 1",
    ),
    "moved for one element more": (
        r"(mean_moved \* mean_moved \* tl\.cast\(y_start)",
        r"\1 + 1",
    ),
    "moved for the elements of the tile, too": (
        r"(mean_moved \* mean_moved \* tl\.cast\(y_start)",
        r"\1 + 16",
    ),
    "moved for all elements": (
        r"(mean_moved \* mean_moved \* tl\.cast\()y_start",
        r"\1y_size",
    ),
    "moved for no number of elements": (
        r"(mean_moved \* mean_moved) \* tl\.cast\(y_start, real\)",
        r"\1",
    ),
    "a move is a sum": (r"mean_so_far - mean_before", "mean_so_far + mean_before"),
    "a move from 0": (r"mean_so_far - mean_before", "mean_so_far"),
    "a move is none": (r"mean_so_far - mean_before", "mean_so_far - mean_so_far"),
    "the old mean is divided by 0": (r"dt_max\((tl\.cast\(y_start, real\)), .*\)", r"\1"),
    "the old mean has at least two elements": (
        r"(dt_max\(tl\.cast\(y_start, real\), tl\.full\(\(\), )1\.0",
        r"\g<1>2.0",
    ),
    "the old mean has at least 17 elements": (
        r"(dt_max\(tl\.cast\(y_start, real\), tl\.full\(\(\), )1\.0",
        r"\g<1>17.0",
    ),
    "the old mean has no elements": (
        r"dt_max\(tl\.cast\(y_start, real\), tl\.full\(\(\), 1\.0, real\)\)",
        "1.0",
    ),
    "the old mean is that of all": (r"(/ dt_max\(tl\.cast\()y_start", r"\1y_size"),
    "the new mean lacks an element": (
        r"(mean_so_far = \w+ / \(tl\.cast\(y_start, real\) \+ )16",
        r"\g<1>15",
    ),
    "the new mean has an element more": (
        r"(mean_so_far = \w+ / \(tl\.cast\(y_start, real\) \+ )16",
        r"\g<1>17",
    ),
    "the new mean has no tile": (
        r"(mean_so_far = \w+ / )\(tl\.cast\(y_start, real\) \+ 16\)",
        r"\1dt_max(tl.cast(y_start, real), tl.full((), 1.0, real))",
    ),
    "the new mean is that of all": (
        r"(mean_so_far = \w+ / )\(tl\.cast\(y_start, real\) \+ 16\)",
        r"\1tl.cast(y_size, real)",
    ),
    "the last mean lacks an element": (
        r"(mean_so_far = \w+ / tl\.cast\(y_size)",
        r"\1 - 1",
    ),
    "the last mean is that of the tiles before": (
        r"(mean_so_far = \w+ / tl\.cast\()y_size, real\)",
        r"\1y_start + 16, real)",
    ),
    "the new sum is the old one": (r"(mean_so_far = )(\w+) /", r"\1\2_before /"),
    "the old sum is the new one": (r"(mean_before = )(\w+)_before\b", r"\1\2"),
    "the old sum is kept too late": (
        r"\n( +)(\w+)_before = \2\n +(\2 \+= .*)(?=\n)",
        r"\n\1\3\n\1\2_before = \2",
    ),
    "deviations from the old mean": (r"A_tile(\w*) - mean_so_far", r"A_tile\1 - mean_before"),
    "deviations from the move": (r"A_tile(\w*) - mean_so_far", r"A_tile\1 - mean_moved"),
    "no deviations": (r"A_tile(\w*) - mean_so_far(\[:, None\])?", r"A_tile\1"),
    "deviations from half of the mean": (
        r"A_tile(\w*) - (mean_so_far(\[:, None\])?)",
        r"A_tile\1 - 0.5 * \2",
    ),
    "deviations of twice the element": (
        r"A_tile(\w*) - mean_so_far",
        r"2 * A_tile\1 - mean_so_far",
    ),
    "deviations without a square": (
        r"(f_sum_tile\w* = )base \* base(?=\n)|(variance_sum_tile\w* = )base \* base(?=\n)",
        r"\1\2base",
    ),
    "a deviation is not masked": (
        r"tl\.where\(y_mask(?:\[None, :\])?, (base \* base), 0\.0\)",
        r"\1",
    ),
    "a masked deviation is 1": (
        r"(tl\.where\(y_mask(?:\[None, :\])?, base \* base), 0\.0\)",
        r"\1, 1.0)",
    ),
    "squares of one element less": (
        r"tl\.where\(y_mask(\[None, :\])?,",
        r"tl.where((y < y_size - 1)\1,",
    ),
    "squares of elements beyond the end": (
        r"tl\.where\(y_mask(\[None, :\])?,",
        r"tl.where((y < y_size + 1)\1,",
    ),
    "elements are doubled in the sum": (r"(mean_sum_tile\w* = A_tile\w*)", r"\1 * 2"),
    "elements of the sum are squared": (r"(mean_sum_tile\w* = )(A_tile\w*)", r"\1\2 * \2"),
    "a sum of squares is taken in first": (
        r"\n( +\w+ \+= mean_moved .*)\n((?:.*\n)*?)( +\w+_sum \+= \w+_sum_part\w*)(?=\n)",
        r"\n\2\3\n\1 * 2",
    ),
    "the mean is not added up": (r"\n +mean_sum \+= \w+(?=\n)", ""),
    "the mean is added up twice": (r"\n( +mean_sum \+= \w+)(?=\n)", r"\n\1\n\1"),
    "the mean of the last tile": (r"mean_sum \+= ", "mean_sum = "),
    "squares of the last tile": (r"(\w+_sum) \+= (\w+_sum_part\w*)", r"\1 = \2"),
    "squares are taken away": (r"(\w+_sum) \+= (\w+_sum_part\w*)", r"\1 -= \2"),
    "squares begin with 1": (
        r"((?:f|variance)_sum = tl\.full\(\(2?,?\), )0\.0",
        r"\g<1>1.0",
    ),
    "the sum begins with 1": (r"(mean_sum = tl\.full\(\(2?,?\), )0\.0", r"\g<1>1.0"),
    "a tail starts a tile early": (
        r"(\w*y_start) = y_size - \(y_size % 16\)",
        r"\1 = y_size - (y_size % 16) - 16",
    ),
    "a tail starts one late": (
        r"(\w*y_start) = y_size - \(y_size % 16\)",
        r"\1 = y_size - (y_size % 16) + 1",
    ),
    "a tail is skipped": (r"if not even and y_size % 16 != 0:", "if not even and y_size % 16 > 1:"),
    "a mask is one too wide": (r"(\w+_mask) = y < y_size", r"\1 = y <= y_size"),
    "a mask is one too narrow": (r"(\w+_mask) = y < y_size", r"\1 = y < y_size - 1"),
    "a whole tile too many": (r"tl\.range\(0, y_size - 15, 16\)", "tl.range(0, y_size, 16)"),
    "a whole tile too few": (r"tl\.range\(0, y_size - 15, 16\)", "tl.range(0, y_size - 16, 16)"),
    "tiles start late": (r"tl\.range\(0, ", "tl.range(16, "),
    "tiles overlap": (r"(tl\.range\(.*), 16\)", r"\1, 8)"),
    "one element twice": (r"tl\.range\(0, y_size\)", "tl.range(0, y_size + 1)"),
    "the first element is left out": (r"tl\.range\(0, y_size\)", "tl.range(1, y_size)"),
    "the new mean of one element less": (
        r"(mean_so_far = \w+ / \(tl\.cast\(y_start, real\) \+ )1\)",
        r"\g<1>2)",
    ),
    "not divided in the end": (r"(?<=_sum) / tl\.cast\(y_size, real\)(?=[\n,)])", ""),
}
# Programs in whose texts these mistakes are made.
MISTAKEN = (
    "variance",
    "variance, one row a program",
    "variance, one index at a time",
    "standard deviation and mean",
    "a layer normalization",
)


def mutants_of_means(name: str, text: str) -> Iterator[tuple[OnlineMutant, str]]:
    """Yield all of these mistakes in the text of a program."""
    yield from mutants_of(name, text, OF_MOVES)
