"""Tests that a user's wishes become workers and a model, or an answer if one is missing."""

from dataclasses import replace
from pathlib import Path

import pytest

from dtpoly.explore.run.progress import Snapshot
from dtpoly.explore.run.session import NoModel, Wanted, emit_only, known_device, session
from dtpoly.explore.store.result_store import open_store
from dtpoly.explore.workers.process import NotOpened
from dtpoly.explore.workers.workers import RunPlace, local, visible
from tests.explore.fields import softmax
from tests.explore.simulation import question_of

SPACE = softmax(x=("1", "4"), y=("32",), warps=("4", "3"))
ASKED = question_of(SPACE).asked


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("NVIDIA H200", "h200"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA A100-SXM4-80GB", "a100"),
        ("NVIDIA GeForce RTX 4090", "rtx4090"),
        ("AMD Instinct MI300X", "mi300x"),
        ("simulated", ""),
    ],
)
def test_a_device_is_known_by_its_name(name: str, key: str) -> None:
    assert known_device(name) == key


def test_there_is_a_worker_for_each_gpu() -> None:
    place = RunPlace("cuda", ASKED)
    found = local(place, None, lambda: ["0", "3"])
    assert [one.environment["CUDA_VISIBLE_DEVICES"] for one in found] == ["0", "3"]
    found = local(place, 3, lambda: ["0", "3"])
    assert [one.environment["CUDA_VISIBLE_DEVICES"] for one in found] == ["0", "3", "0"]
    with pytest.raises(NotOpened, match="no GPU"):
        local(place, None, list)
    assert len(local(RunPlace("simulated", ASKED), None, list)) == 1


def test_gpus_are_those_that_cuda_may_use() -> None:
    assert visible(lambda: 3, {}) == ["0", "1", "2"]
    assert visible(lambda: 3, {"CUDA_VISIBLE_DEVICES": "1, GPU-5"}) == ["1", "GPU-5"]
    assert visible(lambda: 3, {"CUDA_VISIBLE_DEVICES": ""}) == []


def wanted(tmp_path: Path, strategy: str, model: str = "") -> Wanted:
    asked = replace(ASKED, sizes={"x": 64, "y": 512})
    place = RunPlace("simulated", asked, settings={"folder": str(tmp_path)})
    return Wanted(SPACE, place, tmp_path / "run.sqlite", strategy, model=model, proves=False)


@pytest.mark.long
def test_the_cheapest_is_measured_first(tmp_path: Path) -> None:
    given = wanted(tmp_path, "cost", "h200")
    told: list[object] = []
    finished = session(given, told.append, lambda _: None)
    assert finished.ended.is_whole
    store = open_store(given.path)
    expected = store.predictions(given.place.asked.key)
    found = store.results(1)
    measured = [row.point for row in found if row.result.is_timed]
    store.close()
    # Three warps are no power of two, so there is no text and nothing is expected.
    assert len(expected) == 2
    assert all(0 < time < 1.0 for time in expected.values())
    assert measured == sorted(expected, key=lambda point: expected[point])
    assert len(found) == 4
    assert isinstance(told[-1], Snapshot)


def test_what_is_expected_of_an_unknown_device_has_to_be_said(tmp_path: Path) -> None:
    with pytest.raises(NoModel, match=r"no cost model is known of 'simulated'.*--model"):
        session(wanted(tmp_path, "cost"), lambda _: None, lambda _: None)


@pytest.mark.long
def test_texts_are_emitted_without_a_device(tmp_path: Path) -> None:
    given = wanted(tmp_path, "exhaustive")
    done = emit_only(given, lambda _: None)
    assert (done.texts, done.refused, done.is_interrupted) == (2, 2, False)
    again = emit_only(given, lambda _: None)
    assert (again.texts, again.refused, again.known) == (2, 2, 4)
    # What is expected of them can be added.
    with_model = wanted(tmp_path, "exhaustive", "h200")
    assert emit_only(with_model, lambda _: None).texts == 2
