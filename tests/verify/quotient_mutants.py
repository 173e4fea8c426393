"""Texts of emitted kernels and plans with one mistake each, in what is divided by a number."""

import re
from collections.abc import Callable, Iterator

from dtpoly.plan.runtime_text import FIRST
from tests.codegen.listings import DATA, code

NAMES = sorted(path.stem for path in (DATA / "quotients").glob("*.dt"))
# What a kernel does with strides and blocks; nothing of it is an index that the algorithm divides.
NOT_INDICES = re.compile(
    r"_stride_\d = |_size = |_blocks|pid|_steps|even|^ *#|A_W_dtype|% 32|// 32"
)
# Parts of a plan that only messages show.
IN_WORDS = re.compile(r'"seen"|"shown"|"index"|"by ')
Change = Callable[[re.Match[str]], str]


def _more(found: re.Match[str]) -> str:
    return f"{found[1]} {int(found[2]) + 1}"


# A pattern in a line of a kernel, and what it becomes.
IN_KERNELS: dict[str, tuple[str, Change]] = {
    "another divisor": (r"(//) (\d+)\b", _more),
    "another divisor of a remainder": (r"(%) (\d+)\b", _more),
    "a remainder for a quotient": (r"// (\d+)\b", lambda found: f"% {found[1]}"),
    "a quotient for a remainder": (r"% (\d+)\b", lambda found: f"// {found[1]}"),
    "no quotient": (r" // \d+\b", lambda _: ""),
    "rounded towards 0": (
        r"\(tl\.maximum\((.*?), 0\) // (\d+) - tl\.maximum\(.*?, 0\) // \d+\)",
        lambda found: f"(({found[1]}) // {found[2]})",
    ),
    "never below 0": (r" - tl\.maximum\([^()]*, 0\) // \d+", lambda _: ""),
    "one further": (r"tl\.maximum\(", lambda _: "tl.maximum(1 + "),
    "another factor": (r"\b([2-9]) \* \(", lambda found: f"{int(found[1]) + 1} * ("),
    "another number": (r"\+ 1 - ", lambda _: "+ 2 - "),
    "another remainder is asked for": (r"(dt_mod_whole\(.*)== 0", lambda found: f"{found[1]}== 1"),
    "another number in a condition": (r"tl\.full\(\(\), (\d), tl\.int64\)", lambda found: (
        f"tl.full((), {int(found[1]) + 1}, tl.int64)"
    )),
    "another beginning": (r"\(0 <= ", lambda _: "(-9 <= "),
}  # fmt: skip
# In the sizes and the demands of a plan.
IN_PLANS: dict[str, tuple[str, Change]] = {
    "another multiple": (r"\b(\d+) \* (\w+\.shape)", lambda m: f"{int(m[1]) + 1} * {m[2]}"),
    "no multiple": (r"\b\d+ \* (\w+\.shape)", lambda m: m[1]),
    "one more": (r"(\d+ \* \w+\.shape\[\d\])\"", lambda m: f'{m[1]} + 1"'),
    "another quotient": (r"(//) (\d+)\b", _more),
    "a lower end": (r'("high": ".*)",', lambda m: f'{m[1]} - 1",'),
    "no end": (r'^ *"high": .*,$', lambda _: ""),
    "no beginning": (r'^ *"low": .*,$', lambda _: ""),
}


def mutants(name: str) -> Iterator[tuple[str, int, str]]:
    """Yield the mistakes of a file: which, in which line, and the text of the whole file."""
    text = code(name).text
    head, _, rest = text.partition(FIRST)
    lines = head.split("\n")
    plan = next(at for at, line in enumerate(lines) if "_plan = {" in line)
    for at, line in enumerate(lines):
        where = IN_PLANS if at >= plan else IN_KERNELS
        if at < plan and NOT_INDICES.search(line):
            continue
        if at >= plan and IN_WORDS.search(line):
            continue
        for word, (pattern, change) in where.items():
            found = re.search(pattern, line)
            if found is not None:
                new = line[: found.start()] + change(found) + line[found.end() :]
                yield (
                    word,
                    at + 1,
                    FIRST.join(("\n".join([*lines[:at], new, *lines[at + 1 :]]), rest)),
                )
