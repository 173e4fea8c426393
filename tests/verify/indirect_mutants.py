"""Texts of emitted kernels and plans with one mistake each, in what is read at data."""

import re
from collections.abc import Callable, Iterator

from dtpoly.plan.runtime_text import FIRST
from tests.codegen.listings import DATA, code

NAMES = sorted(path.stem for path in (DATA / "indirect").glob("*.dt"))
Change = Callable[[re.Match[str]], str]
# The test of an index, which is `(at >= 0) & (at < end)`.
TEST = r"\((\w+) >= 0\) & \((\w+) < (\w+)\)"
# An index that is data times a stride, in an address.
PLACE = r"(\w+_(?:tile|at|value|at_2))((?:\[[^\]]*\])?) \* (\w+)_stride_(\d)"


def _tested(first: str, last: str) -> Change:
    return lambda m: f"({m[1]} {first}) & ({m[2]} {last.format(m[3])})"


def _placed(text: str) -> Change:
    return lambda m: text.format(at=f"{m[1]}{m[2]}", name=m[3], axis=m[4], other=1 - int(m[4]))


# A pattern in a line of a kernel, and what it becomes.
IN_KERNELS: dict[str, tuple[str, Change]] = {
    "below 0 is not tested": (TEST, lambda m: f"{m[2]} < {m[3]}"),
    "the end is not tested": (TEST, lambda m: f"{m[1]} >= 0"),
    "nothing is tested": (TEST, lambda m: f"{m[1]} == {m[1]}"),
    "either test is enough": (TEST, lambda m: f"({m[1]} >= 0) | ({m[2]} < {m[3]})"),
    "the end is inside": (TEST, _tested(">= 0", "<= {}")),
    "one before 0 is inside": (TEST, _tested(">= -1", "< {}")),
    "0 is outside": (TEST, _tested("> 0", "< {}")),
    "the last one is outside": (TEST, _tested(">= 0", "< {} - 1")),
    "one behind the last is inside": (TEST, _tested(">= 0", "< {} + 1")),
    "from the end": (TEST, lambda m: f"({m[1]} >= -{m[3]}) & ({m[2]} < {m[3]})"),
    "the length of another axis": (
        r"_shape_(\d)\)",
        lambda m: ")" if m[1] == "9" else "_stride_0)",
    ),
    "the test is turned round": (TEST, lambda m: f"({m[1]} < 0) | ({m[2]} >= {m[3]})"),
    "the mask lacks the test": (r" & \w+_inside(_\d)?(\[[^\]]*\])?", lambda _: ""),
    "the next element": (PLACE, _placed("({at} + 1) * {name}_stride_{axis}")),
    "the element before": (PLACE, _placed("({at} - 1) * {name}_stride_{axis}")),
    "every second element": (PLACE, _placed("2 * {at} * {name}_stride_{axis}")),
    "the first element": (PLACE, _placed("({at} - {at}) * {name}_stride_{axis}")),
    "counted from the end": (PLACE, _placed("-{at} * {name}_stride_{axis}")),
    "along another axis": (PLACE, _placed("{at} * {name}_stride_{other}")),
    "in 32 bits": (PLACE, _placed("{at}.to(tl.int32) * {name}_stride_{axis}")),
    "in 16 bits": (PLACE, _placed("{at}.to(tl.int16) * {name}_stride_{axis}")),
    "negative indices wrap": (
        PLACE,
        _placed("tl.where({at} < 0, {at} + 3, {at}) * {name}_stride_{axis}"),
    ),
    "indices are clamped": (PLACE, _placed("tl.maximum({at}, 0) * {name}_stride_{axis}")),
    "the data is not widened": (r"\.to\(tl\.int64\)$", lambda _: ""),
    "another number outside": (r"other=0\.0", lambda _: "other=1.0"),
    "what is outside is not said": (r",? *other=0\.0,?", lambda _: ""),
    "the table is read one further": (
        r"\b(l|b_start|x|i_start) \* (T|U|pages|at)_stride_",
        lambda m: f"({m[1]} + 1) * {m[2]}_stride_",
    ),
    "another page": (r"l // 16", lambda _: "l // 8"),
    "another row of a page": (r"% 16", lambda _: "% 8"),
    "another factor of data": (r"\b2 \* (T_\w+)", lambda m: f"3 * {m[1]}"),
    "another number is added to data": (r"(_at = .*) - 1$", lambda m: f"{m[1]} - 2"),
    "another table": (r"\b[TU]_ptr \+", lambda m: ("U" if m[0][0] == "T" else "T") + "_ptr +"),
}
# In what a plan says of calls.
IN_PLANS: dict[str, tuple[str, Change]] = {
    "another length": (
        r'("\w+_shape_\d": "\w+)\.shape\[(\d)\]"',
        lambda m: f'{m[1]}.shape[{1 - int(m[2]) if int(m[2]) < 2 else 0}]"',
    ),
    "a longer length": (r'("\w+_shape_\d": "\w+\.shape\[\d\])"', lambda m: f'{m[1]} + 1"'),
    "a shorter length": (r'("\w+_shape_\d": "\w+\.shape\[\d\])"', lambda m: f'{m[1]} - 1"'),
    "another dtype of a table": (r'\("(i64|i32|u8|i8)", (\d)\)', lambda m: f'("i16", {m[2]})'),
    "floats in a table": (r'\("(i64|i32|u8|i8)", (\d)\)', lambda m: f'("float", {m[2]})'),
}


def mutants(name: str) -> Iterator[tuple[str, int, str]]:
    """Yield the mistakes of a file: which, in which line, and the text of the whole file."""
    text = code(name).text
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
