"""Compiles schedules and drops those that are not worth a run on a GPU.

Nothing is run: Triton compiles for a GPU that need not be there, in processes of their own. If one
crashes or takes too long, only its own candidate is lost. Results come as soon as they are ready.
So a reader can keep them, and go on later with the candidates that are missing.
"""

import importlib
import multiprocessing
import os
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from enum import StrEnum
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from dtpoly.algorithm.dtypes import DType
from dtpoly.frozen import dataclass
from dtpoly.targets.target import Target

WORK = "dtpoly.explore.prune.compiling:outcome"
# Bytes of a lane that go to memory and back. A kernel that spills more costs more than it gains.
SPILLED = 256
SECONDS = 60.0
STARTING = 300.0  # seconds that a process may take until it is ready
# If this variable is set, Triton runs kernels on the CPU and compiles none.
INTERPRET = "TRITON_INTERPRET"


class Reason(StrEnum):
    """The reasons to drop a candidate."""

    REFUSED = "refused"  # by dtpoly: the schedule is refused, or no code can be generated for it
    TILE = "tile too large"
    UNCOMPILED = "Triton refuses it"
    SHARED = "too much shared memory"
    SPILLS = "spills"
    SLOW = "takes too long to compile"
    CRASHED = "crashes the compiler"


@dataclass(frozen=True, slots=True)
class KeyedSchedule:
    """A schedule: a key that the caller chooses, and its .dt text."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class CompiledCall:
    """The GPU, the sizes and the dtype that candidates are compiled for."""

    target: Target
    sizes: Mapping[str, int]
    dtype: DType = DType.F32
    spilled: int = SPILLED


@dataclass(frozen=True, slots=True)
class Needs:
    """The resources that a compiled kernel needs; `occupancy` is a share."""

    kernel: str
    warps: int
    registers: int
    spilled: int
    shared: int
    occupancy: float


@dataclass(frozen=True, slots=True)
class PruneOutcome:
    """The fate of a candidate; without a reason to drop it, it is worth a run."""

    key: str
    reason: Reason | None
    detail: str = ""
    kernels: tuple[Needs, ...] = ()
    seconds: float = 0.0


Work = Callable[[KeyedSchedule, CompiledCall], PruneOutcome]


@dataclass(slots=True)
class _Worker:
    """A process, and the candidate that it is working on."""

    process: SpawnProcess
    connection: "Connection[KeyedSchedule, PruneOutcome | None]"
    candidate: KeyedSchedule | None = None
    since: float = 0.0
    is_ready: bool = False  # it has imported what it needs


def pruned(
    candidates: Iterable[KeyedSchedule],
    call: CompiledCall,
    workers: int = 1,
    seconds: float = SECONDS,
    work: str = WORK,
) -> Generator[PruneOutcome]:
    """Yield the outcome of each candidate, in the order in which they are ready.

    `work` names the function that a process calls for a candidate, as `module:function`.
    """
    left = iter(candidates)
    running: list[_Worker] = []
    try:
        for candidate in left:
            running.append(_given(_started(call, work), candidate))
            if len(running) == workers:
                break
        while running:
            for worker, outcome in _ready(running, seconds):
                running.remove(worker)
                following = next(left, None)
                if following is None:
                    _end(worker)
                else:
                    alive = worker if worker.process.is_alive() else _started(call, work)
                    running.append(_given(alive, following))
                yield outcome
    finally:
        for worker in running:
            _end(worker)


def _started(call: CompiledCall, work: str) -> _Worker:
    context = multiprocessing.get_context("spawn")
    mine, other = context.Pipe()
    process = context.Process(target=_serve, args=(other, call, work), daemon=True)
    process.start()
    other.close()
    return _Worker(process, mine)


def _serve(
    connection: "Connection[PruneOutcome | None, KeyedSchedule]", call: CompiledCall, work: str
) -> None:
    """Work in a child process, candidate after candidate, until no more come."""
    os.environ.pop(INTERPRET, None)
    module, _, name = work.partition(":")
    function: Work = getattr(importlib.import_module(module), name)
    connection.send(None)
    while True:
        try:
            candidate = connection.recv()
        except EOFError:
            return
        start = time.perf_counter()
        found = function(candidate, call)
        took = time.perf_counter() - start
        connection.send(PruneOutcome(found.key, found.reason, found.detail, found.kernels, took))


def _given(worker: _Worker, candidate: KeyedSchedule) -> _Worker:
    worker.candidate, worker.since = candidate, time.monotonic()
    worker.connection.send(candidate)
    return worker


def _ready(running: list[_Worker], seconds: float) -> list[tuple[_Worker, PruneOutcome]]:
    """Return the workers that have an answer, that died, or whose time is used up."""
    over = min(worker.since + _limit(worker, seconds) for worker in running)
    left = max(over - time.monotonic(), 0)
    said = wait([worker.connection for worker in running], left)
    found: list[tuple[_Worker, PruneOutcome]] = []
    for worker in running:
        assert worker.candidate is not None
        key, took = worker.candidate.key, time.monotonic() - worker.since
        if worker.connection in said:
            outcome = _answer(worker, key, took)
            if outcome is None:
                worker.is_ready, worker.since = True, time.monotonic()
            else:
                found.append((worker, outcome))
        elif took > _limit(worker, seconds):
            _end(worker)
            detail = f"it was stopped after {took:.0f} s"
            found.append((worker, PruneOutcome(key, Reason.SLOW, detail, (), took)))
    return found


def _limit(worker: _Worker, seconds: float) -> float:
    """Return the time limit of a worker; the time that a process needs to start is added."""
    return seconds if worker.is_ready else seconds + STARTING


def _answer(worker: _Worker, key: str, took: float) -> PruneOutcome | None:
    """Read what a process sends: an outcome, or None once it is ready.

    A dead process has crashed.
    """
    try:
        return worker.connection.recv()
    except (EOFError, ConnectionError):
        worker.process.join()
        code = worker.process.exitcode or 0
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        _end(worker)
        return PruneOutcome(key, Reason.CRASHED, f"the process ended {how}", (), took)


def _end(worker: _Worker) -> None:
    worker.connection.close()
    worker.process.kill()
    worker.process.join()
