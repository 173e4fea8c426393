"""Hostile commands: some attempts, and that each misdeed is noticed."""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import pytest

import tests.attack.commands as commands
from tests.attack.commands import attempt, run, run_apart
from tests.attack.hostile_files import SECRET, base, folder_of
from tests.attack.outcome import Verdict


@pytest.mark.long
def test_attempts_end_with_a_message() -> None:
    for seed in range(40):
        outcome = attempt(seed)
        assert not outcome.is_finding, f"{seed}: {outcome.what}\n{outcome.case}"


def _crash(_: object) -> int:
    return 3


def _trace(_: object) -> int:
    print("Traceback (most recent call last):")
    return 1


def _say(_: object) -> int:
    print(f"here is {SECRET}")
    return 1


def _touch(_: object) -> int:
    Path("../canary").touch()
    return 1


def _set(_: object) -> int:
    os.environ["DT_CANARY"] = "1"
    return 0


def _leave(_: object) -> int:
    Path(".new.py.0123").touch()
    return 0


def _half(_: object) -> int:
    Path("half.py").write_text("import")
    return 1


def _empty(_: object) -> int:
    Path("softmax.py").write_bytes(b"")
    return 0


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (_crash, "exit code 3"),
        (_trace, "a traceback is printed"),
        (_say, "it says what is in another file"),
        (_touch, "code of a file was run"),
        (_set, "code of a file was run"),
        (_leave, "it leaves .new.py.0123 behind"),
        (_half, "it fails, and leaves half.py"),
        (_empty, "it empties softmax.py"),
    ],
)
def test_each_misdeed_is_a_finding(
    fault: Callable[[object], int], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What runs here is not dtpoly: it is what the campaign has to notice.
    monkeypatch.setattr(commands, "entry", fault)
    outcome = attempt(4)
    assert outcome.verdict is Verdict.WRONG
    assert outcome.what.startswith(told)
    assert "DT_CANARY" not in os.environ


def test_a_process_of_its_own_says_the_same() -> None:
    where = Path(mkdtemp(prefix="dtpoly-attack-"))
    folder = folder_of(where, Random(1)).path
    (folder / "softmax.dt").write_bytes(base()["softmax.dt"])
    for words in (("check", "softmax.dt"), ("check", "missing.dt"), ("fmt", "-"), ("nothing",)):
        told = [how(words, folder, b"Func f", is_short=False) for how in (run, run_apart)]
        assert told[0].code == told[1].code
        assert told[0].said == told[1].said


@pytest.mark.long
def test_the_same_seed_does_the_same() -> None:
    assert [attempt(seed) for seed in range(3)] == [attempt(seed) for seed in range(3)]
