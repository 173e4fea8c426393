"""`-v` says on standard error what took how long."""

import re
from pathlib import Path

import pytest

from dtpoly.budget import stage
from tests.cli.conftest import Entry
from tests.cli.process import dtpoly

LINE = re.compile(r"dtpoly:\s+[0-9]+\.[0-9]{3} s  (.*)")


@pytest.mark.parametrize("words", [("-v", "check"), ("check", "-v"), ("--verbose", "check")])
def test_stages_are_told(words: tuple[str, ...], call: Entry, good: Path) -> None:
    code, out, err = call(*words, str(good))
    assert (code, out) == (0, "no errors\n")
    stages = [match[1] for line in err.splitlines() if (match := LINE.fullmatch(line))]
    assert len(stages) == len(err.splitlines())
    assert "deciding whether its schedule is legal" in stages
    assert stages[-1] == "in all"


def test_without_it_nothing_is_told(call: Entry, good: Path) -> None:
    assert call("-v", "check", str(good))[2] != ""
    assert call("check", str(good)) == (0, "no errors\n", "")
    with stage("nobody listens"):
        pass


def test_twice_tells_short_stages_too(call: Entry, good: Path) -> None:
    few = call("-v", "check", str(good))[2].count("\n")
    assert call("-vv", "check", str(good))[2].count("\n") > few
    assert call("-v", "check", "-v", str(good))[2].count("in all") == 1


def test_settings_are_told(call: Entry, good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(good.parent)
    (good.parent / "dtpoly.toml").write_text("seconds = 30\n[fmt]\ndiff = true\n")
    err = call("-v", "check", good.name)[2]
    assert "dtpoly: 'dtpoly.toml' sets seconds = 30\n" in err


def test_errors_are_told_as_without_it(call: Entry, wrong: Path) -> None:
    code, out, _ = call("check", str(wrong))
    assert call("-v", "check", str(wrong))[:2] == (code, out)


def test_a_process_of_its_own_tells_it_too(good: Path) -> None:
    """Commands that only compute run in a child of the process that was started."""
    done = dtpoly("check", str(good), "-v")
    assert (done.returncode, done.stdout) == (0, b"no errors\n")
    assert done.stderr.count(b"in all") == 1
