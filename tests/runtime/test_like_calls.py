"""Calls like one before, in a process of their own: Triton is told early that it interprets."""

import json
import os
import subprocess
import sys

import pytest

from tests.codegen.keeping import checks_of
from tests.runtime import like_calls

NAMES = [*checks_of(vars(like_calls))]


@pytest.fixture(scope="module")
def wrong() -> dict[str, str]:
    """By name, what is wrong with each check."""
    done = subprocess.run(
        [sys.executable, "-m", like_calls.__name__],
        env={**os.environ, "TRITON_INTERPRET": "0"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines())


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_like_calls(name: str, wrong: dict[str, str]) -> None:
    assert not wrong[name], wrong[name]
