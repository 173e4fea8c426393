"""Bounds on what a proof may take: time, isl's operations, and room on Python's stack."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

import islpy as isl

FRAMES = 20_000
# Of isl: what it can do in a second, about.
OPERATIONS_A_SECOND = 2_000_000


class OutOfTimeError(Exception):
    """The proof takes too long."""


# When the proofs that run now must end; the last is the innermost.
_ends: list[float] = []


@contextmanager
def limited(seconds: float) -> Generator[None, None, None]:
    """Let what is done inside take so long at most, and nest deeply."""
    context = isl.DEFAULT_CONTEXT
    frames = sys.getrecursionlimit()
    sys.setrecursionlimit(max(frames, FRAMES))
    context.reset_operations()
    context.set_max_operations(int(seconds * OPERATIONS_A_SECOND))
    _ends.append(time.thread_time() + seconds)
    try:
        yield
    finally:
        _ends.pop()
        context.set_max_operations(0)
        context.reset_operations()
        sys.setrecursionlimit(frames)


def check_time() -> None:
    """Raise OutOfTimeError if the time is over."""
    if _ends and time.thread_time() > _ends[-1]:
        raise OutOfTimeError
