"""The rotating part of the long suite."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.rotating import rotated

ROOT = Path(__file__).parent.parent
ITEMS = [
    (name, f"{name}{at}") for name, count in (("a", 5), ("b", 1), ("c", 2)) for at in range(count)
]


def test_each_group_has_its_turn() -> None:
    for seed in range(20):
        found = rotated(ITEMS, seed)
        assert sorted(found) == sorted(item for _, item in ITEMS)
        assert sorted(item[0] for item in found[:3]) == ["a", "b", "c"]
        assert sorted(item[0] for item in found[3:5]) == ["a", "c"]
        assert rotated(ITEMS, seed) == found
    assert len({tuple(rotated(ITEMS, seed)[:3]) for seed in range(20)}) > 5
    assert rotated([], 1) == []


def test_what_does_not_begin_in_time_is_skipped() -> None:
    assert "1 passed" in run_of("turn", "60")
    assert "1 skipped" in run_of("turn", "-1")


def test_what_is_not_over_in_time_is_skipped() -> None:
    assert "1 skipped" in run_of("sleeps", "0.3")


@pytest.mark.long
def test_one_that_sleeps() -> None:
    time.sleep(1)


def run_of(name: str, seconds: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-m", "", "-p", "no:cacheprovider"]
    options = ["--rotating", "7", "--rotating-seconds", seconds, "tests/test_rotating.py"]
    done = subprocess.run(
        [*command, *options, "-k", name], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout
