"""Measures how long the host takes for a call of each candidate."""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from benchmarks.gpu.candidates import Candidate, fresh
from benchmarks.gpu.inputs import inputs
from benchmarks.gpu.peer import Run
from benchmarks.gpu.peers import set_precision
from benchmarks.gpu.results import HostTime
from benchmarks.gpu.rows import Row
from dtpoly.timing.clock import Clock
from dtpoly.timing.failures import told
from dtpoly.timing.spread import quarters
from dtpoly.timing.time_limit import limited

CALLS = 100  # before the device is waited for: fewer than it takes to fill its queue
ROUNDS = 40


@dataclass(slots=True)
class Caller:
    """Something that can be called, and what calls of it took."""

    candidate: Candidate
    run: Run
    times: list[float]  # microseconds for one of many calls, of each round


def host_times(
    row: Row,
    given: Sequence[Candidate],
    clock: Clock,
    device: str,
    seconds: float,
    begins: Callable[[Candidate], None] = lambda _: None,
) -> list[HostTime]:
    """Calls with inputs so small that the device is always done first, as a user writes them.

    All take turns, each round in another order: where a machine is slow for a while, it is for all.
    """
    fresh()
    set_precision(row)
    calls, rounds = (1, 2) if device == "cpu" else (CALLS, ROUNDS)
    order = random.Random(row.name)
    with torch.no_grad():
        values = inputs(row, device)
        ready: list[Caller] = []
        failures: dict[str, str] = {}
        for one in given:
            begins(one)
            try:
                with limited(seconds):
                    run = one.make_for_host(row, values)
                    _calls(run, calls, clock)  # to compile, and to warm up
                ready.append(Caller(one, run, []))
            except Exception as error:
                failures[one.name] = told(error)
        for _ in range(rounds):
            turn = ready.copy()
            order.shuffle(turn)
            for caller in turn:
                begins(caller.candidate)
                try:
                    caller.times.append(_calls(caller.run, calls, clock))
                except Exception as error:
                    failures[caller.candidate.name] = told(error)
                    ready.remove(caller)
    spread = {caller.candidate.name: quarters(caller.times) for caller in ready}
    return [_host_time(row, one, spread.get(one.name), failures) for one in given]


def _calls(run: Run, count: int, clock: Clock) -> float:
    """Microseconds for one of so many calls."""
    start = time.perf_counter()
    for _ in range(count):
        run()
    took = 1e6 * (time.perf_counter() - start) / count
    clock.wait()
    return took


def _host_time(
    row: Row, one: Candidate, spread: tuple[float, float, float] | None, failures: dict[str, str]
) -> HostTime:
    low, middle, high = spread or (0.0, 0.0, 0.0)
    who = (row.kernel, one.name, one.kind, one.text_hash)
    return HostTime(*who, middle, low, high, failures.get(one.name, ""))
