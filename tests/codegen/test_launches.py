"""Tests launches: few variants, the right one each time, and Triton's launcher if in doubt.

Triton is told when it is imported that it interprets: so a process of its own does the checks.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.codegen import (
    again,
    again_around,
    again_in_any_order,
    again_meanwhile,
    launches,
    launches_around,
)
from tests.codegen.keeping import checks_of

MODULES = (launches, launches_around, again, again_around, again_in_any_order, again_meanwhile)
NAMES = [name for one in MODULES for name in checks_of(vars(one))]


@pytest.fixture(scope="module")
def wrong() -> dict[str, str]:
    """By name, what is wrong with each check."""
    return {name: what for one in MODULES for name, what in found(one.__name__).items()}


def found(module: str) -> dict[str, str]:
    """Return the same of the checks of a module."""
    done = subprocess.run(
        [sys.executable, "-m", module],
        env={**os.environ, "TRITON_INTERPRET": "0"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines())


def test_no_check_hides_another() -> None:
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_launches(name: str, wrong: dict[str, str]) -> None:
    assert not wrong[name], wrong[name]
