"""Every golden kernel and a sample of random ones become machine code, without a GPU."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from dtpoly.schedule.legality import judge
from tests.codegen.cases import random_case
from tests.codegen.listings import NAMES
from tests.schedule.user_primitives import USER

ROOT = Path(__file__).parent.parent.parent
RANDOM = 50
PARTS = 4


def wrong(words: Iterable[str], cache: Path) -> list[str]:
    """What is wrong with the binaries of listings and cases, in a process that compiles."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.codegen.compiling", *words],
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("part", range(PARTS))
def test_listings(part: int, tmp_path: Path) -> None:
    found = wrong(NAMES[part::PARTS], tmp_path)
    assert not found, "\n\n".join(found)


def legal(count: int) -> list[int]:
    """The first seeds whose schedules are legal."""
    seeds: list[int] = []
    seed = 0
    while len(seeds) < count:
        if judge(random_case(seed).program, USER).is_legal:
            seeds.append(seed)
        seed += 1
    return seeds


@pytest.mark.parametrize("part", range(PARTS))
def test_random_cases(part: int, tmp_path: Path) -> None:
    found = wrong(map(str, legal(RANDOM)[part::PARTS]), tmp_path)
    assert not found, "\n\n".join(found)
