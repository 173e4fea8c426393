"""A limit is what it says on a quiet machine, wider on a slow one, and not without an end."""

import pytest

from benchmarks import pace
from benchmarks.pace import is_kept, is_kept_once, slowness


@pytest.mark.parametrize(("seconds", "kept"), [(0.9, True), (1.5, True), (2.1, False)])
def test_a_limit_grows_with_what_all_takes(
    seconds: float, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "slowness", lambda: 2.0)
    assert is_kept(1, seconds) == kept


def test_one_run_of_some_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "slowness", lambda: 1.0)
    times = [3.0, 2.0, 0.5]
    assert is_kept_once(1, lambda: times.pop(0), 3)
    assert not is_kept_once(1, lambda: 2.0, 3)


def test_a_machine_is_never_too_fast_for_a_limit() -> None:
    assert slowness() >= 1
