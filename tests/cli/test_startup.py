"""Tests that commands start fast and load nothing heavy."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.pace import is_kept, is_kept_once
from tests.cli.process import COMMAND, ROOT, WRONG, environment

MATMUL = ROOT / "examples" / "matmul.dt"
ATTENTION = ROOT / "tests" / "data" / "thesis" / "listing_4_04_attention.dt"
HEAVY = ("islpy._isl", "numpy", "rich", "torch", "triton")
ISL = {"islpy._isl"}
DATA = Path(__file__).parents[1] / "data"


def loaded(*arguments: str) -> set[str]:
    """Return the heavy packages that a command has imported when it ends."""
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


@pytest.mark.sampled
@pytest.mark.parametrize(
    "arguments",
    [
        ("check",),
        ("check", "--json"),
        ("fmt",),
        ("show",),
        ("show", "--stage", "syntax"),
        ("show", "--stage", "deps", "--form", "svg"),
        ("show", "--stage", "kernel"),
        ("show", "--stage", "triton"),
        ("compile", "-o", os.devnull),
        ("compile", "-o", os.devnull, "--test", "x=4,y=1000"),
        ("compile", "-o", os.devnull, "--no-verify"),
        ("verify", "--json"),
    ],
)
def test_nothing_heavy_for_a_good_file(arguments: tuple[str, ...], good: Path) -> None:
    assert loaded(*arguments, str(good)) <= ISL


def test_a_layout_needs_no_isl(good: Path) -> None:
    assert loaded("fmt", str(good)) == set()


@pytest.mark.parametrize("text", ["", "In A;", "Func f;", "SIn a; Func f; f[] = a;"])
def test_isl_stays_out_where_nothing_is_to_be_proved(text: str, wrong: Path) -> None:
    wrong.write_text(text)
    assert loaded("check", "--json", str(wrong)) == (ISL if "=" in text else set())


@pytest.mark.sampled
@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("run", "--help"), ("compile", "--help"), ("verify", "--help"), ("--version",)],
)
def test_nothing_heavy_for_help(arguments: tuple[str, ...]) -> None:
    assert loaded(*arguments) == set()


@pytest.mark.parametrize("name", ["check", "fmt", "show", "run"])
def test_a_wrong_file_needs_rich_at_most(name: str, wrong: Path) -> None:
    wrong.write_text("Func f\n[")
    assert loaded(name, *(["--reference"] if name == "run" else []), str(wrong)) == {"rich"}


def processor_seconds(command: list[str], code: int = 0) -> float:
    """Return the processor time of one process, which other processes do not change."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=False, capture_output=True, env=environment())
    assert done.returncode == code
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def is_under(seconds: float, libraries: str, *arguments: str, code: int = 0) -> bool:
    """Return whether one of 20 runs of a command is as fast as that.

    On a machine that is slow just now: than three times what its libraries take.
    """
    for _ in range(20):
        bare = processor_seconds([sys.executable, "-c", f"import {libraries}"])
        if processor_seconds([*COMMAND, *arguments], code) < max(seconds, 3 * bare):
            return True
    return False


SYNTAX = """\
In A; Var x; RVar y;
Func f
f[x] = rsum(A[x, y) + 2 ** 3, y;
f.block(x 16);
@!
g[x] = f[x] + ;
"""


@pytest.mark.alone
def test_a_proof_takes_less_than_four_tenths_of_a_second() -> None:
    path = DATA / "thesis" / "listing_4_03_2mm.dt"
    assert is_under(0.4, "pyparsing, click, islpy", "check", str(path))


@pytest.mark.alone
def test_code_of_attention_is_looked_at_in_a_second() -> None:
    """All code is generated, for what only it can show. A copy of a Func was made three times."""
    path = ROOT / "examples" / "causal_flash_attention.dt"
    assert is_kept_once(1.0, lambda: processor_seconds([*COMMAND, "check", str(path)]), 20)


@pytest.mark.alone
def test_without_a_proof_it_is_a_quarter_of_a_second(good: Path) -> None:
    assert is_under(0.25, "pyparsing, click", "fmt", "--check", str(good))
    good.write_text("In A;\n")
    assert is_under(0.25, "pyparsing, click", "check", str(good))


@pytest.mark.alone
@pytest.mark.parametrize("text", [SYNTAX, WRONG], ids=["syntax", "names"])
def test_mistakes_are_told_as_fast_as_a_proof(text: str, wrong: Path) -> None:
    wrong.write_text(text)
    assert is_under(0.4, "pyparsing, click, rich.console", "check", str(wrong), code=1)


@pytest.mark.alone
@pytest.mark.parametrize(("path", "seconds"), [(MATMUL, 1), (ATTENTION, 5)], ids=["matmul", "4.4"])
def test_a_text_is_verified_in_seconds(path: Path, seconds: float, tmp_path: Path) -> None:
    """From a .dt file, and nothing that was proved before."""
    command = [*COMMAND, "verify", str(path)]
    took: list[float] = []
    for at in range(5):
        env = environment(DTPOLY_CACHE_DIR=str(tmp_path / str(at)))
        start = time.monotonic()
        subprocess.run(command, check=True, capture_output=True, env=env)
        took.append(time.monotonic() - start)
    assert is_kept(seconds, min(took))


@pytest.mark.alone
def test_compile_takes_less_than_half_a_second() -> None:
    """Of attention, text out. On a slow machine: than six times what the two libraries take."""
    bare = [sys.executable, "-c", "import pyparsing, click"]
    for _ in range(20):
        limit = max(0.5, 6 * processor_seconds(bare))
        if processor_seconds([*COMMAND, "compile", str(ATTENTION), "-o", "-"]) < limit:
            return
    pytest.fail("never under the limit in 20 runs")
