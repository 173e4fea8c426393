"""Texts of emitted kernels with one mistake each, in loops that begin and end at data."""

import re
from collections.abc import Callable, Iterator

from dtpoly.plan.runtime_text import FIRST
from tests.codegen.listings import code

Change = Callable[[re.Match[str]], str]
FIRST_TILE = r"(\w+_first) = max\((.+), 0\)( // (\d+) \* \d+)?$"
LAST_TILE = r"(\w+_stop) = min\((.+), (\w+)\)$"
LOOP = r"tl\.range\((\w+), (\w+)(, \d+)?\)"
# A comparison of the index with a start, and with an end.
INDEX = r"(\w+(?:\[[^\]]*\])?\.to\(tl\.int64\)|tl\.cast\(\w+, tl\.int64\))"
FROM = r"(\w+(?:\[[^\]]*\])?) <= " + INDEX
BELOW = INDEX + r" < ([\w+ ]+(?:\[[^\]]*\])?)"


def _first(text: str) -> Change:
    return lambda m: text.format(name=m[1], at=m[2], by=m[3] or "", step=int(m[4] or 1))


def _last(text: str) -> Change:
    return lambda m: text.format(name=m[1], at=m[2], size=m[3])


MISTAKES: dict[str, tuple[str, Change]] = {
    "begins one index later": (FIRST_TILE, _first("{name} = max({at} + 1, 0){by}")),
    "begins one index earlier": (FIRST_TILE, _first("{name} = max({at} - 1, 0){by}")),
    "begins one tile later": (FIRST_TILE, _first("{name} = max({at}, 0){by} + {step}")),
    "begins in the middle of a tile": (FIRST_TILE, _first("{name} = max({at}, 0){by} + 1")),
    "begins before 0": (FIRST_TILE, _first("{name} = {at}{by}")),
    "begins at another multiple": (FIRST_TILE, _first("{name} = max({at}, 0) // 64 * 64")),
    "begins at a tile too large": (FIRST_TILE, _first("{name} = (max({at}, 0) + 63) // 64 * 64")),
    "begins at 1 at least": (FIRST_TILE, _first("{name} = max({at}, 1){by}")),
    "begins at -1 at least": (FIRST_TILE, _first("{name} = max({at}, -1){by}")),
    "begins at a size": (FIRST_TILE, _first("{name} = min({at}, 0){by}")),
    "begins at no multiple": (FIRST_TILE, _first("{name} = max({at}, 0)")),
    "begins at twice the start": (FIRST_TILE, _first("{name} = max({at} * 2, 0){by}")),
    "ends one index later": (LAST_TILE, _last("{name} = min({at} + 1, {size})")),
    "ends one index earlier": (LAST_TILE, _last("{name} = min({at} - 1, {size})")),
    "ends before the last index": (LAST_TILE, _last("{name} = min({at}, {size} - 1)")),
    "ends behind the size": (LAST_TILE, _last("{name} = min({at}, {size} + 64)")),
    "ends at the larger one": (LAST_TILE, _last("{name} = max({at}, {size})")),
    "ends where the data says alone": (LAST_TILE, _last("{name} = {at}")),
    "ends at half": (LAST_TILE, _last("{name} = min({at}, {size}) // 2")),
    "ends at the first tile": (LAST_TILE, _last("{name} = min({at}, 16)")),
    "begins where it ends": (LOOP, lambda m: f"tl.range({m[2]}, {m[2]}{m[3] or ''})"),
    "goes the other way": (LOOP, lambda m: f"tl.range({m[2]}, {m[1]}{m[3] or ''})"),
    "takes every second tile": (LOOP, lambda m: f"tl.range({m[1]}, {m[2]}, 64)"),
    "takes tiles that overlap": (LOOP, lambda m: f"tl.range({m[1]}, {m[2]}, 4)"),
    "begins at 0": (LOOP, lambda m: f"tl.range(0, {m[2]}{m[3] or ''})"),
    "begins at 16": (LOOP, lambda m: f"tl.range(16, {m[2]}{m[3] or ''})"),
    "in 32 bits": (FIRST_TILE, _first("{name} = max({at}, 0).to(tl.int32){by}")),
    "the end in 32 bits": (LAST_TILE, _last("{name} = min({at}, {size}).to(tl.int32)")),
    "the start is not in the mask": (FROM, lambda m: f"{m[2]} <= {m[2]}"),
    "the start is outside": (FROM, lambda m: f"{m[1]} < {m[2]}"),
    "one before the start is inside": (FROM, lambda m: f"{m[1]} <= {m[2]} + 1"),
    "before the start": (FROM, lambda m: f"{m[1]} > {m[2]}"),
    "the end is not in the mask": (BELOW, lambda m: f"{m[1]} <= {m[1]}"),
    "the end is inside": (BELOW, lambda m: f"{m[1]} <= {m[2]}"),
    "behind the end": (BELOW, lambda m: f"{m[1]} >= {m[2]}"),
    "the last one is outside": (BELOW, lambda m: f"{m[1]} + 1 < {m[2]}"),
    "either end is enough": (r"\) & \((\w+.* < )", lambda m: f") | ({m[1]}"),
    "the least end": (r"dt_max\)$", lambda _: "dt_min)"),
    "the largest start": (r"dt_min\)$", lambda _: "dt_max)"),
    "lanes that are not there begin at 0": (r"9223372036854775807", lambda _: "0"),
    "all lanes begin last": (r"tl\.where\(\w+_mask, \w+, (\d{19})\)", lambda m: m[1]),
    "lanes that are there begin last": (
        r"tl\.where\((\w+_mask), (\w+), (\d{19})\)",
        lambda m: f"tl.where({m[1]}, {m[3]}, {m[2]})",
    ),
    "the end of the row before": (
        r"\((\w_start|\w) \+ 1\) \* (\w+_stride)",
        lambda m: f"{m[1]} * {m[2]}",
    ),
    "the end of the next row": (
        r"\((\w_start|\w) \+ 1\) \* (\w+_stride)",
        lambda m: f"({m[1]} + 2) * {m[2]}",
    ),
    "the start of the first row": (
        r"(offsets|rows|start|first)_ptr \+ (\w+) \* ",
        lambda m: f"{m[1]}_ptr + 0 * ",
    ),
    "the start of the next row": (
        r"(offsets|rows|start|first)_ptr \+ (\w+) \* ",
        lambda m: f"{m[1]}_ptr + ({m[2]} + 1) * ",
    ),
    "the end for the start": (r"start_ptr \+", lambda _: "end_ptr +"),
    "the start for the end": (
        r"\b(end|length|last)_ptr \+",
        lambda m: {"end": "start", "length": "start", "last": "first"}[m[1]] + "_ptr +",
    ),
    "the size is not in the mask": (
        r"(\w)_mask = \w < \1_size$",
        lambda m: f"{m[0]} + 9",
    ),
    "the mask ends early": (
        r"(\w)_mask = \w < \1_size$",
        lambda m: f"{m[0]} - 1",
    ),
    "another number where the mask fails": (
        r"^( +)(0\.0|float\(\"-inf\"\)|1\.0),$",
        lambda m: f"{m[1]}2.0,",
    ),
    "the sum begins at 1": (
        r"tl\.full\(\((.*)\), 0\.0, real\)",
        lambda m: f"tl.full(({m[1]}), 1.0, real)",
    ),
    "the sum is that of the last tile": (
        r"(\w+_acc) \+= tl\.where",
        lambda m: f"{m[1]} = tl.where",
    ),
    "the sum is taken twice": (r"(\w+_acc) \+= tl\.where", lambda m: f"{m[1]} += 2 * tl.where"),
    # One pass: corrections, and the frame in the exponents.
    "no correction": (r"^( +)\w+ \*= tl\.exp.*$", lambda m: f"{m[1]}pass"),
    "the correction is upside down": (
        r"tl\.(exp2?)\((\w+_before.*) - (\w+_max.*)\)$",
        lambda m: f"tl.{m[1]}({m[3]} - {m[2]})",
    ),
    "a correction is made twice": (
        r"\*= tl\.(exp2?)\((.*)\)$",
        lambda m: f"*= tl.{m[1]}(2.0 * ({m[2]}))",
    ),
    "the correction has another base": (
        r"\*= tl\.exp(2?)\(",
        lambda m: "*= tl.exp(" if m[1] else "*= tl.exp2(",
    ),
    "the old maximum in the exponents": (
        r"tl\.(exp2?)\((.*) - (\w+_max)(\[.*\])?\),$",
        lambda m: f"tl.{m[1]}({m[2]} - {m[3]}_before{m[4] or ''}),",
    ),
    "no maximum in the exponents": (
        r"tl\.(exp2?)\((.*) - (\w+_max)(\[.*\])?\),$",
        lambda m: f"tl.{m[1]}({m[2]}),",
    ),
    "the maximum forgets": (r"(\w+_max) = dt_max\(\1, (\w+)\)$", lambda m: f"{m[1]} = {m[2]}"),
    "the maximum begins with 0": (r"-1\.2676506002282294e30", lambda _: "0.0"),
    "the maximum is of the lanes outside, too": (
        r"^( +)-tl\.full\((.*), float\(\"inf\"\), real\),$",
        lambda m: f"{m[1]}tl.full({m[2]}, 0.0, real),",
    ),
}


def mutants(name: str) -> Iterator[tuple[str, int, str]]:
    """Yield the mistakes of a file: which, in which line, and the text of the whole file."""
    text = code(name).text
    end = text.index(FIRST)
    lines = text[:end].split("\n")
    for word, (pattern, change) in MISTAKES.items():
        for at, line in enumerate(lines):
            if line.lstrip().startswith(("#", "for ", "def ")) and pattern != LOOP:
                continue
            new = re.sub(pattern, change, line)
            if new != line:
                yield word, at + 1, "\n".join([*lines[:at], new, *lines[at + 1 :]]) + text[end:]
