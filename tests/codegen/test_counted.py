"""Records of random cases go on where they stopped, and begin anew if sources have changed."""

import json
import os
import subprocess
import sys
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


def test_what_cases_have_in_common(tmp_path: Path) -> None:
    """The case of a seed is drawn once, and only for the seeds that are left."""
    path, asked, seen = tmp_path / "record.json", list[int](), list[str]()

    def name_of(seed: int) -> str:
        asked.append(seed)
        return f"case {seed}"

    def tried(name: str) -> tuple[str, ...]:
        seen.append(name)
        return ("tried",)

    for last in ("1", "3"):
        record("module", "cases", "names", tried, name_of, arguments=["0", last, str(path)])
    assert asked == [0, 1, 2]
    assert seen == ["case 0", "case 1", "case 2"]


def test_it_is_stopped(tmp_path: Path) -> None:
    """After Ctrl-C the record has the cases that ended before it."""
    path = tmp_path / "record.json"

    def tried(seed: int) -> tuple[str, ...]:
        if seed == 2:
            raise KeyboardInterrupt
        return ("tried",)

    with pytest.raises(KeyboardInterrupt):
        record("module", "cases", "numbers", tried, arguments=["0", "5", str(path)])
    assert json.loads(path.read_text())["outcomes"] == {"tried": 2}


def test_more_seconds(tmp_path: Path) -> None:
    """A case without an answer is tried again if it has more seconds, and not if it has as many."""
    seen: list[int] = []
    journal = Journal(tmp_path / "record.seeds.jsonl", counted.digest())
    journal.add(0, (NO_ANSWER,), 100.0)
    journal.add(1, (NO_ANSWER,), 200.0)
    journal.add(2, ("even",), 100.0)

    def tried(seed: int) -> tuple[str, ...]:
        seen.append(seed)
        return ("odd" if seed % 2 else "even",)

    arguments = ["0", "3", str(tmp_path / "record.json"), "--seconds=200"]
    record("module", "cases", "numbers", tried, arguments=arguments)
    assert seen == [0]


def test_kernels_run_in_the_interpreter() -> None:
    """The commands need no variable of the environment, also in a worker."""
    code = "import tests.verify.refuted_mutants, triton; print(triton.knobs.runtime.interpret)"
    without = {one: value for one, value in os.environ.items() if one != "TRITON_INTERPRET"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=without, check=True, capture_output=True, text=True)
    assert done.stdout == "True\n"


def slow_one(seed: int) -> tuple[str, ...]:
    while seed in {1, 2}:
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
    assert found["outcomes"] == {NO_ANSWER: 2, "even": 1, "odd": 1}
    seen: list[int] = []
    assert run(path, 5, seen)["cases"] == 5
    assert seen == [1, 2, 4]  # it has 120 seconds for each now
