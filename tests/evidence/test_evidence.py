"""The evidence that is kept: how much there is for each construct, and the table of it."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any

import pytest

from dtpoly.checking import understand
from dtpoly.frontend.parse import parse
from dtpoly.source import Source
from tests.codegen.listings import APART, FILES
from tests.conftest import Published
from tests.evidence.agreement import CASES, DISAGREE, PROGRAMS, compared
from tests.evidence.command import RESULTS
from tests.evidence.constructs import Construct, used
from tests.evidence.mutants import MUTANTS, SAME, WRONG, chosen
from tests.oracle.cases import understood

NAMED = 4  # programs of a construct that the table names


def recorded() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(RESULTS.read_text())
    return found


def total(part: str, what: str = "found") -> Counter[str]:
    """Return the counts of a part, over all kinds of programs."""
    found = Counter[str]()
    for one in recorded()[part].values():
        found.update(one[what])
    return found


@cache
def practice() -> Mapping[Construct, list[str]]:
    """Return the examples and the programs of tests that use each construct."""
    found: dict[Construct, list[str]] = {one: [] for one in Construct}
    for name, path in {**FILES, **APART}.items():
        parsed = parse(Source(path.name, path.read_text()))
        program = understand(parsed.file, parsed.found).program
        assert program is not None, path
        for one in used(program):
            found[one].append(name)
    return found


def test_there_is_enough_evidence() -> None:
    agreement, mutants = total("agreement"), recorded()["mutants"]
    assert set(recorded()["agreement"]) == set(recorded()["compiled"]) == set(CASES)
    count = sum(count for word, count in agreement.items() if word.startswith(PROGRAMS))
    assert count == 171 * len(CASES) >= 2000
    assert not agreement[f"{PROGRAMS}: {DISAGREE}"]
    assert set(mutants) == {str(one) for one in Construct} == {str(one) for one in MUTANTS}
    for construct, one in mutants.items():
        assert sum(one["found"].values()) >= 50, construct
        assert WRONG not in one["found"], construct
    compiled = total("compiled")
    for construct in Construct:
        assert compiled[f"{construct}: proved"] >= 10, construct
        assert len(practice()[construct]) >= 3, construct


def test_a_construct_is_found() -> None:
    texts = {
        Construct.RESULTS: "f[x] = A[x]; g[x] = A[x] * 2; g.fuse_at(f, x); f.compile(g);",
        Construct.QUOTIENTS: "f[x] = pad(A, 0)[x // 2]; g[x] = f[x]; g.compile();",
        Construct.RANDOM: "f[x] = A[x] * random(3, x, 1); g[x] = f[x]; g.compile();",
        Construct.BITS: "f[x] = A[x] * (x ^ 3); g[x] = f[x]; g.compile();",
    }
    for construct, text in texts.items():
        program = understood(f"Func f, g; In A; Var x; {text}")
        assert program is not None
        assert used(program) == {construct}


@pytest.mark.long
def test_mutants_are_the_same_each_time() -> None:
    first = [one.text for one in chosen(Construct.LISTS, 5)]
    assert first == [one.text for one in chosen(Construct.LISTS, 5)]
    assert len(set(first)) == 5


def test_a_few_programs_agree() -> None:
    found = compared("elementwise", 10**6, 10**6 + 4)
    assert not found[f"{PROGRAMS}: {DISAGREE}"]
    assert sum(count for word, count in found.items() if word.startswith(PROGRAMS)) == 4


HEADS = (
    *("construct", "legal", "refused", "disagree", "compiled: proved", "unknown"),
    *("mutants: refuted", "unknown", "the same", "wrong and proved"),
)


def rows() -> Iterator[tuple[str, ...]]:
    """Yield the numbers of each construct, in the order of `HEADS`."""
    agreement, compiled = total("agreement"), total("compiled")
    for construct in Construct:
        mutants = recorded()["mutants"][construct]["found"]
        numbers = (
            *(agreement[f"{construct}: {word}"] for word in ("legal", "refused", DISAGREE)),
            *(compiled[f"{construct}: {word}"] for word in ("proved", "unknown")),
            *(mutants.get(word, 0) for word in ("refuted", "unknown", SAME, WRONG)),
        )
        yield construct, *map(str, numbers)


def from_practice() -> Iterator[str]:
    """Yield some programs of each construct."""
    for construct in Construct:
        programs = practice()[construct]
        more = len(programs) - NAMED
        named = ", ".join(f"`{one}`" for one in programs[:NAMED])
        yield wrapped(f"- {construct}: {named}" + (f" and {more} more" if more > 0 else ""))


def wrapped(text: str) -> str:
    """Return a part of a page in lines as short as the others of it."""
    indent = "  " if text.startswith("- ") else ""
    return fill(text, 100, subsequent_indent=indent, break_on_hyphens=False)


def reasons() -> Iterator[str]:
    """Yield why programs of each construct are unknown."""
    why = total("compiled", "why")
    for construct in Construct:
        prefix = f"{construct}: "
        mine = sorted(one.removeprefix(prefix) for one in why if one.startswith(prefix))
        if mine:
            yield wrapped(
                f"- {construct}: "
                + "; ".join(f"{one} ({why[prefix + one]})" for one in dict.fromkeys(mine))
            )


def test_the_table_of_constructs(published: Published) -> None:
    lines = [HEADS, ("---",) * len(HEADS), *rows()]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    found = total("agreement")
    count = sum(n for word, n in found.items() if word.startswith(PROGRAMS))
    ran = total("compiled")
    right = sum(ran[f"{PROGRAMS}: {word}"] for word in ("proved", "unknown"))
    programs = "\n".join(from_practice())
    said = (
        f"Of {count:,} random programs, the two disagree on {found[f'{PROGRAMS}: {DISAGREE}']}. "
        f"{right} were compiled and run, and are right. What is unknown, and why:"
    )
    published(
        "testing.md",
        "constructs",
        f"{table}\n{wrapped(said)}\n\n"
        + "\n".join(reasons())
        + f"\n\nPrograms from practice:\n\n{programs}\n",
    )


def test_results_are_kept_where_others_are() -> None:
    assert RESULTS.parent == Path(__file__).parents[2] / "benchmarks" / "results"
