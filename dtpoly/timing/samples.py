"""Takes samples of the time of something that runs."""

import time
from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.timing.clock import LAUNCHES, Action, Clock

FLUSH = 0.05  # milliseconds; no part of a time, but of how long it takes to get it
MOST = 20  # samples in a round
SLOW = 3000.0  # milliseconds, of which one sample is enough


@dataclass(slots=True)
class Timer:
    """A thing to run, and its times so far, in milliseconds."""

    run: Action
    host: float  # of the host for one run
    whole: float  # until one run is done
    times: list[float] = field(default_factory=list[float])


def timer(run: Action, clock: Clock) -> Timer:
    """Return one run, roughly timed: what has to be known before runs can be queued."""
    begin = time.perf_counter()
    run()
    host = time.perf_counter() - begin
    clock.wait()
    whole = time.perf_counter() - begin
    return Timer(run, 1000 * host, 1000 * whole)


def sample(given: Timer, clock: Clock, share: float) -> None:
    """Take more times for so many milliseconds, each after the cache was flushed."""
    if given.whole > SLOW and given.times:
        return
    one = (min(given.times) if given.times else given.whole) + FLUSH
    count = min(max(round(share / one), 1), MOST)
    given.times.extend(clock.flushed(given.run, count, given.host))


def sample_repeated(given: Timer, clock: Clock, share: float) -> None:
    """Take more times of runs that follow each other directly."""
    given.times.extend(clock.repeated(given.run, given.host))
    one = LAUNCHES * given.times[-1]
    for _ in range(min(MOST, int(share / max(one, 0.1))) - 1):
        given.times.extend(clock.repeated(given.run, given.host))
