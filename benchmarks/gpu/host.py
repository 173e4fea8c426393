"""A kernel's candidates in; how long the host takes for a call of each, out."""

import time
from collections.abc import Callable, Sequence

import torch

from benchmarks.gpu.candidates import Candidate, fresh
from benchmarks.gpu.inputs import inputs
from benchmarks.gpu.peers import Run, set_precision
from benchmarks.gpu.results import HostTime
from benchmarks.gpu.rows import Row
from dtpoly.timing.clock import Clock
from dtpoly.timing.failures import told
from dtpoly.timing.limit import limited
from dtpoly.timing.spread import quarters

CALLS = 100  # before the device is waited for: fewer than it takes to fill its queue
BATCHES = 20


def host_times(
    row: Row,
    given: Sequence[Candidate],
    clock: Clock,
    device: str,
    seconds: float,
    begins: Callable[[Candidate], None] = lambda _: None,
) -> list[HostTime]:
    """Calls with inputs so small that the device is always done first, as a user writes them."""
    fresh()
    set_precision(row)
    with torch.no_grad():
        values = inputs(row, device)
        found: list[HostTime] = []
        for one in given:
            begins(one)
            try:
                with limited(seconds):
                    times = _times(one.make_for_host(row, values), clock, device)
            except Exception as error:
                times, failure = [0.0], told(error)
            else:
                failure = ""
            low, middle, high = quarters(times)
            who = (row.kernel, one.name, one.kind, one.text_hash)
            found.append(HostTime(*who, middle, low, high, failure))
    return found


def _times(run: Run, clock: Clock, device: str) -> list[float]:
    """Microseconds for one of many calls, of each batch of them."""
    calls, batches = (1, 2) if device == "cpu" else (CALLS, BATCHES)
    run()
    clock.wait()
    times: list[float] = []
    for _ in range(batches + 1):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        times.append(1e6 * (time.perf_counter() - start) / calls)
        clock.wait()
    return times[1:]  # the first one warms up
