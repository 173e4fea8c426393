"""Measures how long something takes, and how many calls of isl that is."""

import os
import subprocess
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import islpy as isl


@dataclass(frozen=True, slots=True)
class Result:
    """Times of one measurement in processor seconds; a test compares the best with the limit."""

    what: str
    times: tuple[float, ...]
    limit: float | None = None
    counts: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def best(self) -> float:
        """Return the least: what the machine can do."""
        return min(self.times)

    @property
    def median(self) -> float:
        """Return the one in the middle."""
        return median(self.times)

    def as_json(self) -> dict[str, object]:
        """Everything, as JSON has it."""
        return {
            "what": self.what,
            "best": round(self.best, 5),
            "median": round(self.median, 5),
            "runs": len(self.times),
            "limit": self.limit,
            "counts": dict(self.counts),
        }


def timed(run: Callable[[], object], runs: int) -> tuple[float, ...]:
    """Seconds of processor time of each run; one before them warms up."""
    run()
    times: list[float] = []
    for _ in range(runs):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return tuple(times)


def process_times(command: Sequence[str], cwd: Path, runs: int) -> tuple[float, ...]:
    """The same of whole processes, with what Python compiles kept, as after an installation."""
    known = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with TemporaryDirectory() as folder:
        env = {**known, "PYTHONPYCACHEPREFIX": folder}

        def run() -> None:
            subprocess.run(command, cwd=cwd, capture_output=True, check=True, env=env)

        run()
        times: list[float] = []
        for _ in range(runs):
            before = os.times()
            run()
            after = os.times()
            user = after.children_user - before.children_user
            times.append(user + after.children_system - before.children_system)
    return tuple(times)


def isl_calls(run: Callable[[], object]) -> int:
    """Count the methods of isl's objects that are called, without those that islpy itself calls."""
    calls = _Calls()
    with _counted(calls):
        run()
    return calls.count


@dataclass(slots=True)
class _Calls:
    count: int = 0
    depth: int = 0


@contextmanager
def _counted(calls: _Calls) -> Generator[None]:
    """Count the calls of every method of isl's classes, until the end."""
    changed: list[tuple[type, str, Any]] = []
    classes = [one for one in vars(isl).values() if isinstance(one, type)]
    # Kinds of dims are an enumeration, not objects of isl.
    for cls in (one for one in classes if one.__module__.startswith("islpy") and _is_object(one)):
        for name, method in list(vars(cls).items()):
            if callable(method) and (not name.startswith("__") or name in _OPERATORS):
                changed.append((cls, name, method))
                setattr(cls, name, _counting(method, calls))
    try:
        yield
    finally:
        for cls, name, method in changed:
            setattr(cls, name, method)


_OPERATORS = tuple(f"__{word}__" for word in ("add", "sub", "mul", "and", "or", "neg"))


def _is_object(cls: type) -> bool:
    return hasattr(cls, "get_ctx")


def _counting(method: Callable[..., Any], calls: _Calls) -> Callable[..., Any]:
    @wraps(method)
    def counting(*arguments: Any, **named: Any) -> Any:
        calls.count += calls.depth == 0
        calls.depth += 1
        try:
            return method(*arguments, **named)
        finally:
            calls.depth -= 1

    return counting
