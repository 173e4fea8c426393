"""Texts of emitted kernels and plans with one mistake each, in what goes to places."""

import re
from collections.abc import Callable, Iterator

from dtpoly.plan.runtime_text import FIRST

Change = Callable[[re.Match[str]], str]
# The test of an index that is data, and the offset along an axis in an address.
TEST = r"\((\w+) >= 0\) & \((\w+) < (\w+)\)"
OFFSET = r"^(\s+\+ )(.+) \* (\w+)_stride_(\d)(,?)$"


def _tested(first: str, last: str) -> Change:
    return lambda m: f"({m[1]} {first}) & ({m[2]} {last.format(m[3])})"


def _moved(text: str) -> Change:
    def change(m: re.Match[str]) -> str:
        other = 1 - int(m[4]) if int(m[4]) < 2 else 0
        inner = text.format(at=m[2], name=m[3], axis=m[4], other=other)
        return f"{m[1]}{inner}{m[5]}"

    return change


IN_KERNELS: dict[str, tuple[str, Change]] = {
    "below 0 is not tested": (TEST, lambda m: f"{m[2]} < {m[3]}"),
    "the end is not tested": (TEST, lambda m: f"{m[1]} >= 0"),
    "nothing is tested": (TEST, lambda m: f"{m[1]} == {m[1]}"),
    "either test is enough": (TEST, lambda m: f"({m[1]} >= 0) | ({m[2]} < {m[3]})"),
    "the end is inside": (TEST, _tested(">= 0", "<= {}")),
    "one before 0 is inside": (TEST, _tested(">= -1", "< {}")),
    "0 is outside": (TEST, _tested("> 0", "< {}")),
    "the last one is outside": (TEST, _tested(">= 0", "< {} - 1")),
    "from the end": (TEST, lambda m: f"({m[1]} >= -{m[3]}) & ({m[2]} < {m[3]})"),
    "the test is turned round": (TEST, lambda m: f"({m[1]} < 0) | ({m[2]} >= {m[3]})"),
    "the mask lacks a test": (r" & \w+_inside(_\d)?(\[[^\]]*\])?", lambda _: ""),
    "the mask is the test alone": (r"mask=\(?.+ & (\w+_inside[^ ,)]*)", lambda m: f"mask={m[1]}"),
    "the mask lacks a label": (r"mask=\(?\w+_mask(\[[^\]]*\])? & ", lambda _: "mask="),
    "no mask": (r"mask=.+,$", lambda _: ""),
    "the next element": (OFFSET, _moved("({at} + 1) * {name}_stride_{axis}")),
    "the element before": (OFFSET, _moved("({at} - 1) * {name}_stride_{axis}")),
    "every second element": (OFFSET, _moved("2 * {at} * {name}_stride_{axis}")),
    "the first element": (OFFSET, _moved("({at} - {at}) * {name}_stride_{axis}")),
    "along another axis": (OFFSET, _moved("{at} * {name}_stride_{other}")),
    "counted from the end": (OFFSET, _moved("-{at} * {name}_stride_{axis}")),
    "in 32 bits": (OFFSET, _moved("{at}.to(tl.int32) * {name}_stride_{axis}")),
    "an axis is left out": (OFFSET, lambda m: m[1].replace("+", "+ 0") + m[5]),
    "indices wrap": (OFFSET, _moved("tl.where({at} < 0, {at} + 7, {at}) * {name}_stride_{axis}")),
    "indices are clamped": (OFFSET, _moved("tl.maximum({at}, 0) * {name}_stride_{axis}")),
    "another number is added": (r"(_at = .*)$", lambda m: f"{m[1]} + 1"),
    "something is taken away": (r"(_at = .*)$", lambda m: f"{m[1]} - 1"),
    "the place is doubled": (r"(_at = )(.*)$", lambda m: f"{m[1]}2 * ({m[2]})"),
    "a part of the place is missing": (r"(_at = \w+) [+-] .*$", lambda m: m[1]),
    "another row of a page": (r"% 16", lambda _: "% 8"),
    "the table is read one further": (
        r"\b(\w+) \* (pos|slot|pages|T|U)_stride_",
        lambda m: f"({m[1]} + 1) * {m[2]}_stride_",
    ),
    "another table": (r"\b[TU]_ptr \+", lambda m: ("U" if m[0][0] == "T" else "T") + "_ptr +"),
    "another value": (
        r"^(\s+)(X_tile.*|grown_tile|put_tile|K_tile \+ G_tile),$",
        lambda m: f"{m[1]}{m[2]} + 1,",
    ),
    "an atomic store": (r"tl\.store\(", lambda _: "tl.atomic_add("),
    "another tensor's name": (r"^(\s+)grown_ptr$", lambda m: f"{m[1]}G_ptr"),
    "no barrier": (r"tl\.debug_barrier\(\)", lambda _: "pass"),
    "every second program": (r"^(    pid = )(.+)$", lambda m: f"{m[1]}2 * ({m[2]})"),
    "lanes begin elsewhere": (r"(tl\.arange\()0, (\d+)\)", lambda m: f"({m[1]}0, {m[2]}) + 1)"),
    "the edge is not masked": (r"\((\w) < (\w+)\) \| even", lambda m: f"({m[1]} <= {m[2]}) | even"),
}
IN_PLANS: dict[str, tuple[str, Change]] = {
    "another length": (
        r'("\w+_shape_\d": "\w+)\.shape\[(\d)\]"',
        lambda m: f'{m[1]}.shape[{1 - int(m[2]) if int(m[2]) < 2 else 0}]"',
    ),
    "a longer length": (r'("\w+_shape_\d": "\w+\.shape\[\d\])"', lambda m: f'{m[1]} + 1"'),
    "a shorter length": (r'("\w+_shape_\d": "\w+\.shape\[\d\])"', lambda m: f'{m[1]} - 1"'),
    "one program less": (r'("programs": \("[^"]+)"', lambda m: f'{m[1]} - 1"'),
    "one program more": (r'("programs": \("[^"]+)"', lambda m: f'{m[1]} + 1"'),
    "another shape": (r'("shape": \("\w+)\.shape\[0\]"', lambda m: f'{m[1]}.shape[1]"'),
    "another tensor": (r'"into": "[KVWC]"', lambda _: '"into": "X"'),
    "a result of its own": (r', "into": "[KVWC]"', lambda _: ""),
    "floats in a table": (r'\("(i64|i32|u8|i8)", (\d)\)', lambda m: f'("float", {m[2]})'),
    "another dtype of a table": (r'\("(i64|i32|u8|i8)", (\d)\)', lambda m: f'("i16", {m[2]})'),
}


def mutants(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield the mistakes of a file: which, in which line, and the text of the whole file."""
    head, _, rest = text.partition(FIRST)
    lines = head.split("\n")
    plan = next(at for at, line in enumerate(lines) if "_plan = {" in line)
    for at, line in enumerate(lines):
        if line.strip().startswith("#"):
            continue
        for word, (pattern, change) in (IN_PLANS if at >= plan else IN_KERNELS).items():
            found = re.search(pattern, line)
            if found is None:
                continue
            new = line[: found.start()] + change(found) + line[found.end() :]
            if new != line:
                whole = "\n".join([*lines[:at], new, *lines[at + 1 :]])
                yield word, at + 1, FIRST.join((whole, rest))
