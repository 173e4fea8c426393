"""What the cost model counts of lists, against data in random order and measured times."""

from functools import cache
from random import Random

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.accesses.list_steps import entering_of
from dtpoly.explore.cost.cost import Cost, cost
from dtpoly.explore.devices.devices import find_device
from dtpoly.schedule.legality import judge
from dtpoly.schedule.state import State
from dtpoly.source import Source
from tests.verify.texts import ROOT

# Milliseconds of the 8 largest on an H200 (torch 2.11, Triton 3.6), by lanes and warps: of
# 8192x4096 in f32, and of 8192x128256 in bf16.
MEASURED = {
    (256, 1): (0.146, 0.903),
    (512, 1): (0.172, 1.006),
    (512, 2): (0.215, 1.142),
    (1024, 2): (0.260, 1.474),
    (1024, 4): (0.285, 1.452),
}


def entered(many: int, count: int, random: Random) -> int:
    """Return how many of some numbers in random order enter a list, one after another."""
    best: list[float] = []
    found = 0
    for _ in range(many):
        one = random.random()
        if len(best) < count or one > best[-1]:
            best = sorted((*best, one), reverse=True)[:count]
            found += 1
    return found


@pytest.mark.parametrize(("many", "count"), [(3, 8), (8, 8), (100, 8), (4000, 8), (4000, 1)])
def test_how_many_enter(many: int, count: int) -> None:
    random = Random(7)
    times = 2 + 60_000 // many
    mean = sum(entered(many, count, random) for _ in range(min(times, 400))) / min(times, 400)
    assert mean == pytest.approx(entering_of(many, 1, count), rel=0.15)


@cache
def scheduled(lanes: int, warps: int, *left_out: str) -> State:
    text = (ROOT / "examples/top_k.dt").read_text()
    for old, new in (("k:256", f"k:{lanes}"), ("num_warps(1)", f"num_warps({warps})")):
        assert old in text
        text = text.replace(old, new)
    for word in left_out:
        assert word in text
        text = text.replace(word, "")
    return judge(load(Source("test.dt", text)), DIRECTIVES).scheduled


def predicted(state: State, many: int, dtype: DType) -> Cost:
    sizes = {"x": 8192, "k": many, "j": 8}
    return cost(state, sizes, dtype, find_device("h200"))


@pytest.mark.parametrize("schedule", MEASURED)
def test_times_are_near_what_was_measured(schedule: tuple[int, int]) -> None:
    short, long = MEASURED[schedule]
    state = scheduled(*schedule)
    for many, dtype, wanted in ((4096, DType.F32, short), (128256, DType.BF16, long)):
        found = predicted(state, many, dtype).seconds * 1e3
        assert wanted / 1.4 < found < wanted * 1.4


def test_the_best_schedule_is_predicted_best() -> None:
    for many, dtype in ((4096, DType.F32), (128256, DType.BF16)):
        times = {one: predicted(scheduled(*one), many, dtype).seconds for one in MEASURED}
        assert min(times, key=lambda one: times[one]) in ((256, 1), (512, 1))
        assert times[1024, 4] > 1.2 * min(times.values())
