"""The campaign of large programs: a few attempts, and a fault that it must find."""

import subprocess

import pytest

from tests.attack.large import attempt, judged
from tests.attack.outcome import Verdict


@pytest.mark.long
def test_some_attempts_find_nothing() -> None:
    outcomes = [attempt(seed) for seed in (1, 12)]
    assert not any(one.is_finding for one in outcomes), [one.what for one in outcomes]


def test_a_bug_and_a_traceback_are_findings() -> None:
    for code, told in ((3, "internal error"), (1, "Traceback (most recent call last)"), (-9, "")):
        done = subprocess.CompletedProcess[str]([], code, "", told)
        assert judged(done, "check", "", "", {}).verdict is Verdict.CRASH


def test_a_limit_that_is_named_is_none() -> None:
    done = subprocess.CompletedProcess[str]([], 1, "error[DT210]: this takes more", "")
    assert judged(done, "check", "", "", {}).verdict is Verdict.REFUSED
