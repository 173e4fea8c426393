"""The table of kernels that practice needs: all peers beside ours, and why a row is slower."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from benchmarks import needed
from benchmarks.gpu.results import Results, write
from benchmarks.gpu.rows import rows
from tests.benchmarks.made_up import results as made_up
from tests.benchmarks.made_up import row, timed


def results(ours: float) -> Results:
    """Return one row, of a text that is proved, and of three peers of which one failed."""
    peers = timed("compile", 0.4), timed("Helion", 1.0), timed("Liger", 0.0, failure="planted")
    return made_up(row("embedding 4x8 f32", timed("embedding", ours, ours=True), *peers))


def test_a_row_has_all_peers_and_a_reason() -> None:
    *_, slow = needed.needed(results(0.5)).splitlines()
    assert slow == (
        "| embedding | 4x8 f32 | 0.5 | compile | 0.4 | 0.80 | 0.4 |  |  | 1 "
        "| bound by memory, on both sides |"
    )
    *_, fast = needed.needed(results(0.25)).splitlines()
    assert fast.endswith("| 1.60 | 0.4 |  |  | 1 |  |")


def test_each_reason_is_one_of_a_row() -> None:
    names = [row.name for row in rows()]
    for pattern in needed.REASONS:
        assert any(fnmatchcase(name, pattern) for name in names), pattern
    assert needed.reason("softmax 1x1 f32") == needed.UNKNOWN


def test_what_was_not_measured_has_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(needed, "NEEDED", tmp_path / "needed.json")
    assert needed.told() == {}
    write(needed.NEEDED, results(0.5))
    needed.main([str(needed.NEEDED)])
    assert needed.told() == {"needed": capsys.readouterr().out}
