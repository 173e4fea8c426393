"""Bounds on the cost of a proof: its time, the operations of isl, and the depth of Python's stack.

Beyond these bounds a proof is given up, so that no input can keep the verifier busy forever.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

import islpy as isl

from dtpoly.budget import OPERATIONS_A_SECOND, check, counted, within

FRAMES = 20_000

check_time = check


@contextmanager
def limited(seconds: float) -> Generator[None, None, None]:
    """Limit the time of what is done inside, and let it nest deeply."""
    frames = sys.getrecursionlimit()
    sys.setrecursionlimit(max(frames, FRAMES))
    most = int(seconds * OPERATIONS_A_SECOND) + 1
    try:
        with within(seconds), counted(isl.DEFAULT_CONTEXT, most):
            yield
    finally:
        sys.setrecursionlimit(frames)
