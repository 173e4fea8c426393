"""Measures how long the device takes for something, without the time of the host."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from dtpoly.frozen import dataclass

# Parts of it have no types.
_cuda: Any = torch.cuda

Action = Callable[[], object]

LAUNCHES = 50  # in a row, of what is as short as a launch
TRIES = 4


class Clock(Protocol):
    """Measures in milliseconds."""

    def flushed(self, run: Action, count: int, host: float) -> list[float]:
        """Return times of some runs, each of which finds none of its data in the cache.

        `host` is about how long the host takes for one.
        """
        ...

    def repeated(self, run: Action, host: float) -> list[float]:
        """Return times of one run, taken from many runs in a row."""
        ...

    def wait(self) -> None:
        """Until all that was begun is done."""
        ...


@dataclass(frozen=True, slots=True)
class HostClock:
    """For machines without a GPU: it shows that things run, not how fast they are."""

    def flushed(self, run: Action, count: int, host: float) -> list[float]:
        """Return times of some runs; a host's cache is not flushed."""
        return [_timed(run) for _ in range(count)]

    def repeated(self, run: Action, host: float) -> list[float]:
        """Return the time of a single run, which is enough on a host."""
        return [_timed(run)]

    def wait(self) -> None:
        """Do nothing: on the host nothing runs by itself."""


def _timed(run: Action) -> float:
    start = time.perf_counter()
    run()
    return 1000 * (time.perf_counter() - start)


@dataclass(frozen=True, slots=True)
class GpuClock:
    """Events around launches that were all queued while the device waited."""

    device: torch.device
    cycles: float  # of waiting in a millisecond
    cold: Tensor  # larger than the cache; writing to it empties that

    def flushed(self, run: Action, count: int, host: float) -> list[float]:
        """Queue the runs while the device waits, so that the host's work does not count.

        Before each run the cache is flushed.
        """
        for attempt in range(TRIES):
            events = [_pair() for _ in range(count)]
            self._hold(2**attempt * (0.5 + 2 * count * (host + 0.05)))
            for start, end in events:
                self.cold.zero_()
                start.record()
                run()
                end.record()
            was_early = not events[0][0].query()
            self.wait()
            if was_early:
                return _read(events)
        raise TimeoutError("it cannot be queued: it waits for the device by itself")

    def repeated(self, run: Action, host: float) -> list[float]:
        """Run many times in a row, so that one launch overlaps with the next."""
        for attempt in range(TRIES):
            start, end = _pair()
            self._hold(2**attempt * (0.5 + 2 * LAUNCHES * host))
            start.record()
            for _ in range(LAUNCHES):
                run()
            end.record()
            was_early = not start.query()
            self.wait()
            if was_early:
                return [took / LAUNCHES for took in _read([(start, end)])]
        raise TimeoutError("it cannot be queued: it waits for the device by itself")

    def wait(self) -> None:
        """Until the device has nothing left to do."""
        torch.cuda.synchronize(self.device)

    def _hold(self, milliseconds: float) -> None:
        _sleep(int(self.cycles * min(milliseconds, 2000.0)))


Events = tuple[Any, Any]


def _pair() -> Events:
    return _cuda.Event(enable_timing=True), _cuda.Event(enable_timing=True)


def _read(events: Sequence[Events]) -> list[float]:
    return [float(start.elapsed_time(end)) for start, end in events]


def _sleep(cycles: int) -> None:
    # The one way to keep a device busy that needs no kernel of ours.
    _cuda._sleep(cycles)


def clock_of(device: str) -> Clock:
    """Return the clock of a device, which is measured itself."""
    if device == "cpu":
        return HostClock()
    there = torch.device(device, torch.cuda.current_device())
    properties = _cuda.get_device_properties(there)
    cold = torch.empty(max(2 * properties.L2_cache_size, 1 << 27), dtype=torch.int8, device=there)
    cycles = 20_000_000
    _sleep(cycles)
    start, end = _pair()
    start.record()
    _sleep(cycles)
    end.record()
    torch.cuda.synchronize(there)
    return GpuClock(there, cycles / start.elapsed_time(end), cold)
