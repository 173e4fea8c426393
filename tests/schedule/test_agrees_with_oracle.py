"""The verdict is that of an oracle that runs the schedule and knows nothing of sets."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

from dtpoly.compile import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.conftest import GOLDEN, Golden, Published
from tests.oracle.cases import Case, case, ordinary_case
from tests.oracle.features import FEATURES, features
from tests.schedule.agreement import LEGAL, agreed
from tests.test_thesis import DATA, LISTINGS

# The cases of the table, in parts that run side by side.
PARTS = range(12)
PART = 200
ORDINARY_PARTS = range(4)

KINDS = (
    "runs too late",
    "recomputes in a loop",
    "lanes race",
    "crosses program instances",
    "is not computed exactly once",
)


def counted(seeds: Iterable[int], made: Callable[[int], Case]) -> str:
    """What is said of the cases of some seeds, and what is in them, as JSON."""
    found: Counter[str] = Counter()
    for seed in seeds:
        one = made(seed)
        verdict = agreed(one)
        kind = LEGAL if verdict.is_legal else str(verdict.violations[0].kind)
        found[kind] += 1
        found.update(f"{kind}: {feature}" for feature in features(one))
    return json.dumps(dict(sorted(found.items())), indent=2) + "\n"


@pytest.mark.parametrize("part", range(6))
def test_of_random_cases(part: int) -> None:
    for seed in range(10**6 + 25 * part, 10**6 + 25 * part + 25):
        agreed(case(seed))


@pytest.mark.parametrize("part", range(2))
def test_of_ordinary_cases(part: int) -> None:
    for seed in range(10**6 + 25 * part, 10**6 + 25 * part + 25):
        agreed(ordinary_case(seed))


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_of_many_random_cases(part: int, golden: Golden) -> None:
    golden(f"agreement/{part:02}.json", counted(range(part * PART, part * PART + PART), case))


@pytest.mark.long
@pytest.mark.parametrize("part", ORDINARY_PARTS)
def test_of_many_ordinary_cases(part: int, golden: Golden) -> None:
    seeds = range(part * PART, part * PART + PART)
    golden(f"agreement/ordinary_{part:02}.json", counted(seeds, ordinary_case))


def total(names: Iterable[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for name in names:
        found.update(json.loads((GOLDEN / "agreement" / name).read_text()))
    return found


def test_there_are_enough_cases_of_each_verdict() -> None:
    found = total(f"{part:02}.json" for part in PARTS)
    legal, refused = found[LEGAL], sum(found[kind] for kind in KINDS)
    assert legal + refused == PART * len(PARTS) >= 2000
    assert min(legal, refused) >= 0.3 * (legal + refused)
    assert min(found[kind] for kind in KINDS) >= 40
    for feature in FEATURES:
        assert sum(found[f"{kind}: {feature}"] for kind in (LEGAL, *KINDS)) >= 50, feature


def test_the_table_of_cases(published: Published) -> None:
    found = total(f"{part:02}.json" for part in PARTS)
    published("legality.md", "random cases", verdicts(found) + "\n" + contents(found))


def test_the_table_of_ordinary_programs(published: Published) -> None:
    found = total(f"ordinary_{part:02}.json" for part in ORDINARY_PARTS)
    count = PART * len(ORDINARY_PARTS)
    verdicts = [found[kind] for kind in (LEGAL, *KINDS)]
    # The others need users' primitives.
    assert sum(verdicts) == sum(verdicts[:3]) == count
    rows = [
        ("generated", count, *verdicts[:3], 0),
        ("in the thesis", len(LISTINGS), len(LISTINGS), 0, 0, 0),
    ]
    heads = ("programs", "count", LEGAL, *KINDS[:2], "no answer")
    published("legality.md", "ordinary programs", table(heads, rows))


@pytest.mark.parametrize("listing", LISTINGS)
def test_of_the_thesis_all_is_legal(listing: str) -> None:
    path: Path = DATA / f"{listing}.dt"
    assert judge(load(Source(path.name, path.read_text())), DIRECTIVES).is_legal


def verdicts(found: Counter[str]) -> str:
    count = sum(found[kind] for kind in (LEGAL, *KINDS))
    refused = count - found[LEGAL]
    rows = [
        (what, number, f"{100 * number / count:.1f} %")
        for what, number in (
            (LEGAL, found[LEGAL]),
            ("refused", refused),
            *((f"— {kind}", found[kind]) for kind in KINDS),
            ("all", count),
        )
    ]
    return table(("verdict", "cases", "share"), rows)


def contents(found: Counter[str]) -> str:
    rows = [
        (
            feature,
            found[f"{LEGAL}: {feature}"],
            sum(found[f"{kind}: {feature}"] for kind in KINDS),
        )
        for feature in FEATURES
    ]
    return table(("with", LEGAL, "refused"), rows)


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---", *("---:" for _ in heads[1:])], *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)
