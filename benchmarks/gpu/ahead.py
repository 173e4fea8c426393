"""Compiles the kernels of candidates into Triton's cache before they are timed.

Several processes compile at once what one process would compile before each row. What is wrong
with a text is told when it is timed; here it is passed over.
"""

import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import TimeoutError as NothingCame
from multiprocessing import get_context

import torch

from benchmarks.gpu.candidates import Candidate
from benchmarks.gpu.inputs import unfilled
from benchmarks.gpu.rows import Row
from benchmarks.gpu.steps import Step, Tell
from dtpoly.explore.bench.on_torch import compiling

WHAT = "compiling ahead"
PATIENCE = 90.0  # seconds in which none of them finished anything: one may have crashed


@dataclass(frozen=True, slots=True)
class Ahead:
    """The processes that compile ahead: how many, into which folder, and for how long at most."""

    processes: int
    device: str
    seconds: float


Job = tuple[Row, Candidate]


def compile_ahead(jobs: Sequence[Job], ahead: Ahead, tell: Tell) -> int:
    """Return how many texts could be compiled before the time was over."""
    end = time.monotonic() + ahead.seconds
    # On leaving, what still compiles is ended.
    with get_context("spawn").Pool(ahead.processes, _begin) as pool:
        done = pool.imap_unordered(partial(_compile, ahead.device), jobs)
        found = 0
        for at in range(len(jobs)):
            tell(Step(WHAT, at, len(jobs)))
            try:
                found += done.next(timeout=max(min(PATIENCE, end - time.monotonic()), 0.0))
            except NothingCame:
                tell(Step(f"{WHAT} ended early", at, len(jobs), is_row=False))
                break
    return found


def _begin() -> None:
    # Ctrl-C is for the process that started this one, which then ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _compile(device: str, job: Job) -> bool:
    """Run one, but for its launches; on the CPU those are interpreted, and nothing is compiled."""
    row, candidate = job
    is_good = False
    with suppress(Exception), torch.no_grad(), compiling(device):
        candidate.make(row, unfilled(row, device)).run()
        is_good = True
    if device != "cpu":
        torch.cuda.empty_cache()
    return is_good
