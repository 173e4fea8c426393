"""Texts of emitted kernels and plans with one mistake each, in what is added at places."""

import re
from collections.abc import Callable, Iterator

from dtpoly.plan.runtime_text import FIRST
from tests.verify import placed_mutants

Change = Callable[[re.Match[str]], str]
# A whole atomic operation: its indentation, its place, its value and its mask.
ADDED = re.compile(
    r"^( +)tl\.atomic_add\(\n +(.+(?:\n(?! {8,}mask).+)*),\n +(.+),\n"
    r"( +mask=(?:.+\n)+? +)?sem=\"relaxed\",\n +\)\n",
    re.MULTILINE,
)
ONE_LINE = re.compile(
    r"^( +)tl\.atomic_add\((.+), (\w+)((?:, mask=.+)?), sem=\"relaxed\"\)\n", re.MULTILINE
)


def _call(word: str, value: str = "{value}", mask: str = "{mask}", rest: str = "") -> Change:
    def change(m: re.Match[str]) -> str:
        given = (m[4] or "").strip().removeprefix(",").strip().rstrip(",")
        held = f", {mask.format(mask=given)}" if given and mask else ""
        return f"{m[1]}{word}({m[2]}, {value.format(value=m[3])}{held}{rest})\n"

    return change


SEM = ', sem="relaxed"'
IN_STATEMENTS: dict[str, Change] = {
    "it is stored": _call("tl.store"),
    "it is added twice": lambda m: m[0] + m[0],
    "it is added in two rounds": lambda m: (
        f"{m[1]}for again in tl.range(0, 2, 1):\n" + re.sub("(?m)^", "    ", m[0]).rstrip(" ")
    ),
    "it is not added": lambda m: f"{m[1]}pass\n",
    "the largest is kept": _call("tl.atomic_max", rest=SEM),
    "the smallest is kept": _call("tl.atomic_min", rest=SEM),
    "twice the value": _call("tl.atomic_add", "2 * ({value})", rest=SEM),
    "the other sign": _call("tl.atomic_add", "-({value})", rest=SEM),
    "one more": _call("tl.atomic_add", "({value}) + 1", rest=SEM),
    "the square": _call("tl.atomic_add", "({value}) * ({value})", rest=SEM),
    "only the first program adds": _call("tl.atomic_add", mask="{mask} & (pid == 0)", rest=SEM),
    "every second program adds": _call("tl.atomic_add", mask="{mask} & (pid % 2 == 0)", rest=SEM),
    "there is no mask": _call("tl.atomic_add", mask="", rest=SEM),
    "it is stored, and then added": lambda m: _call("tl.store")(m) + m[0],
    "it is added, and then stored": lambda m: m[0] + _call("tl.store")(m),
    "nothing is added after": lambda m: m[0] + _call("tl.atomic_add", "0 * ({value})", rest=SEM)(m),
    "it is loaded, and a sum is stored": lambda m: (
        _call("old = tl.load", "0")(m).replace(", 0", "", 1) + _call("tl.store", "old + {value}")(m)
    ),
}


def mutants(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield the mistakes of a file: which, in which line, and the text of the whole file."""
    head, _, rest = text.partition(FIRST)
    for pattern in (ADDED, ONE_LINE):
        for found in pattern.finditer(head):
            line = head.count("\n", 0, found.start()) + 1
            for word, change in IN_STATEMENTS.items():
                new = head[: found.start()] + change(found) + head[found.end() :]
                yield word, line, FIRST.join((new, rest))
    yield from placed_mutants.mutants(text)
