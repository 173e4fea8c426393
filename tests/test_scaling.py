"""Programs that grow are compiled in a time that grows mildly, or are refused with the reason.

Time is the time that the processor computes, so that a machine with other work fails no test.
"""

import resource
import subprocess
from pathlib import Path

import pytest

from tests.cli.process import COMMAND, environment
from tests.scaling import FAMILIES

# What a command may take by default, what the system waits for C code, and to load all modules.
SECONDS = 20 + 5 + 5
MOST_BYTES = 2 * 2**30
# What is beyond a limit says so with one of these, and with exit code 1.
LIMITS = ("DT106", "DT107", "DT119", "DT208", "DT209", "DT210", "DT300", "DT141", "DT143")


def compiled(text: str, folder: Path) -> tuple[int, str, float]:
    """The exit code of a compilation, what it says, and how long it computed."""
    (folder / "large.dt").write_text(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*COMMAND, "compile", "large.dt", "-o", "large.py"],
        cwd=folder,
        env=environment(XDG_CACHE_HOME=str(folder / "cache")),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.returncode, done.stderr, after.ru_utime - before.ru_utime


@pytest.mark.long
@pytest.mark.parametrize("name", [one for one in FAMILIES if one != "coefficients"])
def test_a_small_one_is_proved(name: str, tmp_path: Path) -> None:
    family, few, _ = FAMILIES[name]
    code, told, took = compiled(family(few), tmp_path)
    assert code == 0, told
    head = (tmp_path / "large.py").read_text()[:1000]
    assert "Verdict: PROVED stores, loads, bounds, lanes, order, value, overflow." in head
    assert took < SECONDS / 3


@pytest.mark.long
@pytest.mark.parametrize("name", FAMILIES)
def test_a_large_one_is_compiled_or_refused_in_time(name: str, tmp_path: Path) -> None:
    family, _, most = FAMILIES[name]
    code, told, took = compiled(family(most), tmp_path)
    assert took < 2 * SECONDS  # what is not proved is run, too
    assert code in (0, 1), told
    if code == 1:
        assert any(one in told for one in LIMITS), told
        assert not (tmp_path / "large.py").exists()
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 < 2 * MOST_BYTES


def test_parts_that_double_are_counted_and_not_made(tmp_path: Path) -> None:
    code, told, took = compiled(FAMILIES["inlined"][0](60), tmp_path)
    assert (code, "DT209" in told) == (1, True)
    assert took < 5
