"""Random legal Programs, schedules, sizes, dtypes and layouts compute what they say.

Each runs with its memory watched: to touch anything outside of tensors fails, and so does a race.
"""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.bound_primitives import Primitives
from tests.cli.process import python_path
from tests.codegen.cases import (
    Outcome,
    RandomCase,
    in_one_launch,
    in_panels,
    launched_otherwise,
    outcome,
    random_case,
    verdict,
)
from tests.codegen.features import features
from tests.codegen.inputs import Data, Layout
from tests.schedule.user_primitives import USER

ROOT = Path(__file__).parent.parent.parent
# Of this many seeds at least a thousand are legal; the ordinary command takes the first few.
ORDINARY, LONG = 140, 1400
AT_ONCE = 20
OTHERWISE = 60
TOGETHER = 400
BAD = (Outcome.WRONG, Outcome.FAILED, Outcome.SLOW)


def run(cases: Iterable[RandomCase]) -> Counter[Outcome]:
    """Run the cases, print what came of them, and fail with all that are bad."""
    found: Counter[Outcome] = Counter()
    bad: list[str] = []
    elements = tight = 0
    for case in cases:
        result = outcome(case)
        found[result.outcome] += 1
        elements += result.checked.elements
        tight += result.checked.tight
        if result.outcome in BAD:
            bad.append(f"{case}{result.outcome}: {result.why}")
    print(", ".join(f"{count} {name}" for name, count in found.most_common()))
    assert not bad, "\n\n".join(bad)
    assert tight >= 0.3 * elements, "most bounds say nothing"
    return found


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, ORDINARY, AT_ONCE))
def test_a_sample(first: int) -> None:
    run(map(random_case, range(first, first + AT_ONCE)))


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, OTHERWISE, AT_ONCE))
def test_how_kernels_are_launched_and_where_rows_begin_changes_nothing(first: int) -> None:
    cases = [random_case(seed) for seed in range(first, first + AT_ONCE)]
    legal = [launched_otherwise(case) for case in cases if verdict(case).is_legal]
    found = run(legal)
    assert not found[Outcome.REFUSED]


def ordinary_and_long(firsts: range) -> list[object]:
    """Return the first one for every run, the others for the longer suite."""
    return [firsts[0], *(pytest.param(one, marks=pytest.mark.long) for one in firsts[1:])]


@pytest.mark.long
@pytest.mark.parametrize("first", ordinary_and_long(range(0, TOGETHER, 100)))
def test_two_kernels_in_one_launch_compute_the_same(first: int) -> None:
    cases = [random_case(seed) for seed in range(first, first + 100)]
    pairs = [in_one_launch(case) for case in cases if verdict(case).is_legal]
    found = run(one for one in pairs if one is not None)
    assert found[Outcome.RIGHT]
    assert not found[Outcome.REFUSED]


@pytest.mark.long
@pytest.mark.parametrize("first", ordinary_and_long(range(0, 1400, 350)))
def test_panels_compute_the_same(first: int) -> None:
    cases = [random_case(seed) for seed in range(first, first + 350)]
    panels = [in_panels(case) for case in cases if verdict(case).is_legal]
    found = run(one for one in panels if one is not None)
    assert found[Outcome.RIGHT]
    assert not found[Outcome.REFUSED]


@pytest.mark.long
@pytest.mark.parametrize("first", range(ORDINARY, LONG, 42))
def test_all(first: int) -> None:
    run(map(random_case, range(first, first + 42)))


# Every kind of Program; in the first two there are kernels whose order a set once told.
GENERATED = """
from random import Random
from dtpoly.algorithm.show import show
from tests.codegen.expert import expert
from tests.generation import schedules
from tests.generation.algorithms import Limits
from tests.generation.choice import seeded
from tests.oracle.cases import case, ordinary_case

for seed in (31107, 32386, 1, 2, 3):
    one, other = case(seed), ordinary_case(seed)
    print(show(one.program), one.sizes, sorted(one.ordered), show(other.program), other.sizes)
    program, sizes = expert(Random(seed))
    print(show(program), sizes, show(schedules.program(seeded(seed), Limits())))
"""


def test_a_seed_gives_one_case_in_every_process() -> None:
    """Whatever order the sets of a process have."""
    told = [
        subprocess.run(
            [sys.executable, "-c", GENERATED],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": python_path(ROOT), "PYTHONHASHSEED": number},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for number in ("1", "3")
    ]
    assert told[0] == told[1]
    assert told[0].count("Func") >= 20


@pytest.mark.long
def test_few_schedules_are_refused() -> None:
    seeds = range(LONG, LONG + 100)
    share = 1 - sum(verdict(random_case(seed)).is_legal for seed in seeds) / len(seeds)
    print(f"{share:.0%} of {len(seeds)} schedules are refused")
    assert share <= 0.3


# What there is among a few hundred cases, by the kind of thing.
OCCURS = {
    "directives": {
        *(
            "block",
            "split",
            "tensorize",
            "reorder",
            "map",
            "unroll",
            "fuse_at",
            "inline",
            "compile",
        ),
        *("atomic", "precision", "persistent", "descriptor", "warp_specialize", "num_warps"),
        *("block of a reduction", "block, the last one ragged", "block, several"),
        *("map in groups", "map in groups, the last one ragged", "fuse_at, recomputed"),
        *("tensorize whole", "tensorize of one Func"),
    },
    "expressions": {
        *("rsum", "rprod", "rmax", "rmin", "rany", "rall", "rargmax", "rargmin", "rdot"),
        *("reshape", "pad", "scalar input"),
    },
    "dtypes of inputs": {*map(str, DType)},
    "dtypes of Funcs that declare one": {*map(str, DType)},
    "layouts of inputs": {*map(str, Layout)},
    "layouts of outputs": {"plain", "transposed", "sliced"},
    "data": {*map(str, Data)},
    "sizes": {"0", "1", "more"},
}


@pytest.mark.long
def test_all_there_is_occurs() -> None:
    found: dict[str, set[str]] = {name: set() for name in OCCURS}
    for seed in range(500):
        for name, words in features(random_case(seed), "").items():
            found.setdefault(name, set()).update(words)
    known: Primitives = USER
    assert found["directives"] & {one.name for one in known if one not in DIRECTIVES}
    assert {name: words - found[name] for name, words in OCCURS.items()} == {
        name: set[str]() for name in OCCURS
    }
