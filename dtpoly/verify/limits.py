"""Bounds on what a proof may take: time, isl's operations, and room on Python's stack."""

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
    """Let what is done inside take so long at most, and nest deeply."""
    frames = sys.getrecursionlimit()
    sys.setrecursionlimit(max(frames, FRAMES))
    most = int(seconds * OPERATIONS_A_SECOND) + 1
    try:
        with within(seconds), counted(isl.DEFAULT_CONTEXT, most):
            yield
    finally:
        sys.setrecursionlimit(frames)
