"""Compiles the texts and the peers of cases in several processes, before anything is timed."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from benchmarks.gpu.pool import EndedEarly, in_processes
from benchmarks.unseen.cases import Case
from benchmarks.unseen.ready import ours, peers, ready
from benchmarks.unseen.records import PreparedCase
from benchmarks.unseen.rivals import forget, set_precision
from dtpoly.explore.bench.on_torch import compiling

PATIENCE = 60.0  # seconds in which none of them finished anything: one may have crashed


@dataclass(frozen=True, slots=True)
class Ahead:
    """The processes that compile: how many, of which folder, and for how long at most."""

    processes: int
    folder: Path
    device: str
    seconds: float


def compile_ahead(given: Sequence[tuple[Case, PreparedCase]], plan: Ahead) -> int:
    """Return how many cases are compiled; what is wrong with one is told when it is measured."""
    done = 0
    with suppress(EndedEarly):
        for _ in in_processes(
            partial(_compile, plan), given, plan.processes, plan.seconds, PATIENCE
        ):
            done += 1
    return done


def _compile(plan: Ahead, given: tuple[Case, PreparedCase]) -> None:
    """Run our texts but for their launches, and peers once: torch keeps what it has compiled."""
    case, made = given
    set_precision(case)
    with suppress(Exception), torch.no_grad():
        asked = ready(case, plan.device, is_tiny=False)
        for _, make in ours(asked, made, plan.folder):
            with suppress(Exception), compiling(plan.device):
                make()
        for _, make in peers(asked):
            with suppress(Exception):
                make().run()
    with suppress(RuntimeError):  # a peer may have lost this process its device
        forget()
