"""The runner, with attempts that fail in every way in which one can."""

import json
from pathlib import Path

import pytest

from tests.attack.__main__ import main
from tests.attack.campaigns import CAMPAIGNS
from tests.attack.outcome import Verdict
from tests.attack.record import Entry, record_at
from tests.attack.running import Limits, only, run
from tests.attack.summary import summary_of

(TOY,) = (one for one in CAMPAIGNS if one.name == "toy")


@pytest.mark.long
def test_each_way_to_fail_is_an_outcome_and_the_others_are_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "toy.jsonl"
    record, entries = record_at(path), list[Entry]()
    run(TOY, record, record.open_seeds(0), Limits(attempts=20), 2, entries.append)
    verdicts = {one.seed: one.outcome.verdict for one in entries}
    assert sorted(verdicts) == list(range(20))
    failed = {seed: verdict for seed, verdict in verdicts.items() if verdict != Verdict.AGREE}
    assert failed == {
        3: Verdict.SLOW,
        5: Verdict.CRASH,
        7: Verdict.LARGE,
        11: Verdict.CRASH,
        13: Verdict.CRASH,
        17: Verdict.WRONG,
    }
    cases = {one.seed: one.outcome.case for one in entries}
    assert "these are its last words" in cases[5]
    assert "nobody catches this" in cases[11]
    counted = summary_of("toy", record).figures
    ended_well = [seed for seed in range(20) if seed not in (3, 5, 7, 11, 13)]
    assert counted == {"attempts": len(ended_well), "sum of seeds": sum(ended_well)}


def test_a_run_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    path = tmp_path / "toy.jsonl"
    for _ in range(2):
        record = record_at(path)
        run(TOY, record, record.open_seeds(14), Limits(attempts=5), 1, lambda _: None)
    record = record_at(path)
    # 17 is a finding: it was tried again, and took the place of one new attempt.
    assert sorted(record.entries) == [14, 15, 16, 17, 18, 19, 20, 21, 22]
    assert len(path.read_text().splitlines()) == 10
    with path.open("a") as file:
        file.write('{"seed": 23, "verd')  # The machine went down.
    assert sorted(record_at(path).entries) == [14, 15, 16, 17, 18, 19, 20, 21, 22]


def test_the_command_says_what_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["toy", "--attempts", "3", "--workers", "1", "--record", str(tmp_path)]
    assert main([*given, "--seed", "100"]) == 0
    assert main([*given, "--seed", "16"]) == 1
    found = json.loads((tmp_path / "summary.json").read_text())["toy"]
    assert found["attempts"] == 6
    assert found["verdicts"]["agree"] == 5
    assert found["findings"] == [{"seed": 17, "verdict": "wrong", "what": "one and one is three"}]
    text = (tmp_path / "findings" / "toy-17.txt").read_text()
    assert "python -m tests.attack toy --only 17" in text
    assert "assert 1 + 1 == 2" in text
    capsys.readouterr()
    assert main(["toy", "--only", "17"]) == 1
    assert "one and one is three" in capsys.readouterr().out


def test_names_are_known_and_each_campaign_says_what_it_does() -> None:
    with pytest.raises(SystemExit, match="there is no campaign 'toys'"):
        main(["toys"])
    assert len({one.name for one in CAMPAIGNS}) == len(CAMPAIGNS)
    assert all(one.about.endswith(".") for one in CAMPAIGNS)


def test_only_these_seeds() -> None:
    entries = list[Entry]()
    seeds, limits = only([5, 2])
    run(TOY, record_at(None), seeds, limits, 2, entries.append)
    assert {one.seed: one.outcome.verdict for one in entries} == {
        5: Verdict.CRASH,
        2: Verdict.AGREE,
    }
