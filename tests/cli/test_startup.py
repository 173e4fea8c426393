"""What must stay fast stays fast, and what is heavy stays out."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import COMMAND, environment

HEAVY = ("numpy", "rich", "torch", "triton")


def loaded(*arguments: str) -> set[str]:
    """The heavy packages that a command has imported when it ends."""
    code = (
        "import sys; from dtpoly.cli.main import entry; entry(sys.argv[2:]); "
        "print(*(name for name in sys.argv[1].split() if name in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, " ".join(HEAVY), *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "arguments",
    [("check",), ("check", "--json"), ("fmt",), ("show",), ("show", "--stage", "syntax")],
)
def test_nothing_heavy_for_a_good_file(arguments: tuple[str, ...], good: Path) -> None:
    assert loaded(*arguments, str(good)) == set()


@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help"), ("--version",)])
def test_nothing_heavy_for_help(arguments: tuple[str, ...]) -> None:
    assert loaded(*arguments) == set()


@pytest.mark.parametrize("name", ["check", "fmt", "show", "run"])
def test_a_wrong_file_needs_rich_at_most(name: str, wrong: Path) -> None:
    wrong.write_text("Func f\n[")
    assert loaded(name, *(["--reference"] if name == "run" else []), str(wrong)) == {"rich"}


def processor_seconds(command: list[str]) -> float:
    """Of one process; on a busy machine the clock on the wall tells of other processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=environment())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.alone
def test_check_takes_less_than_a_quarter_of_a_second(good: Path) -> None:
    """On a machine that is slow just now: than three times what its two libraries take."""
    bare = [sys.executable, "-c", "import pyparsing, click"]
    for _ in range(20):
        limit = max(0.25, 3 * processor_seconds(bare))
        if processor_seconds([*COMMAND, "check", str(good)]) < limit:
            return
    pytest.fail("never under the limit in 20 runs")
