"""Random single operations: what the verifier reads of each, against what a GPU does."""

from __future__ import annotations

from tests.attack.kernels_gpu import COMPILED, LOOSENESS
from tests.attack.launching import launched_on_gpu
from tests.attack.operating import ALL
from tests.attack.operations import judged, operations_of
from tests.attack.outcome import Outcome


def attempt(seed: int) -> Outcome:
    """Make some operations of all types, and look at them."""
    return judged(operations_of(seed, ALL), seed, launched_on_gpu, LOOSENESS, COMPILED)
