"""Mistakes in texts that the compiler emits for `online`, each made in one place of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from dtpoly.frozen import dataclass

# What is replaced by what, as regular expressions. A mistake is made in each place of a text, one
# at a time: in a loop over whole tiles, in a tail, in a branch inside of a branch.
MISTAKES: dict[str, tuple[str, str]] = {
    # The correction.
    "no correction": (r"\n +(\w+) \*= tl\.exp\((.*)_before(.*) - (.*)\)(?=\n)", ""),
    "the correction is upside down": (
        r"\*= tl\.exp\((\w+)_before(\S*) - (\w+)(\[:, None\])?\)",
        r"*= tl.exp(\3\2 - \1_before\2)",
    ),
    "corrected twice": (
        r"\n( +)(\w+ \*= tl\.exp\(\w+_before.*\))(?=\n)",
        r"\n\1\2\n\1\2",
    ),
    "the correction is a half": (r"\*= tl\.exp\((\w+_before.*)\)(?=\n)", r"*= tl.exp((\1) * 0.5)"),
    "the correction is 0": (
        r"\*= tl\.exp\((\w+)_before(.*)\)(?=\n)",
        r"*= 0.0 * tl.exp(\1_before\2)",
    ),
    # The maximum.
    "the maximum is not taken in": (
        r"(\w+) = dt_max\(\1, (\w+)\)",
        r"\1 = dt_max(\1, \1)",
    ),
    "the maximum forgets": (r"(\w+) = dt_max\(\1, (\w+)\)", r"\1 = \2"),
    "the maximum is a sum": (r"(\w+) = dt_max\(\1, (\w+)\)", r"\1 = \1 + \2"),
    "the old maximum is the new one": (
        r"\n( +)(\w+)_before = \2\n +(\2 = .*)(?=\n)",
        r"\n\1\3\n\1\2_before = \2",
    ),
    "the maximum is half": (
        r"tl\.reduce\((\w+), (\d), dt_max\)",
        r"(tl.reduce(\1, \2, dt_max) * 0.5)",
    ),
    "the maximum is a bit too small": (
        r"tl\.reduce\((\w+), (\d), dt_max\)",
        r"(tl.reduce(\1, \2, dt_max) - 1.0)",
    ),
    # The mask of the maximum, and that of the sum.
    "a masked score is 0": (r'float\("-inf"\)', "0.0"),
    "a masked score is low": (r'float\("-inf"\)', "-10000.0"),
    "a masked exponential is 1": (
        r"(tl\.exp\(.* - \w+(?:\[:, None\])?\),?\s+)0\.0(?=[,)\s])",
        r"\g<1>1.0",
    ),
    # The exponent.
    "the old maximum in an exponent": (
        r"tl\.exp\((\w+) - (\w+_max)(\[:, None\])?\)",
        r"tl.exp(\1 - \2_before\3)",
    ),
    "no maximum in an exponent": (
        r"tl\.exp\((\w+) - (\w+_max)(\[:, None\])?\)",
        r"tl.exp(\1)",
    ),
    "an exponent is turned": (
        r"tl\.exp\((\w+) - (\w+_max)(\[:, None\])?\)",
        r"tl.exp(\2\3 - \1)",
    ),
    # The sums.
    "a sum is not taken in": (r"\n +\w+_sum \+= \w+_part\w*(?=\n)", ""),
    "a sum is taken in twice": (r"\n( +)(\w+_sum \+= \w+_part\w*)(?=\n)", r"\n\1\2\n\1\2"),
    "a sum is set": (r"(\w+_sum) \+= (\w+_part\w*)", r"\1 = \2"),
    "a sum is taken away": (r"(\w+_sum) \+= (\w+_part\w*)", r"\1 -= \2"),
    "it is corrected after it has grown": (
        r"\n( +\w+_sum \*= .*)\n((?:.*\n)*?)( +\w+_sum \+= \w+)(?=\n)",
        r"\n\2\3\n\1",
    ),
    "an exponential is not masked": (
        r"tl\.where\(\s*([^,]*(?:\[None, :\])?[^,]*|[^,]*\[:, None\] <= [^,]*\[None, :\]),"
        r"\s+(tl\.exp\(\w+ - \w+(?:\[:, None\])?\)),\s+0\.0,?\s*\)",
        r"\2",
    ),
    "a product is set": (r"(tl\.dot\([^=]*?)\n( +)f_acc,\n", r"\1\n\2f_acc * 0.0,\n"),
    # Tiles.
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
    # Branches.
    "a branch is one too narrow": (
        r"if (x_start|y_size) >= (.*?) \+ (\d+):",
        r"if \1 >= \2 + \3 + 1:",
    ),
    "a branch is much wider": (r"if (x_start|y_size) >= (.*?) \+ (\d+):", r"if \1 >= \2 - 16:"),
    "an end of rows is one off": (r"x_start \+ 31 >= y_size", "x_start + 30 >= y_size"),
    "the diagonal is left out": (r"\(y\[None, :\] <= x\[:, None\]\)", "(y[None, :] < x[:, None])"),
    "one beyond the diagonal": (
        r"\(y\[None, :\] <= x\[:, None\]\)",
        "(y[None, :] <= x[:, None] + 1)",
    ),
    "the diagonal of what comes later": (
        r"x\[:, None\] <= (y\w*)\[None, :\]",
        r"x[:, None] < \1[None, :]",
    ),
    "the diagonal of an inner loop": (r"(\w+) = (x <= y_\w+|y_\w+ <= x)(?=\n)", r"\1 = x == x"),
    "a window is one off": (r"<= y(\w*)\[None, :\] \+ 7", r"<= y\1[None, :] + 6"),
    # The start, and the end.
    "the maximum starts with 0": (r"-1\.2676506002282294e30", "0.0"),
    "the maximum starts with -100": (r"-1\.2676506002282294e30", "-100.0"),
    "a sum starts with 1": (r"(\w+_sum = tl\.full\(\(\d+,\), )0\.0", r"\g<1>1.0"),
    "the maximum starts with -inf": (r"-1\.2676506002282294e30", 'float("-inf")'),
    "a product starts with 1": (r"(f_acc = tl\.full\(\(16, n_lanes\), )0\.0", r"\g<1>1.0"),
    "it is not divided": (r" / total_sum(\[:, None\])?(?=,\n)", ""),
    "the logarithm alone": (r"(tl\.log\(\w+\)) \+ top_max", r"\1"),
    "the maximum is taken away": (r"(tl\.log\(\w+\)) \+ top_max", r"\1 - top_max"),
}

# Where a tile behind the end is read, its mask leaves nothing of it.
HARMLESS = {("a branch is much wider", "attention to what comes later", 2)}


@dataclass(frozen=True)
class OnlineMutant:
    """A mistake, the program in whose text it is, and which of the places it is made in."""

    mistake: str
    name: str
    place: int

    def __str__(self) -> str:
        return f"{self.mistake}, {self.name}, {self.place}"


# Mistakes in how parts of 32 columns, in tiles of 16, are computed and merged.
OF_PARTS: dict[str, tuple[str, str]] = {
    "parts are not brought to one frame": (
        r"(\w+_parts_tile\w*) \* tl\.exp\([^()]*\)",
        r"\1",
    ),
    "brought to the frame before": (
        r"(tl\.exp\(\w+_parts_tile\S* - \w+_max)(?=[\[)])",
        r"\1_before",
    ),
    "brought the other way": (
        r"tl\.exp\((\w+_parts_tile\S*) - (\w+_max(?:\[:, None\])?)\)",
        r"tl.exp(\2 - \1)",
    ),
    "brought half of the way": (
        r"tl\.exp\((\w+_parts_tile\S*) - (\w+_max(?:\[:, None\])?)\)",
        r"tl.exp((\1 - \2) * 0.5)",
    ),
    "brought twice": (
        r"(tl\.exp\(\w+_parts_tile\S* - \w+_max(?:\[:, None\])?\))",
        r"\1 * \1",
    ),
    "a part stores the maximum before its last tile": (
        r"(\w+_max)_exact(?=,\n|\)\n)",
        r"\1_before",
    ),
    "a part stores half of its maximum": (r"(\w+_max_exact)(?=,\n|\)\n)", r"\1 * 0.5"),
    "a part stores 0 for its maximum": (r"(\w+_max_exact)(?=,\n|\)\n)", r"\1 * 0.0"),
    "a part stores nothing of its sum": (r"(\w+_parts_(?:sum|acc))(?=,\n|\)\n)", r"\1 * 0.0"),
    "a part begins a tile late": (r"tl\.range\(32 \* p_block, ", "tl.range(32 * p_block + 16, "),
    "a part begins with the whole": (r"tl\.range\(32 \* p_block, ", "tl.range(0, "),
    "a part ends a tile early": (r"32 \* p_block \+ 17", "32 * p_block + 1"),
    "a part ends a tile late": (r"32 \* p_block \+ 17", "32 * p_block + 33"),
    "a tail belongs to the part before": (r"32 \* p_block \+ 31 >=", "32 * p_block + 63 >="),
    "a tail belongs to no part": (r"32 \* p_block \+ 31 >=", "32 * p_block + 15 >="),
    "a tile of parts too few": (r"(\(y_size \+ 31\) // 32) \+ -1", r"\1 + -3"),
    "a tile of parts too many": (r"(\(y_size \+ 31\) // 32) \+ -1", r"\1 + 1"),
    "the last parts are left out": (r"if \(y_size \+ 31\) % (\d+) >= 32", r"if y_size % \1 > 32"),
    "a part more than there are": (
        r"p_mask = 32 \* p\.to\(tl\.int64\) < tl\.cast\(y_size, tl\.int64\)",
        "p_mask = 32 * p.to(tl.int64) <= tl.cast(y_size, tl.int64)",
    ),
    "a part less than there are": (
        r"p_mask = 32 \* p\.to\(tl\.int64\) < tl\.cast\(y_size, tl\.int64\)",
        "p_mask = 32 * p.to(tl.int64) + 32 < tl.cast(y_size, tl.int64)",
    ),
    "a part of another row": (r"p_block \* (\w+_parts_stride_0)", r"(p_block + 1) * \1"),
    "parts one after another are one": (r"p_block \* (\w+_parts_stride_0)", r"p_block // 2 * \1"),
    "a part is read twice": (r"\+ p(\[.*?\])? \* (\w+_parts_stride_0)", r"+ p\1 // 2 * \2"),
}


def mutants_of(
    name: str, text: str, mistakes: Mapping[str, tuple[str, str]] = MISTAKES
) -> Iterator[tuple[OnlineMutant, str]]:
    """Yield all mistakes in the text of a program."""
    for mistake, (old, new) in mistakes.items():
        for place, found in enumerate(re.finditer(old, text)):
            changed = text[: found.start()] + found.expand(new) + text[found.end() :]
            if changed != text and (mistake, name, place) not in HARMLESS:
                yield OnlineMutant(mistake, name, place), changed
