"""Records of random cases go on where they stopped, and begin anew if sources have changed."""

import json
import time
from pathlib import Path

import pytest

from tests.codegen import counted
from tests.codegen.counted import NO_ANSWER, Counts, Journal, record


def shares(counts: Counts) -> dict[str, object]:
    return {"odd share": counts["odd"] / sum(counts.values())}


def run(path: Path, last: int, seen: list[int]) -> dict[str, object]:
    def tried(seed: int) -> tuple[str, ...]:
        seen.append(seed)
        return ("odd" if seed % 2 else "even",)

    record("module", "cases", "numbers", tried, more=shares, arguments=["0", str(last), str(path)])
    found: dict[str, object] = json.loads(path.read_text())
    return found


def test_it_goes_on(tmp_path: Path) -> None:
    """What was tried is not tried again, and counts in the record."""
    seen: list[int] = []
    run(tmp_path / "record.json", 3, seen)
    found = run(tmp_path / "record.json", 5, seen)
    assert seen == [0, 1, 2, 3, 4]
    assert found["cases"] == 5
    assert found["outcomes"] == {"even": 3, "odd": 2}
    assert found["odd share"] == 0.4


def test_a_line_that_was_cut(tmp_path: Path) -> None:
    """If the command was killed while it wrote, the last case is tried again."""
    seen: list[int] = []
    run(tmp_path / "record.json", 3, seen)
    journal = tmp_path / "record.seeds.jsonl"
    journal.write_text(journal.read_text()[:-4])
    assert run(tmp_path / "record.json", 4, seen)["cases"] == 4
    assert seen == [0, 1, 2, 2, 3]
    assert run(tmp_path / "record.json", 4, seen)["cases"] == 4
    assert seen == [0, 1, 2, 2, 3]


def test_other_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outcomes of other sources say nothing of these."""
    seen: list[int] = []
    run(tmp_path / "record.json", 2, seen)
    monkeypatch.setattr(counted, "SOURCES", ("docs",))
    run(tmp_path / "record.json", 2, seen)
    assert seen == [0, 1, 0, 1]


def test_it_stops_in_time(tmp_path: Path) -> None:
    """A record that had no time has no cases, and no share of none."""
    path = tmp_path / "record.json"
    record(
        "module", "cases", "numbers", lambda _: (), arguments=["0", "3", str(path), "--minutes=0"]
    )
    assert json.loads(path.read_text())["cases"] == 0
    assert Journal(tmp_path / "record.seeds.jsonl", counted.digest()).words == {}


def slow_one(seed: int) -> tuple[str, ...]:
    while seed == 1:
        time.process_time()
    return ("odd" if seed % 2 else "even",)


@pytest.mark.long
def test_workers_and_their_limit(tmp_path: Path) -> None:
    """Cases are tried in processes, and one that takes too long has no answer."""
    path = tmp_path / "record.json"
    more = ["--workers=2", "--seconds=1.0"]
    record("module", "cases", "numbers", slow_one, arguments=["0", "4", str(path), *more])
    found = json.loads(path.read_text())
    assert found["cases"] == 4
    assert found["outcomes"] == {"even": 2, "odd": 1, NO_ANSWER: 1}
    seen: list[int] = []
    assert run(path, 5, seen)["cases"] == 5
    assert seen == [4]
