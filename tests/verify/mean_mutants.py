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
_MOVE = r"mean_moved \* mean_(?:squares|cubes) \* \d\.0"
_POWER = r"(?:mean_moved \* ){3,4}tl\.cast\(y_start, real\)"
# Mistakes in how sums of cubes and of fourth powers move, and the sums of lower powers with them.
OF_POWERS: dict[str, tuple[str, str]] = {
    "a lower sum is left out of a move": (rf"{_MOVE}", "0.0"),
    "a lower sum has another factor": (r"(mean_(?:squares|cubes)) \* (?:3|4|6)\.0", r"\1 * 2.0"),
    "a lower sum has a factor of the next power": (r"(mean_squares) \* 3\.0", r"\1 * 4.0"),
    "a lower sum moves the other way": (
        r"([+-]) ((?:mean_moved \* )+mean_(?:squares|cubes))",
        r"\1 -\2",
    ),
    "the sum of squares in the place of cubes": (r"mean_cubes \* 4\.0", "mean_squares * 4.0"),
    "the sum of cubes in the place of squares": (r"mean_squares \* 6\.0", "mean_cubes * 6.0"),
    "its own sum in the place of squares": (r"mean_squares \* ([36]\.0)", r"f_sum * \1"),
    "the sum of elements in the place of squares": (
        r"mean_squares \* ([36]\.0)",
        r"mean_sum * \1",
    ),
    "a move too few": (r"mean_moved \* (?=mean_(?:squares|cubes))", ""),
    "a move too many": (r"(?=mean_(?:squares|cubes) \*)", "mean_moved * "),
    "no power of the move": (rf"{_POWER}", "0.0"),
    "a power too few": (rf"mean_moved \* (?={_POWER})", ""),
    "a power for one element more": (r"(mean_moved \* tl\.cast\(y_start)(?=, real)", r"\1 + 1"),
    "the squares move first": (
        r"\n( +mean_cubes \+= \((?:.*\n)*?.*\n +\))\n( +mean_squares \+= mean_moved .*)(?=\n)",
        r"\n\2\n\1",
    ),
    "the squares move before all": (
        r"\n( +f_sum \+= \((?:.*\n)*?)( +mean_squares \+= mean_moved .*)(?=\n)",
        r"\n\2\n\1",
    ),
    "squares do not move": (r"\n +mean_squares \+= mean_moved .*(?=\n)", ""),
    "squares move twice": (r"\n( +mean_squares \+= mean_moved .*)(?=\n)", r"\n\1\n\1"),
    "cubes do not move": (r"\n +mean_cubes \+= \((?:.*\n)*?.*\n +\)(?=\n)", ""),
    "a lower sum is not taken in": (
        r"\n +mean_(?:squares|cubes) \+= mean_\w+_part\w*(?=\n)",
        "",
    ),
    "a lower sum is taken in twice": (
        r"\n( +mean_(?:squares|cubes) \+= mean_\w+_part\w*)(?=\n)",
        r"\n\1\n\1",
    ),
    "a lower sum is set": (
        r"(mean_(?:squares|cubes)) \+= (mean_\w+_part\w*)",
        r"\1 = \2",
    ),
    "a lower sum begins with 1": (
        r"(mean_(?:squares|cubes) = tl\.full\(\(2,\), )0\.0",
        r"\g<1>1.0",
    ),
    "a lower sum has one power more": (
        r"(mean_(?:squares|cubes)_tile = )base",
        r"\1base * base",
    ),
    "a lower sum has a factor": (r"(mean_(?:squares|cubes)_tile = )base", r"\g<1>2.0 * base"),
    "a lower sum is not masked": (
        r"(mean_\w+_tile_2 = )tl\.where\(y_mask\[None, :\], ((?:base \* )+base), 0\.0\)",
        r"\1\2",
    ),
    "a lower sum lacks an element": (
        r"(mean_\w+s_tile_2 = )tl\.where\(y_mask\[None, :\],",
        r"\1tl.where((y < y_size - 1)[None, :],",
    ),
    "a lower sum has elements beyond the end": (
        r"(mean_\w+s_tile_2 = )tl\.where\(y_mask\[None, :\],",
        r"\1tl.where((y < y_size + 1)[None, :],",
    ),
    "a lower sum of the old mean": (
        r"(mean_(?:squares|cubes)_tile = base)(?= \*)",
        r"\1 * 0.0 + (A_tile - mean_before[:, None])",
    ),
    "the highest sum of the old mean": (r"A_tile(\w*) - mean_so_far", r"A_tile\1 - mean_before"),
    "the move of the highest sum comes too late": (
        r"\n( +f_sum \+= \((?:.*\n)*?.*\n +\))\n((?:.*\n)*?)( +f_sum \+= f_sum_part\w*)(?=\n)",
        r"\n\2\3\n\1",
    ),
    "two sums that look at each other": (
        r"(mean_squares \+= mean_moved \* mean_moved \* tl\.cast\(y_start, real\))",
        r"\1 + mean_moved * f_sum",
    ),
    "the highest sum is not taken in": (r"\n +f_sum \+= f_sum_part\w*(?=\n)", ""),
    "the highest sum begins with 1": (r"(f_sum = tl\.full\(\(2,\), )0\.0", r"\g<1>1.0"),
}
# Programs in whose texts these are made.
MISTAKEN_POWERS = ("a third central moment", "a fourth central moment")
# Programs in whose texts the other mistakes are made.
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
