"""Compiles the texts and the peers of cases in several processes, before anything is timed."""

import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import TimeoutError as NothingCame
from multiprocessing import get_context
from pathlib import Path
from time import monotonic

import torch

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
    end, done = monotonic() + plan.seconds, 0
    # On leaving, what still compiles is ended.
    with get_context("spawn").Pool(plan.processes, _begin) as pool:
        found = pool.imap_unordered(partial(_compile, plan), given)
        for _ in given:
            try:
                found.next(timeout=max(min(PATIENCE, end - monotonic()), 0.0))
            except NothingCame:
                break
            done += 1
    return done


def _begin() -> None:
    # Ctrl-C is for the process that started this one, which then ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


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
    forget()
