"""Texts of emitted kernels with one mistake each, in what scans do."""

import re
from collections.abc import Callable, Iterator

from dtpoly.plan.runtime_text import FIRST
from tests.codegen.listings import SCANS, code

NAMES = sorted(SCANS)
Change = Callable[[re.Match[str]], str]


def _number(found: re.Match[str], by: int) -> str:
    return f"{found[1]}{int(found[2]) + by}"


# A pattern in a line of a kernel, and what it becomes.
IN_LINES: dict[str, tuple[str, Change]] = {
    "what is carried is dropped": (r"(\w+) = \w+_carry(\[[^]]*\])? \+ \w+_scan$", lambda m: (
        f"{m[1]} = {m[1]}"
    )),
    "it is carried twice": (r"(\w+_carry(?:\[[^]]*\])?) \+ (\w+_scan)$", lambda m: (
        f"{m[1]} + {m[1]} + {m[2]}"
    )),
    "it is subtracted": (r"(_carry(?:\[[^]]*\])?) \+ (\w+_scan)$", lambda m: f"{m[1]} - {m[2]}"),
    "another operation goes on": (r"(_carry(?:\[[^]]*\])?) \+ (\w+_scan)$", lambda m: (
        f"{m[1]} * {m[2]}"
    )),
    "only what is carried": (r"= (\w+_carry(?:\[[^]]*\])?) \+ \w+_scan$", lambda m: (
        f"= {m[1]} + 0.0"
    )),
    "turned round": (r", reverse=True\)", lambda _: ")"),
    "turned back": (r"(tl\.associative_scan\(\w+, \d, \w+)\)", lambda m: f"{m[1]}, reverse=True)"),
    "another function": (r"\bdt_add\)", lambda _: "dt_mul)"),
    "the largest for the smallest": (r"(associative_scan\(.*)dt_max", lambda m: f"{m[1]}dt_min"),
    "a product for a sum": (r"(associative_scan\(.*)dt_mul", lambda m: f"{m[1]}dt_add"),
    "a sum of lanes for a scan": (
        r"tl\.associative_scan\((\w+), (\d), dt_add\)",
        lambda m: f"{m[1]} + 0.0",
    ),
    "another axis": (r"(associative_scan\(\w+), 1,", lambda m: f"{m[1]}, 0,"),
    "the lane before the last": (r"(== )(\d+)(?=, \w+_scan)", lambda m: _number(m, -1)),
    "a lane that is not there": (r"(== )(\d+)(?=, \w+_scan)", lambda m: _number(m, 1)),
    "all lanes up to the last": (r"== (\d+)(?=, \w+_scan)", lambda m: f"<= {m[1]}"),
    "another lane is carried": (r"(== )\d+(?=, \w+_scan)", lambda m: f"{m[1]}7"),
    "the largest is carried": (r"= tl\.sum\(tl\.where\((.*), 0\.0\), (\d)\)$", lambda m: (
        f"= tl.max(tl.where({m[1]}, 0.0), {m[2]})"
    )),
    "nothing is carried on": (r"^( +)(\w+_carry) \+?= tl\.(sum|reduce)\(.*$", lambda m: (
        f"{m[1]}{m[2]} = {m[2]}"
    )),
    "it begins from 1": (r"(_carry = tl\.full\([^,]*,\)?,? ?)0\.0", lambda m: f"{m[1]}1.0"),
    "it begins from 0": (r"(_carry = tl\.full\(.*, )(1\.0|float\(\"-inf\"\))", lambda m: (
        f"{m[1]}0.0"
    )),
    "it begins from nothing given": (r"^( +\w+_carry) = (\w+_(?:tile|value))$", lambda m: (
        f"{m[1]} = {m[2]} * 0.0"
    )),
    "the product of another order": (r"(\w+_factor) \* (\w+_carry(?:\[[^]]*\])?) \+ (\w+)$", (
        lambda m: f"{m[1]} * {m[3]} + {m[2]}"
    )),
    "the factor is dropped": (r"\w+_factor \* (\w+_carry)", lambda m: m[1]),
    "the factor is added": (r"(\w+_factor) \* (\w+_carry)", lambda m: f"{m[1]} + {m[2]}"),
    "the neutral factor is 0": (r"(tl\.where\(.*), 1\.0\)", lambda m: f"{m[1]}, 0.0)"),
    "the neutral element is 1": (r"(mask=.*|other=)0\.0", lambda m: f"{m[1]}1.0"),
    "the neutral element is 0": (r"(tl\.where\(.*), float\(\"-?inf\"\)\)", lambda m: (
        f"{m[1]}, 0.0)"
    )),
    "steps swapped": (r"return a \* c, b \* c \+ d", lambda _: "return a * c, d * a + b"),
    "steps of another function": (r"return a \* c, b \* c \+ d", lambda _: "return a * c, b + d"),
    "a sum of factors": (r"return a \* c, b \* c \+ d", lambda _: "return a + c, b * c + d"),
    "the first factor alone": (r"return a \* c, b \* c \+ d", lambda _: "return a, b * c + d"),
    "added to another state": (r"return a \* c, b \* c \+ d", lambda _: "return a * c, a * c + d"),
    "the function subtracts": (r"^    return a \+ b$", lambda _: "    return a - b"),
    "the function doubles": (r"^    return a \+ b$", lambda _: "    return a + b + b"),
    "one further": (r"(\[None, :\]|\bt) ([+-]) 1\)", lambda m: f"{m[1]} {m[2]} 2)"),
    "not before": (r"\((t(?:\[[^]]*\])?) - 1\)", lambda m: f"({m[1]} - 0)"),
    "a tile further": (r"(for \w+ in tl\.range\()0,", lambda m: f"{m[1]}16,"),
    "a shorter tile": (r"(for .*tl\.range\(.*, )(\d+)\)", lambda m: f"{_number(m, 1)})"),
    "tiles turned round": (r"= \(-(\w+_start) \+", lambda m: f"= ({m[1]} +"),
    "another row": (r"(_carry)\[:, None\] \+", lambda m: f"{m[1]}[None, :] +"),
    "the pair turned round": (r"tl\.associative_scan\(\((\w+), (\w+)\)", lambda m: (
        f"tl.associative_scan(({m[2]}, {m[1]})"
    )),
    "the results turned round": (r"(\w+_factor), (\w+_scan) = tl\.", lambda m: (
        f"{m[2]}, {m[1]} = tl."
    )),
    "a NaN is lost": (r"tl\.maximum\(a, b, tl\.PropagateNan\.ALL\)", lambda _: "tl.maximum(a, b)"),
}  # fmt: skip


# What is wrong only where something follows: the last tile carries nothing on.
CARRIED_ON = re.compile(r"_carry = tl\.(sum|reduce)\(|^ +tl\.where\(tl\.arange\(.*_scan, ")
# Lanes beyond the end of a row come before others only where a scan goes backwards.
OF_MASKS = re.compile(r"neutral")


def _is_harmless(name: str, word: str, lines: list[str], at: int) -> bool:
    """Return whether a mistake is known to change nothing."""
    if OF_MASKS.search(word):
        return "reverse" not in SCANS[name].read_text()
    later = (one for one in lines[at + 1 :] if "associative_scan" in one)
    return bool(CARRIED_ON.search(lines[at])) and not any(later)


def kernel_of(text: str) -> tuple[str, str]:
    """Return what stands before the plan, and the rest."""
    head, _, rest = text.partition(FIRST)
    plan = head.index("_plan = {")
    return head[:plan], head[plan:] + FIRST + rest


def mutants(name: str) -> Iterator[tuple[str, int, str]]:
    """Yield the mistakes of a file: which, in which line, and the text of the whole file."""
    kernel, rest = kernel_of(code(name).text)
    lines = kernel.split("\n")
    for at, line in enumerate(lines):
        if line.lstrip().startswith("#"):
            continue
        for word, (pattern, change) in IN_LINES.items():
            found = re.search(pattern, line)
            if found is None or _is_harmless(name, word, lines, at):
                continue
            new = line[: found.start()] + change(found) + line[found.end() :]
            if new != line:
                yield word, at + 1, "\n".join([*lines[:at], new, *lines[at + 1 :]]) + rest
    yield from _moved(name, lines, rest)


def _moved(name: str, lines: list[str], rest: str) -> Iterator[tuple[str, int, str]]:
    """Yield texts with two lines exchanged, or one left out, where a state is carried on."""
    for at, line in enumerate(lines):
        if _is_harmless(name, "", lines, at):
            continue
        if re.search(r"^ +\w+_carry = tl\.(sum|reduce)", line):
            swapped = [*lines[: at - 1], line, lines[at - 1], *lines[at + 1 :]]
            yield "carried before it is put together", at + 1, "\n".join(swapped) + rest
            yield "not carried", at + 1, "\n".join([*lines[:at], *lines[at + 1 :]]) + rest
            inner = "    " + line
            deeper = [*lines[:at], "    if True:", inner, *lines[at + 1 :]]
            yield "carried in a branch", at + 1, "\n".join(deeper) + rest
