"""The verdict is that of an oracle that runs the schedule and knows nothing of sets."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.dependences import DependenceKind
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.conftest import GOLDEN, Golden, Published
from tests.oracle.cases import (
    Case,
    along_case,
    case,
    data_case,
    dividing_case,
    elementwise_case,
    in_place_case,
    indirect_case,
    listing_case,
    ordinary_case,
    parted_scan_case,
    placed_case,
    ranged_case,
    returning_case,
    scanning_case,
    started_case,
)
from tests.oracle.features import FEATURES, features
from tests.oracle.kernels import plan
from tests.oracle.placed_results import is_placed
from tests.oracle.run import Legal
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
    """Return what is said of the cases of some seeds, and what is in them, as JSON."""
    found: Counter[str] = Counter()
    for seed in seeds:
        one = made(seed)
        verdict = agreed(one)
        kind = LEGAL if verdict.is_legal else str(verdict.violations[0].kind)
        found[kind] += 1
        found.update(f"{kind}: {feature}" for feature in features(one))
    return json.dumps(dict(sorted(found.items())), indent=2) + "\n"


@pytest.mark.long
@pytest.mark.parametrize("part", range(6))
def test_of_random_cases(part: int) -> None:
    for seed in range(10**6 + 25 * part, 10**6 + 25 * part + 25):
        agreed(case(seed))


@pytest.mark.parametrize("part", range(2))
def test_of_ordinary_cases(part: int) -> None:
    for seed in range(10**6 + 25 * part, 10**6 + 25 * part + 25):
        agreed(ordinary_case(seed))


def test_of_what_is_stored_along() -> None:
    for seed in range(10**6, 10**6 + 25):
        agreed(along_case(seed))


@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
def test_of_many_stored_along(part: int) -> None:
    """Most of them store a result in the loop of a reduction, and some do so in parts.

    Among those in parts, stores are legal, and come too late.
    """
    found, in_parts = Counter[bool](), Counter[str]()
    for seed in range(200 * part, 200 * part + 200):
        case = along_case(seed)
        verdict = agreed(case)
        known = plan(case.program)
        found[bool(known.along)] += 1
        if known.parts:
            in_parts[LEGAL if verdict.is_legal else str(verdict.violations[0].kind)] += 1
    assert found[True] > found[False]
    assert in_parts[LEGAL] >= 15, in_parts
    assert in_parts[KINDS[0]] >= 3, in_parts


@pytest.mark.long
@pytest.mark.parametrize("part", range(3))
def test_of_functions_with_several_results(part: int) -> None:
    for seed in range(10**6 + 25 * part, 10**6 + 25 * part + 25):
        agreed(returning_case(seed))


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_of_divided_indices(part: int) -> None:
    for seed in range(10**6 + 25 * part, 10**6 + 25 * part + 25):
        agreed(dividing_case(seed))


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_of_reads_at_data(part: int) -> None:
    for seed in range(10**6 + 25 * part, 10**6 + 25 * part + 25):
        agreed(indirect_case(seed))


@pytest.mark.long
@pytest.mark.parametrize("part", range(6))
def test_of_many_reads_at_data(part: int) -> None:
    """Also of inputs whose elements are replaced: any element may be read, so all come before."""
    found, replaced = Counter[str](), Counter[str]()
    for seed in range(part * PART, part * PART + PART):
        one = indirect_case(seed)
        verdict = agreed(one)
        kind = LEGAL if verdict.is_legal else str(verdict.violations[0].kind)
        (replaced if one.program.into else found).update([kind])
    assert min(found[kind] for kind in (LEGAL, KINDS[0], KINDS[1])) >= 15, found
    assert min(replaced[LEGAL], replaced.total() - replaced[LEGAL]) >= 3, replaced


# The tiles of a copy begin at its first index if that is an affine function of the iteration, and
# else at index 0. The oracle begins them at the first index. So isl refuses what recomputes in
# tiles that begin elsewhere; it is right about the code that is generated.
BEGINS_ELSEWHERE = {1398}


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_of_many_divided_indices(part: int) -> None:
    """Among these, quotients are legal, and read too late or computed again."""
    found = Counter[str]()
    for seed in range(part * PART, part * PART + PART):
        if seed not in BEGINS_ELSEWHERE:
            verdict = agreed(dividing_case(seed))
            found.update([LEGAL if verdict.is_legal else str(verdict.violations[0].kind)])
    assert min(found[kind] for kind in (LEGAL, KINDS[0], KINDS[1])) >= 20, found


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_of_many_functions_with_several_results(part: int) -> None:
    """Among these, stores are legal, come too late, are missing, and cross program instances."""
    found = Counter[str]()
    for seed in range(part * PART, part * PART + PART):
        verdict = agreed(returning_case(seed))
        found.update([LEGAL if verdict.is_legal else str(verdict.violations[0].kind)])
    assert min(found[kind] for kind in (LEGAL, KINDS[0], KINDS[1], KINDS[4])) >= 15, found
    assert found[KINDS[3]]


@pytest.mark.long
@pytest.mark.parametrize("part", range(3))
def test_of_results_in_place(part: int) -> None:
    for seed in range(10**6 + 25 * part, 10**6 + 25 * part + 25):
        agreed(in_place_case(seed))


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_of_many_results_in_place(part: int) -> None:
    """Among these, old elements are read in time, too late, and in other programs."""
    found, replaced = Counter[str](), Counter[str]()
    for seed in range(part * PART, part * PART + PART):
        verdict = agreed(in_place_case(seed))
        found.update([LEGAL if verdict.is_legal else str(verdict.violations[0].kind)])
        kind = DependenceKind.IN_PLACE
        replaced.update(str(one.kind) for one in verdict.violations if one.dependence.kind is kind)
    assert found[LEGAL] >= 25, found
    assert min(replaced[kind] for kind in (KINDS[0], KINDS[3])) >= 15, replaced


@pytest.mark.long
@pytest.mark.parametrize("part", range(3))
def test_of_results_at_places(part: int) -> None:
    """Among these, old elements are read in time, and in other programs."""
    replaced = Counter[str]()
    for seed in range(10**6 + 15 * part, 10**6 + 15 * part + 15):
        verdict = agreed(placed_case(seed))
        replaced.update([LEGAL] if verdict.is_legal else [])
        kind = DependenceKind.IN_PLACE
        replaced.update(str(one.kind) for one in verdict.violations if one.dependence.kind is kind)
    assert replaced.total() > replaced[LEGAL] >= 1, replaced


# What tables hold is drawn so often for each case.
CONTENTS = 3


def agreed_at_tables(seed: int) -> Counter[str]:
    """Compare the verdicts on a case, also for what tables hold, and return what there was.

    A schedule that isl accepts is right for each content; one that it refuses is wrong for some.
    """
    one = data_case(seed)
    verdict = agreed(one)
    found = [one.judged_at(number) for number in range(CONTENTS)]
    if verdict.is_legal:
        assert all(isinstance(here, Legal) for here in found), f"{seed}: {found}"
    parts = ("a range from tables", one.ends), ("places", is_placed(one.program))
    kind = LEGAL if verdict.is_legal else str(verdict.violations[0].kind)
    wrong = any(not isinstance(here, Legal) for here in found)
    return Counter((kind, *(word for word, is_there in parts if is_there), *["wrong"] * wrong))


@pytest.mark.sampled
@pytest.mark.parametrize("part", range(10))
def test_of_tables(part: int) -> None:
    for seed in range(10**6 + 3 * part, 10**6 + 3 * part + 3):
        agreed_at_tables(seed)


@pytest.mark.long
@pytest.mark.parametrize("part", range(6))
def test_of_many_tables(part: int) -> None:
    """Among these, schedules are legal, come too late, recompute, and are wrong at some content."""
    found = Counter[str]()
    for seed in range(part * PART, part * PART + PART):
        found += agreed_at_tables(seed)
    assert min(found["a range from tables"], found["places"]) >= PART // 2, found
    assert min(found[kind] for kind in (LEGAL, KINDS[0], KINDS[1], "wrong")) >= 10, found
    assert found[KINDS[3]], found


@pytest.mark.long
@pytest.mark.parametrize("part", range(3))
def test_of_lists(part: int) -> None:
    for seed in range(10**6 + 25 * part, 10**6 + 25 * part + 25):
        agreed(listing_case(seed))


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_of_many_lists(part: int) -> None:
    """Among these, schedules are legal, come too late, and recompute."""
    found = Counter[str]()
    for seed in range(part * PART, part * PART + PART):
        verdict = agreed(listing_case(seed))
        found.update([LEGAL if verdict.is_legal else str(verdict.violations[0].kind)])
    assert min(found[kind] for kind in (LEGAL, KINDS[0], KINDS[1])) >= 15, found


@pytest.mark.long
@pytest.mark.parametrize("part", range(3))
def test_of_ranges(part: int) -> None:
    for seed in range(10**6 + 25 * part, 10**6 + 25 * part + 25):
        agreed(ranged_case(seed))


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_of_many_ranges(part: int) -> None:
    """Among these, schedules are legal, come too late, recompute, and cross program instances."""
    found = Counter[str]()
    for seed in range(part * PART, part * PART + PART):
        verdict = agreed(ranged_case(seed))
        found.update([LEGAL if verdict.is_legal else str(verdict.violations[0].kind)])
    assert min(found[kind] for kind in (LEGAL, KINDS[0], KINDS[1])) >= 15, found
    assert found[KINDS[3]]
    assert found[KINDS[4]]


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


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_of_scans(part: int) -> None:
    for seed in range(10**6 + 25 * part, 10**6 + 25 * part + 25):
        agreed(scanning_case(seed))


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_of_many_scans(part: int) -> None:
    """Among these, scans are legal, run too late and are computed again."""
    found = Counter[str]()
    for seed in range(part * PART, part * PART + PART):
        verdict = agreed(scanning_case(seed))
        found.update([LEGAL if verdict.is_legal else str(verdict.violations[0].kind)])
    assert min(found[kind] for kind in (LEGAL, KINDS[0], KINDS[1])) >= 15, found


@pytest.mark.long
@pytest.mark.parametrize("part", range(3))
def test_of_scans_in_parts(part: int) -> None:
    for seed in range(10**6 + 15 * part, 10**6 + 15 * part + 15):
        agreed(parted_scan_case(seed))


@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
def test_of_many_scans_in_parts(part: int) -> None:
    """Among these, what is fused into parts is legal, too late and computed again."""
    found = Counter[str]()
    for seed in range(part * PART, part * PART + PART):
        verdict = agreed(parted_scan_case(seed))
        found.update([LEGAL if verdict.is_legal else str(verdict.violations[0].kind)])
    assert min(found[kind] for kind in (LEGAL, KINDS[0], KINDS[1])) >= 15, found


@pytest.mark.long
@pytest.mark.parametrize("part", range(3))
def test_of_sums_that_begin_with_funcs(part: int) -> None:
    """All that such a sum begins with is stored before anything is added to it."""
    found = Counter[str]()
    for seed in range(10**6 + 25 * part, 10**6 + 25 * part + 25):
        verdict = agreed(started_case(seed))
        found.update([LEGAL if verdict.is_legal else "refused"])
    assert min(found[LEGAL], found["refused"]) >= 3, found


@pytest.mark.long
@pytest.mark.parametrize("part", range(3))
def test_of_whole_numbers_and_random_ones(part: int) -> None:
    for seed in range(10**6 + 25 * part, 10**6 + 25 * part + 25):
        agreed(elementwise_case(seed))
