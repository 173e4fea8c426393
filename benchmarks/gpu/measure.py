"""Checks the candidates of a row, then times all of them in turns."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import torch
from torch import Tensor

from benchmarks.gpu.candidates import Candidate, Made, fresh
from benchmarks.gpu.inputs import Inputs, inputs, size_in_bytes
from benchmarks.gpu.peer import Unfit
from benchmarks.gpu.peers import set_precision
from benchmarks.gpu.references import off, reference
from benchmarks.gpu.references_training import compared
from benchmarks.gpu.results import RowResult, Timed
from benchmarks.gpu.rows import REPEATED, Row, flops
from dtpoly.timing.clock import Clock
from dtpoly.timing.failures import WrongResult, told
from dtpoly.timing.samples import Timer, sample, sample_repeated, timer
from dtpoly.timing.spread import quarters
from dtpoly.timing.time_limit import limited

T = TypeVar("T")
Wanted = Tensor | tuple[Tensor, ...]
# Milliseconds of a product from which on it first runs once without a time, in each round: the
# clock, and so what it takes, depends on what ran before it.
LONG = 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The limits of a measurement: seconds for a candidate and for a row, and rounds."""

    seconds: float  # of the device's time for each candidate
    row_seconds: float  # for all of a row
    rounds: int


@dataclass(slots=True)
class Runner:
    """A candidate that was right, and its times so far."""

    candidate: Candidate
    made: Made
    error: float
    prepared: float  # seconds: to load, to compile, to choose tiles
    timer: Timer


def measured(
    row: Row,
    given: Sequence[Candidate],
    clock: Clock,
    device: str,
    plan: Plan,
    begins: Callable[[Candidate], None] = lambda _: None,
) -> RowResult:
    """Measure a row: the time of each candidate, or why it has none.

    `begins` is called with a candidate that is about to run for the first time.
    """
    began = time.monotonic()
    until = began + plan.row_seconds
    set_precision(row)
    ready: list[Runner] = []
    failed: list[Timed] = []
    size, prepared = 0, 0.0
    try:
        fresh()
        with torch.no_grad():
            values = inputs(row, device)
            want = reference(row, values)
            size = size_in_bytes(row, values, want)
            for one in given:
                begins(one)
                found = _attempt(one, partial(_ready, row, one, values, want, clock, until))
                if isinstance(found, Runner):
                    ready.append(found)
                else:
                    failed.append(found)
            prepared = time.monotonic() - began
            failed.extend(_rounds(row, ready, clock, plan, until, begins))
            failed.extend(_wrong_now(row, values, ready, want))
    except Exception as error:
        known = {one.name for one in failed}
        failed.extend(_failed(one, error) for one in given if one.name not in known)
        ready = []
    return RowResult(
        *(row.name, row.kernel, row.family, row.case, row.dtype, row.way, row.files[0]),
        *(size, flops(row), prepared, time.monotonic() - began),
        (*map(_timed, ready), *failed),
    )


def _attempt(candidate: Candidate, act: Callable[[], T]) -> T | Timed:
    """Do something with a candidate; a failure becomes a row that says so."""
    try:
        return act()
    except Exception as error:
        return _failed(candidate, error)


def _failed(candidate: Candidate, error: Exception) -> Timed:
    """Word the failure of a candidate. Raises LostDevice."""
    return Timed(
        candidate.name,
        candidate.kind,
        candidate.text_hash,
        error=error.error if isinstance(error, WrongResult) else 0.0,
        failure=told(error),
        is_unfit=isinstance(error, Unfit),
    )


def _ready(
    row: Row, candidate: Candidate, values: Inputs, want: Wanted, clock: Clock, until: float
) -> Runner:
    """Make it, run it, and hold its result against the right one."""
    start = time.monotonic()
    with limited(until - start):
        made = candidate.make(row, values)
        error = _checked(row, values, made, want, clock)
        prepared = time.monotonic() - start
        found = timer(made.run, clock)
    return Runner(candidate, made, error, prepared, found)


def _checked(row: Row, values: Inputs, made: Made, want: Wanted, clock: Clock) -> float:
    made.begin()
    found = off(row, compared(row, values, made.run()), want)
    clock.wait()
    if found.is_wrong:
        raise WrongResult(found.why, found.error)
    return found.error


def _rounds(
    row: Row,
    ready: list[Runner],
    clock: Clock,
    plan: Plan,
    until: float,
    begins: Callable[[Candidate], None],
) -> Iterator[Timed]:
    """Let all take turns, in another order in each round; what fails is told, and has no time."""
    # The same order in each run, and another one in each row.
    order = random.Random(row.name)
    for at in range(plan.rounds):
        turn = ready.copy()
        order.shuffle(turn)
        for runner in turn:
            if at and time.monotonic() > until:
                return
            begins(runner.candidate)
            found = _attempt(runner.candidate, partial(_samples, row, runner, clock, plan))
            if isinstance(found, Timed):
                ready.remove(runner)
                yield found


def _wrong_now(row: Row, values: Inputs, ready: list[Runner], want: Wanted) -> Iterator[Timed]:
    """Ours whose last result, after all runs into the same tensors, is not what the first was.

    What is computed in place is computed once more, from the first values.
    """
    for runner in ready.copy():
        made = runner.made
        if not runner.candidate.text or not (made.out or made.restored):
            continue
        if made.restored:
            made.begin()
        last = made.run() if made.restored else made.out
        found = off(row, compared(row, values, last), want)
        if found.is_wrong:
            ready.remove(runner)
            yield _failed(runner.candidate, WrongResult(f"at the end {found.why}", found.error))


def _samples(row: Row, runner: Runner, clock: Clock, plan: Plan) -> None:
    share = 1000 * plan.seconds / plan.rounds
    if flops(row) and min((runner.timer.whole, *runner.timer.times)) >= LONG:
        runner.made.run()
    take = sample_repeated if row.way == REPEATED else sample
    take(runner.timer, clock, share)


def _timed(runner: Runner) -> Timed:
    times = runner.timer.times
    low, middle, high = quarters(times)
    return Timed(
        runner.candidate.name,
        runner.candidate.kind,
        runner.candidate.text_hash,
        *(middle, low, high, len(times), runner.error, runner.prepared),
    )
