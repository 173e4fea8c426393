"""The record is one of the table as it is, and the installed Triton says the same."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dtpoly.verify.semantics.entries import entries, of_operation
from dtpoly.verify.semantics.record import digest, is_checked, record
from dtpoly.verify.semantics.table_operations import OPERATIONS
from tests.cli.process import python_path
from tests.semantics.recorded import others, wrong

ROOT = Path(__file__).parent.parent.parent
# Versions whose compilers were asked about the whole table.
SUPPORTED = ("3.6.0", "3.7.0", "3.7.1", "3.8.0", "3.9.0")
# How many parts there are: one of them is asked about anew in each run, all in the long suite.
PARTS = 25


def test_every_version_was_asked_about_every_operation() -> None:
    ways = record()
    for version in SUPPORTED:
        checked = ways[f"compiled {version}"]
        assert {name: one["digest"] for name, one in checked.items()} == {
            one.name: digest(one.name) for one in OPERATIONS
        }


@pytest.mark.long
def test_most_entries_are_read() -> None:
    every = [(name, operands) for name, operands, _ in entries()]
    unread = [one for one in every if not is_checked(*one)]
    assert len(every) > 18_000
    assert len(unread) < 0.05 * len(every)


def test_an_entry_that_is_not_in_the_table_is_not_checked() -> None:
    assert not is_checked("add", ("tl.float16", "tl.complex64"))
    assert not is_checked("dot onto", ("tl.float16", "tl.float64"))
    # Triton 3.6 to 3.8 compare it in f32, 3.9 in f16.
    assert not is_checked("lt", ("tl.float16", "float"))


def asked_now(folder: Path, part: int, parts: int) -> dict[str, list[str]]:
    """The entries of which the installed Triton does not say what is recorded, by operation."""
    path = folder / "said.json"
    # Tests run with Triton's interpreter, which is chosen once for a process.
    asked = [str(path), str(part), str(parts)]
    command = [sys.executable, "-W", "ignore", "-m", "tests.semantics.compiled", *asked]
    environment = {"PATH": "", "PYTHONPATH": python_path(ROOT), "HOME": str(folder)}
    subprocess.run(command, check=True, cwd=ROOT, env=environment)
    said = json.loads(path.read_text())
    known = record()[f"compiled {said['triton']}"]
    found = {
        name: [one for one in wrong(name, answers) if one not in known[name]["other"]]
        for name, answers in said["entries"].items()
    }
    return {name: others for name, others in found.items() if others}


@pytest.mark.long
def test_the_installed_triton_says_the_same(tmp_path: Path) -> None:
    assert asked_now(tmp_path, 3, PARTS) == {}


@pytest.mark.long
@pytest.mark.parametrize("part", range(6))
def test_the_installed_triton_says_the_same_of_all(part: int, tmp_path: Path) -> None:
    assert asked_now(tmp_path, part, 6) == {}


def test_a_changed_entry_is_seen() -> None:
    answers = {
        " ".join(one): (row.result, row.instruction) for one, row in of_operation("sum").items()
    }
    assert others("sum", answers) == []
    answers["tl.float16"] = ("tl.float32", "arith.addf f32")
    assert others("sum", answers) == ["tl.float16"]
    del answers["tl.int8"]
    assert others("sum", answers) == ["tl.float16", "tl.int8"]
