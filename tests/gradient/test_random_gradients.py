"""Gradients of random algorithms, and the gradients of these gradients, are those of torch."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.gradient.outcomes import FREE, REFUSALS, RIGHT, kernel_outcome, outcome, second_outcome
from tests.gradient.random_algorithms import KINDS
from tests.gradient.record import (
    Found,
    Job,
    done,
    jobs_left,
    keep_jobs,
    kept_of,
    known_jobs,
    main,
    together,
)

CASES = 25  # of a long test


@pytest.mark.sampled
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_random_gradient(kind: str, seed: int) -> None:
    assert outcome(kind, seed) in (RIGHT, FREE, *REFUSALS)


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("scanning", 701514),  # a scan of the same number at each index
        ("scanning", 701976),  # an infinite factor of an empty sum
        ("mixtures", 701413),  # a reduction over a label of the Func around it
        ("listing", 700512),  # the largest of no whole numbers
        ("listing", 700258),  # a list that is longer than what it is made of
        ("running", 700382),  # a softmax of which everything is masked
    ],
)
def test_what_looked_wrong_in_a_long_record(kind: str, seed: int) -> None:
    assert outcome(kind, seed) == RIGHT


@pytest.mark.sampled
@pytest.mark.parametrize("kind", KINDS)
def test_kernels_of_a_random_gradient(kind: str) -> None:
    """An operator of torch for a random algorithm: its kernels, and those of its gradient."""
    assert kernel_outcome(kind, 1) in (RIGHT, FREE, *REFUSALS)


def test_the_record_counts_what_it_is_asked_for() -> None:
    found = together([done(job) for job in (Job("plain", 7, 9), Job("running", 7, 8))])
    assert found["wrong"] == []
    assert sum(found["ways"]["first"].values()) == 3
    assert set(found["kinds"]["plain"]) <= {RIGHT, FREE, *REFUSALS}


def test_a_record_goes_on_where_it_was(tmp_path: Path) -> None:
    kept, job = kept_of(tmp_path / "found.json"), Job("plain", 7, 9)
    assert known_jobs(kept, 7) == {}
    wrong = {"kind": "plain", "seed": 8, "way": "first", "said": "no"}
    found = Found({"first": {RIGHT: 1, "wrong": 1}}, [wrong])
    keep_jobs(kept, 7, {job: found})
    with kept.open("a") as file:
        file.write('[["plain", 9')  # it was stopped while it wrote
    assert known_jobs(kept, 7) == {job: found}
    with pytest.raises(SystemExit, match="is of another run"):
        known_jobs(kept, 8)


def test_seeds_that_are_known_are_in_no_job() -> None:
    known = [Job("plain", 4, 6), Job("plain", 10, 13), Job("layers", 3, 14)]
    left = jobs_left(3, 14, known, at_a_time=10)
    had = Counter((job.kind, seed) for job in (*left, *known) for seed in range(*job[1:]))
    assert had == Counter((kind, seed) for kind in KINDS for seed in range(3, 14))
    assert [job for job in left if job.kind == "plain"] == [
        *(Job("plain", 3, 4), Job("plain", 6, 10)),
        Job("plain", 13, 14),
    ]
    assert jobs_left(3, 14, [*left, *known]) == []


def test_a_job_ends_at_its_time() -> None:
    job, found = done(Job("plain", 7, 9), until=0)
    assert (job, found.wrong) == (Job("plain", 7, 7), [])
    assert sum(found.counts["first"].values()) == 0


@pytest.mark.long
def test_a_record_that_is_stopped(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    words = ["200", str(file), "--first", "70", "--seconds", "12"]
    counts: list[int] = []
    for _ in range(2):
        main(words)
        said = json.loads(file.read_text())
        assert sum(said["ways"]["first"].values()) == said["compared"]
        counts.append(said["compared"])
    assert 0 < counts[0] < counts[1]
    assert kept_of(file).exists()


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", range(6))
def test_many_random_gradients(kind: str, part: int) -> None:
    found = Counter(outcome(kind, 1000 + CASES * part + at) for at in range(CASES))
    assert set(found) <= {RIGHT, FREE, *REFUSALS}
    assert found[RIGHT]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["plain", "ranged", "dividing", "scanning", "indirect"])
def test_random_gradients_of_gradients(kind: str) -> None:
    found = Counter(second_outcome(kind, 500 + at) for at in range(CASES))
    assert set(found) <= {RIGHT, FREE, *REFUSALS, "DT271"}
    assert found[RIGHT]
