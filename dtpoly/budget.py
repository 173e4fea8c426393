"""Limits what a command or a call may take: time, memory, and operations of isl.

A budget is made where a command or a call begins, and holds in all that is done for it. Time is the
time that this thread computes, so that a machine that is busy with other work changes no answer.
Where a budget is over, `OverBudgetError` is raised: whoever began turns it into a diagnostic, or
into UNKNOWN. It is the context's and not an argument, since every stage has loops deep inside of
functions that are about terms and sets alone; each thread has its own.
"""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from dtpoly.frozen import dataclass
from dtpoly.system.process_memory import peak

SECONDS = 20.0  # for a command or a call, unless its user gives more
MOST_BYTES = 2 * 2**30  # of memory beyond what the process had when it began
# Of isl, what it does in a second, about; with large coefficients it does fewer.
OPERATIONS_A_SECOND = 2_000_000
START = "beginning"


class OverBudgetError(Exception):
    """The time or the memory is over: in which stage, and of what there was how much."""

    def __init__(self, stage: str, limit: str) -> None:
        super().__init__(f"{stage}: more than {limit}")
        self.stage = stage
        self.limit = limit


@dataclass(frozen=True, slots=True)
class Budget:
    """Until when, on the clock of this thread; and up to how much memory."""

    seconds: float
    end: float
    most_bytes: float
    # Is told of each stage that begins; a process that watches this one tells it when it ends us.
    watch: Callable[[str], None] | None = None
    allowed: float = MOST_BYTES  # of memory, beyond what there was when it began


class IslContext(Protocol):
    """The part of isl that counts."""

    def set_max_operations(self, max_operations: int) -> None:
        """Set the largest number of operations."""

    def reset_operations(self) -> None:
        """Count from 0."""


_budget: ContextVar[Budget | None] = ContextVar("budget", default=None)
_stage: ContextVar[str] = ContextVar("stage", default=START)
_operations: ContextVar[int] = ContextVar("operations", default=0)  # 0 is no limit
# These are told of each stage that begins, in any budget and without one.
_listeners: list[Callable[[str], None]] = []


@contextmanager
def within(
    seconds: float,
    watch: Callable[[str], None] | None = None,
    spent: float = 0.0,
    most_bytes: float = MOST_BYTES,
) -> Generator[None]:
    """Let what is done inside take so long, and not longer than what is around it.

    Of the seconds some may be spent already. Memory is what it takes beyond what was there.
    """
    around = _budget.get()
    allowed = most_bytes
    end, most_bytes = time.thread_time() + seconds - spent, peak() + allowed
    if around is not None:
        end, most_bytes = min(end, around.end), min(most_bytes, around.most_bytes)
        watch = watch or around.watch
    token = _budget.set(Budget(seconds, end, most_bytes, watch, allowed))
    try:
        yield
    finally:
        _budget.reset(token)


@contextmanager
def within_default() -> Generator[None]:
    """Set the usual limit of time, unless what is around it has set another one."""
    if _budget.get() is not None:
        yield
        return
    with within(SECONDS):
        yield


@contextmanager
def stage(what: str) -> Generator[None]:
    """Say what is done inside, for the message if it takes too much."""
    token = _stage.set(what)
    _tell(what)
    try:
        check()
        yield
    finally:
        _stage.reset(token)
        _tell(_stage.get())


def listen(listener: Callable[[str], None]) -> None:
    """Let a function know of each stage that begins, and of the outer one when a stage ends."""
    _listeners.append(listener)


def deafen(listener: Callable[[str], None]) -> None:
    """Tell a function no more about stages."""
    _listeners.remove(listener)


def check() -> None:
    """Raise OverBudgetError if the time or the memory is over."""
    one = _budget.get()
    if one is None:
        return
    if time.thread_time() > one.end:
        raise OverBudgetError(_stage.get(), f"{one.seconds:g} seconds")
    if peak() > one.most_bytes:
        raise OverBudgetError(_stage.get(), f"{one.allowed / 2**30:g} GB of memory")


def left() -> float | None:
    """Return how many seconds are left; none without a budget."""
    one = _budget.get()
    return None if one is None else max(one.end - time.thread_time(), 0.0)


def most_bytes() -> float:
    """Return how much memory the process may have had at its peak; infinite without a budget."""
    one = _budget.get()
    return float("inf") if one is None else one.most_bytes


@contextmanager
def counted(context: IslContext, most: int) -> Generator[None]:
    """Limit isl's operations inside to a number, and to what there is time for.

    They are counted, so that what is answered does not depend on the machine.
    """
    seconds = left()
    if seconds is not None:
        most = min(most, int(seconds * OPERATIONS_A_SECOND) + 1)
    outside = _operations.get()
    token = _operations.set(most)
    _allow(context, most)
    try:
        yield
    finally:
        _operations.reset(token)
        _allow(context, outside)


def _allow(context: IslContext, most: int) -> None:
    context.set_max_operations(most)
    context.reset_operations()


def _tell(what: str) -> None:
    for listener in _listeners:
        listener(what)
    one = _budget.get()
    if one is not None and one.watch is not None:
        one.watch(what)
