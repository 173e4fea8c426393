"""Triton's interpreter with its memory watched: a kernel may touch elements of tensors only.

It computes as users have it: what is mended of it, the generated file mends for its own launches.
"""

import importlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dtpoly.ring.ring_memory import RingMemory
from dtpoly.ring.watching import watched

# Triton has no types to check against.
interpreter: Any = importlib.import_module("triton.runtime.interpreter")


@contextmanager
def interpreted(memory: RingMemory) -> Generator[None]:
    """Run the kernels that are called inside with their memory watched.

    NumPy would warn where a hand-written kernel divides by zero, and pytest makes errors of that.
    """
    with watched(memory), np.errstate(all="ignore"):
        yield
