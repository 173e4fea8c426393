"""Compiles the kernels of candidates into Triton's cache before they are timed.

Several processes compile at once what one process would compile before each row. What is wrong
with a text is told when it is timed; here it is passed over.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import torch

from benchmarks.gpu.candidates import Candidate
from benchmarks.gpu.inputs import unfilled
from benchmarks.gpu.pool import EndedEarly, in_processes
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
    words = (jobs, ahead.processes, ahead.seconds, PATIENCE)
    found = at = 0
    if jobs:
        tell(Step(WHAT, at, len(jobs)))
    try:
        for at, is_good in enumerate(in_processes(partial(_compile, ahead.device), *words), 1):
            found += is_good
            if at < len(jobs):
                tell(Step(WHAT, at, len(jobs)))
    except EndedEarly:
        tell(Step(f"{WHAT} ended early", at, len(jobs), is_row=False))
    return found


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
