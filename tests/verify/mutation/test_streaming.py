"""Tests that jobs which are done are kept and not done again."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from tests.verify.mutation.streaming import Row, streamed


def counted(job: str) -> list[Row]:
    """Stands for work that takes long."""
    return [{"of": job}]


def run(kept: Path, jobs: Sequence[str], mark: str) -> dict[str, list[Row]]:
    return streamed("", counted, jobs, kept, mark, 1)


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    kept = tmp_path / "rows.part"
    assert run(kept, "ab", "1") == {"a": [{"of": "a"}], "b": [{"of": "b"}]}
    first, *lines = kept.read_text().splitlines()
    assert [json.loads(line)["job"] for line in lines] == ["a", "b"]
    # The last line was being written when it was ended.
    kept.write_text("\n".join((first, lines[0].replace('"of": "a"', '"of": "kept"'), '{"job": "b')))
    for _ in range(2):
        assert run(kept, "ab", "1") == {"a": [{"of": "kept"}], "b": [{"of": "b"}]}


def test_what_was_done_with_other_sources_is_done_again(tmp_path: Path) -> None:
    kept = tmp_path / "rows.part"
    kept.write_text('{"sources": "1"}\n{"job": "a", "rows": [{"of": "kept"}]}\n')
    assert run(kept, "a", "1") == {"a": [{"of": "kept"}]}
    assert run(kept, "a", "2") == {"a": [{"of": "a"}]}


def test_no_time_is_nothing_done(tmp_path: Path) -> None:
    assert streamed("", counted, "ab", tmp_path / "rows.part", "1", 1, 0.0) == {}


def ended(job: str) -> list[Row]:
    """Stands for work that ends its process."""
    if job == "b":
        os._exit(1)
    return [{"of": job}]


def test_work_that_ends_its_process_is_given_up(tmp_path: Path) -> None:
    found = streamed("", ended, "abc", tmp_path / "rows.part", "1", 1)
    assert found == {"a": [{"of": "a"}], "b": [], "c": [{"of": "c"}]}
