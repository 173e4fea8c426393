"""The clock of a GPU, on one that is made up: what it queues, and when it believes its times."""

from dataclasses import dataclass, field

import pytest
import torch

from dtpoly.timing import clock
from dtpoly.timing.clock import LAUNCHES, GpuClock


@dataclass
class Device:
    """Events are a millisecond apart; the first ones are over before all is queued."""

    late: int = 0  # how often the wait was too short
    slept: list[int] = field(default_factory=list[int])
    events: int = 0

    def Event(self, enable_timing: bool) -> "Event":
        assert enable_timing
        return Event(self)

    def _sleep(self, cycles: int) -> None:
        self.slept.append(cycles)

    def synchronize(self, _: torch.device) -> None:
        pass


@dataclass
class Event:
    """One of that device."""

    device: Device
    at: int = -1

    def record(self) -> None:
        self.at = self.device.events
        self.device.events += 1

    def query(self) -> bool:
        return len(self.device.slept) <= self.device.late

    def elapsed_time(self, other: "Event") -> float:
        return float(other.at - self.at)


def made_up(monkeypatch: pytest.MonkeyPatch, late: int) -> tuple[Device, GpuClock]:
    device = Device(late)
    monkeypatch.setattr(clock, "_cuda", device)
    monkeypatch.setattr(torch.cuda, "synchronize", device.synchronize)
    return device, GpuClock(torch.device("cuda", 0), 1000.0, torch.ones(4))


def test_each_run_is_flushed_and_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    device, made = made_up(monkeypatch, late=0)
    seen: list[float] = []
    assert made.flushed(lambda: seen.append(float(made.cold.sum())), 3, 0.1) == [1.0] * 3
    assert seen == [0.0] * 3  # written to before each run
    # Long enough for three launches and what is around them.
    assert device.slept == [int(1000 * (0.5 + 2 * 3 * 0.15))]


def test_many_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    _, made = made_up(monkeypatch, late=0)
    runs: list[int] = []
    assert made.repeated(lambda: runs.append(1), 0.1) == [1 / LAUNCHES]
    assert len(runs) == LAUNCHES


def test_a_wait_that_was_too_short_is_doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    device, made = made_up(monkeypatch, late=2)
    made.flushed(lambda: None, 2, 0.1)
    assert device.slept == [device.slept[0], 2 * device.slept[0], 4 * device.slept[0]]


def test_what_cannot_be_queued_has_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    _, made = made_up(monkeypatch, late=100)
    with pytest.raises(TimeoutError, match="cannot be queued"):
        made.flushed(lambda: None, 2, 0.1)
    with pytest.raises(TimeoutError, match="cannot be queued"):
        made.repeated(lambda: None, 0.1)
