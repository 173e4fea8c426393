"""Measures how fast this machine copies, multiplies and launches."""

from collections.abc import Callable
from statistics import median

import torch

from benchmarks.gpu.results import Ceilings
from benchmarks.gpu.rows import DTYPES
from dtpoly.timing.clock import Action, Clock

BYTES = 1 << 31  # of what is copied
SIDE = 8192  # of the matrices
RUNS = 15
# With what torch.set_float32_matmul_precision is told.
PRODUCTS = {"f16": "highest", "bf16": "highest", "tf32": "high"}


def ceilings(clock: Clock, device: str) -> Ceilings:
    """Measure the rates that no kernel is expected to pass by much."""
    is_small = device == "cpu"
    size, side = (1 << 20, 64) if is_small else (BYTES, SIDE)
    source = torch.zeros(size, dtype=torch.int8, device=device)
    target = torch.empty_like(source)
    one = torch.zeros(1, device=device)
    return Ceilings(
        copy=2 * size / _seconds(clock, lambda: target.copy_(source)),
        products={dtype: _product(clock, device, dtype, side) for dtype in PRODUCTS},
        launch=1000 * _seconds(clock, one.zero_),
    )


def _product(clock: Clock, device: str, dtype: str, side: int) -> float:
    torch.set_float32_matmul_precision(PRODUCTS[dtype])
    kind: torch.dtype = getattr(torch, DTYPES[dtype])
    left, right = (torch.randn((side, side), device=device, dtype=kind) for _ in range(2))
    return 2 * side**3 / _seconds(clock, lambda: left @ right)


def _seconds(clock: Clock, run: Action) -> float:
    timed: Callable[[], list[float]] = lambda: clock.flushed(run, RUNS, 0.05)  # noqa: E731
    timed()  # warms up
    return median(timed()) / 1000
