"""Candidates compiled for a GPU that is not there, by processes that may crash and hang."""

import multiprocessing
from dataclasses import replace
from itertools import islice

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.explore.prune.prune import CompiledCall, KeyedSchedule, PruneOutcome, Reason, pruned
from dtpoly.targets.target import parse_target

FAULTY = "tests.explore.faulty:outcome"
CALL = CompiledCall(parse_target("cuda:90"), {"m": 2048, "n": 1024, "k": 1024}, DType.F16)
MATMUL = """Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);
{schedule} f.compile();"""


def faulty(texts: list[str], workers: int = 1, seconds: float = 60.0) -> dict[str, PruneOutcome]:
    candidates = [KeyedSchedule(f"{at}", text) for at, text in enumerate(texts)]
    return {one.key: one for one in pruned(candidates, CALL, workers, seconds, FAULTY)}


def test_one_that_dies_costs_no_other() -> None:
    found = faulty(["", "die", "", "exit", "spill"])
    reasons = [found[f"{at}"].reason for at in range(5)]
    assert reasons == [None, Reason.CRASHED, None, Reason.CRASHED, Reason.SPILLS]
    assert found["1"].detail == "the process ended by signal 11"
    assert found["3"].detail == "the process ended with exit code 3"
    assert found["4"].detail == "for cuda:90"


@pytest.mark.long
def test_one_that_hangs_is_stopped() -> None:
    found = faulty(["hang", ""], workers=2, seconds=2.0)
    assert found["0"].reason is Reason.SLOW
    assert found["0"].seconds >= 2
    assert found.keys() == {"0", "1"}


def test_whoever_stops_reading_leaves_no_process() -> None:
    outcomes = pruned((KeyedSchedule(f"{at}", "") for at in range(10)), CALL, 2, 60.0, FAULTY)
    assert len(list(islice(outcomes, 3))) == 3
    outcomes.close()
    assert multiprocessing.active_children() == []


def test_no_candidates() -> None:
    assert list(pruned([], CALL, 2)) == []


@pytest.mark.long
def test_what_the_compiler_says() -> None:
    schedules = {
        "good": "f.block(m:64, n:64); f.tensorize(m:0, n:0, k:32);",
        "shared": "f.block(m:128, n:256); f.tensorize(m:0, n:0, k:128); f.num_stages(4);",
        "tile": "f.tensorize(m:0, n:0);",
        "refused": "f.block(z:4);",
    }
    candidates = [
        KeyedSchedule(key, MATMUL.format(schedule=schedule)) for key, schedule in schedules.items()
    ]
    found = {one.key: one for one in pruned(candidates, CALL, 1, 300.0)}
    assert {key: one.reason for key, one in found.items()} == {
        "good": None,
        "shared": Reason.SHARED,
        "tile": Reason.TILE,
        "refused": Reason.REFUSED,
    }
    (needs,) = found["good"].kernels
    assert needs.kernel == "f"
    assert 0 < needs.registers <= 255
    assert needs.spilled == 0
    assert 0 < needs.occupancy <= 1
    (strict,) = pruned(candidates[:1], replace(CALL, spilled=-1), 1, 300.0)
    assert (strict.reason, strict.detail) == (Reason.SPILLS, "f_kernel spills 0 bytes of each lane")
