"""Checks a candidate on a bench, and times it only if its result is right."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Protocol, TypeVar

from dtpoly.explore.store.measured_question import SetupFacts
from dtpoly.explore.store.results import FunctionCall, Outcome, Result
from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """An emitted text that is to be measured."""

    point: str
    parameters: Mapping[str, str]
    text: str
    text_hash: str
    call: FunctionCall


@dataclass(frozen=True, slots=True)
class CheckedResult:
    """The distance of a right result from the reference, and the largest distance allowed."""

    error: float
    allowed: float


@dataclass(frozen=True, slots=True)
class Times:
    """The milliseconds of a candidate, and medians of the baselines that took turns with it."""

    median: float
    quarter: float
    three_quarters: float
    samples: int
    baselines: Mapping[str, float] = field(default_factory=dict[str, float])
    is_stopped: bool = False  # it was stopped early, because it was too slow


class KernelRefusal(Exception):
    """Raised if there is no such kernel on this device; it has a few words and a full reason."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


class Failure(Exception):
    """Raised if a candidate could not be run; it has a few words and a full reason."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


class WrongValues(Exception):
    """Raised if a candidate computed wrong values."""

    def __init__(self, reason: str, error: float, allowed: float) -> None:
        super().__init__(reason)
        self.error, self.allowed = error, allowed


class DeviceLost(Exception):
    """Raised if this process can no longer use the device."""


class Bench(Protocol):
    """A place to measure on, for one question. Each method may raise Failure or Lost."""

    def facts(self) -> SetupFacts:
        """Return the name of the device and the versions that a time depends on."""
        ...

    def prepare(self, candidate: Candidate) -> None:
        """Load the candidate and compile its kernels; on a GPU nothing runs yet. Raises Refusal.

        Another process may measure on the same device meanwhile.
        """
        ...

    def check(self, candidate: Candidate) -> CheckedResult:
        """Run the candidate once, and compare it with the reference. Raises Wrong."""
        ...

    def measure(self, candidate: Candidate, bound: float | None) -> Times:
        """Time the candidate in turns with the baselines.

        Stop if it is surely slower than the bound (ms). Raises Wrong if the last result differs
        from the first one.
        """
        ...


def prepared(bench: Bench, candidate: Candidate) -> Result | None:
    """Prepare a candidate; return its result if it cannot be measured, else None. Raises Lost."""
    return _attempted(candidate, lambda: bench.prepare(candidate))


def measured(bench: Bench, candidate: Candidate, bound: float | None) -> Result:
    """Check a candidate that is ready, and time it if it is right. Raises Lost."""

    def act() -> Result:
        checked = bench.check(candidate)
        times = bench.measure(candidate, bound)
        return Result(
            Outcome.SLOW if times.is_stopped else Outcome.MEASURED,
            "stopped early" if times.is_stopped else "",
            "",
            *(times.median, times.quarter, times.three_quarters, times.samples),
            *(checked.error, checked.allowed, times.baselines, candidate.text_hash),
        )

    return _attempted(candidate, act)


T = TypeVar("T")


def _attempted(candidate: Candidate, act: Callable[[], T]) -> T | Result:
    """Call a function on a candidate; an error becomes the result that it means."""
    text = candidate.text_hash
    try:
        return act()
    except KernelRefusal as error:
        return Result(Outcome.REFUSED, error.kind, str(error), text_hash=text)
    except Failure as error:
        return Result(Outcome.FAILED, error.kind, str(error), text_hash=text)
    except WrongValues as error:
        why = ("wrong values", str(error))
        return Result(Outcome.WRONG, *why, error=error.error, allowed=error.allowed, text_hash=text)


def is_hopeless(times: Sequence[float], bound: float | None) -> bool:
    """True if even the best run was slower than the bound."""
    return bound is not None and min(times) > bound
