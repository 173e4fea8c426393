"""The rotating part of the long suite."""

import subprocess
import sys
from pathlib import Path

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
    command = [sys.executable, "-m", "pytest", "-q", "-m", "", "-p", "no:cacheprovider"]
    options = ["--rotating", "7", "tests/test_rotating.py", "-k", "turn", "--rotating-seconds"]
    for seconds, said in (("60", "1 passed"), ("-1", "1 skipped")):
        done = subprocess.run(
            [*command, *options, seconds], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert said in done.stdout
