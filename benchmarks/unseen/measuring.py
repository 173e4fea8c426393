"""Measures the cases that were prepared, one after the other, and writes each down."""

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch

from benchmarks.gpu.results import OURS, PEER, Timed
from benchmarks.unseen.cases import Case
from benchmarks.unseen.expected import Expected
from benchmarks.unseen.kinds import EAGER
from benchmarks.unseen.ready import Ready, Runnable, apart, checked, ours, peers, ready, wanted
from benchmarks.unseen.records import MEASURED, MeasuredCase, PreparedCase, add, measured_cases
from benchmarks.unseen.rivals import Outcome, forget, set_precision
from dtpoly.timing.clock import Clock, clock_of
from dtpoly.timing.failures import LostDevice, WrongResult, told
from dtpoly.timing.samples import Timer, sample, timer
from dtpoly.timing.spread import quarters
from dtpoly.timing.time_limit import limited

BEGAN, BROKEN = "began.json", "broken.jsonl"
ROUNDS = 2
PATIENCE = 40.0  # seconds until a candidate is ready


@dataclass(frozen=True, slots=True)
class Measuring:
    """Says which cases are measured, on which device, and for how long."""

    folder: Path
    device: str
    seconds: float  # for everything
    each: float  # of the device's time, for each candidate
    kinds: tuple[str, ...]  # of peers
    is_tiny: bool = False  # sizes that an interpreter can run


@dataclass(slots=True)
class Runner:
    """A candidate that was right, and its times so far."""

    one: Runnable
    error: float
    prepared: float
    timer: Timer


def measure(
    wanted_cases: Sequence[tuple[Case, PreparedCase]],
    plan: Measuring,
    tell: Callable[[MeasuredCase], None],
) -> bool:
    """Measure the cases that have no line yet; return whether all have one now.

    Raises LostDevice where only a new process can go on; who lost it is written down.
    """
    end = time.monotonic() + plan.seconds
    broken = _broken(plan.folder)
    known = measured_cases(plan.folder)
    clock = clock_of(plan.device)
    took: list[float] = []
    for case, made in wanted_cases:
        if case.name in known:
            continue
        if end - time.monotonic() < (sum(took) / len(took) if took else 0.0):
            return False
        found = _measured(case, made, plan, clock, broken)
        add(plan.folder / MEASURED, found)
        took.append(found.seconds)
        tell(found)
    return True


def _broken(folder: Path) -> dict[tuple[str, str], str]:
    """Return which candidates broke the device or the process; one that began and never ended did.

    It is written down, so that it is not tried again.
    """
    began, path = folder / BEGAN, folder / BROKEN
    if began.exists():
        line = {**json.loads(began.read_text()), "why": "it ended the process"}
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        began.unlink()
    lines = path.read_text().splitlines() if path.exists() else []
    found = [json.loads(line) for line in lines]
    return {(one["case"], one["name"]): one["why"] for one in found}


def _measured(
    case: Case,
    made: PreparedCase,
    plan: Measuring,
    clock: Clock,
    broken: Mapping[tuple[str, str], str],
) -> MeasuredCase:
    began = time.monotonic()
    set_precision(case)
    forget()
    times, failure = list[Timed](), ""
    try:
        with torch.no_grad():
            given = ready(case, plan.device, plan.is_tiny)
            times = [*_times(given, made, plan, clock, broken)]
    except LostDevice:
        raise
    except Exception as error:
        failure = told(error)
    return MeasuredCase(case.name, tuple(times), time.monotonic() - began, failure)


def _times(
    given: Ready,
    made: PreparedCase,
    plan: Measuring,
    clock: Clock,
    broken: Mapping[tuple[str, str], str],
) -> Iterator[Timed]:
    """Yield each candidate with its time, or with why it has none."""
    want = wanted(given)
    whole: list[tuple[Runnable, Outcome]] = []
    runners: list[Runner] = []
    for kind, (name, make) in _candidates(given, made, plan):
        why = broken.get((given.case.name, name))
        if why is not None:
            yield Timed(name, kind, failure=why)
            continue
        _began(plan.folder, given.case.name, name)
        try:
            with limited(PATIENCE):
                runners.append(_ready(given, make, want, whole, clock))
        except Exception as error:
            yield _failed(name, kind, error)
    _ended(plan.folder)
    order = random.Random(given.case.name)
    for _ in range(ROUNDS):
        order.shuffle(runners)
        for one in [*runners]:
            _began(plan.folder, given.case.name, one.one.name)
            try:
                sample(one.timer, clock, 1000 * plan.each / ROUNDS)
            except Exception as error:
                runners.remove(one)
                yield _failed(one.one.name, one.one.kind, error)
    _ended(plan.folder)
    yield from map(_timed, runners)


def _candidates(
    given: Ready, made: PreparedCase, plan: Measuring
) -> Iterator[tuple[str, tuple[str, Callable[[], Runnable]]]]:
    """Yield peers, and then what is compared with them."""
    try:
        yield from ((PEER, one) for one in peers(given, plan.kinds))
    except NotImplementedError as error:
        yield PEER, (EAGER, partial(_raise, error))
    yield from ((OURS, one) for one in ours(given, made, plan.folder))


def _raise(error: Exception) -> Runnable:
    raise error


def _ready(
    given: Ready,
    make: Callable[[], Runnable],
    want: Sequence[Mapping[str, Expected]],
    whole: list[tuple[Runnable, Outcome]],
    clock: Clock,
) -> Runner:
    start = time.monotonic()
    one = make()
    error = checked(given, one, want)
    if one.name == EAGER and not given.written:
        one.begin()
        whole.append((one, one.run()))
    elif one.kind == OURS and whole:
        one.begin()
        apart(given, whole[0][0], one.run(), whole[0][1])
    clock.wait()
    prepared = time.monotonic() - start
    return Runner(one, error, prepared, timer(one.run, clock))


def _failed(name: str, kind: str, error: Exception) -> Timed:
    """Word a failure. Raises LostDevice."""
    off = error.error if isinstance(error, WrongResult) else 0.0
    return Timed(name, kind, error=off, failure=told(error))


def _timed(runner: Runner) -> Timed:
    low, middle, high = quarters(runner.timer.times)
    found = Timed(runner.one.name, runner.one.kind, runner.one.text_hash, middle, low, high)
    samples = len(runner.timer.times)
    return replace(found, samples=samples, error=runner.error, prepared=runner.prepared)


def _began(folder: Path, case: str, name: str) -> None:
    """Write down which candidate runs, for whoever outlives the process."""
    (folder / BEGAN).write_text(json.dumps({"case": case, "name": name}))


def _ended(folder: Path) -> None:
    (folder / BEGAN).unlink(missing_ok=True)
