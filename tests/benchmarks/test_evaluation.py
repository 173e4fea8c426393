"""The page says what the kept results say, and the marks are those that the command knows."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks import evaluation
from benchmarks.chosen import Reached
from benchmarks.evaluation import MARK, PAGE, filled, told
from tests.benchmarks.test_spaces import EMPTY


def test_the_page_is_what_the_command_writes() -> None:
    text = PAGE.read_text()
    assert {found[1] for found in MARK.findall(text)} == told().keys()
    assert filled(text, told()) == text


def test_tables_of_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spaces, scheduled = tmp_path / "spaces.json", tmp_path / "scheduled.json"
    one = {**asdict(EMPTY), "baselines": {"torch": 1.0}, "rank": 0.5, "pairs": [(1.0, 2.0)] * 40}
    other = {**one, "baselines": {}, "pairs": [(2.0, 2.0), *[(1.0, 4.0)] * 20]}
    spaces.write_text(json.dumps({"questions": [one, other]}))
    chosen = asdict(Reached("f 4", 20, 0, 1.0, "f", 4.0, 2.0, 3))
    seconds = [{"row": "f 4", "measured": 20, "seconds": 9.87}]
    scheduled.write_text(json.dumps({"rows": [chosen], "seconds": seconds}))
    monkeypatch.setattr(evaluation, "SPACES", spaces)
    monkeypatch.setattr(evaluation, "SCHEDULED", scheduled)
    text = filled(PAGE.read_text(), told())
    assert "1 spaces, 1 of them to the end: 40 points" in text
    assert "2 questions of 1 kernels" in text
    assert "reaches 0.707 of the best of all in the geometric mean, 0.500 at" in text
    assert "| f 4 | 20 | 1 | 2 | 3 | 0.500 | 0.250 |" in text
    assert "| f 4 | 20 | 9.9 |" in text
    assert filled(text, told()) == text


def test_without_results_the_page_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "SPACES", tmp_path / "none")
    monkeypatch.setattr(evaluation, "SCHEDULED", tmp_path / "none")
    assert {*told().values()} == {evaluation.MISSING}
