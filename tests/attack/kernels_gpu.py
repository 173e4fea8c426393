"""Compares what the verifier reads of random whole kernels with a GPU."""

from __future__ import annotations

from tests.attack.faults import faults_of
from tests.attack.generating import case_of_seed
from tests.attack.kernels import judged
from tests.attack.launching import launched_on_gpu, triton
from tests.attack.outcome import Outcome

# On a GPU, quotients and roots of f32 are off by this many units of 2^-24, unless they must be
# exact.
LOOSENESS = 8.0
# The interpreter computes with these types otherwise than a GPU.
MORE = ("bf16", "bf16")
# The known faults in compiled kernels of the Triton that is installed.
COMPILED = faults_of(triton.__version__, is_compiled=True)


def attempt(seed: int) -> Outcome:
    """Make a kernel, and compare."""
    return judged(case_of_seed(seed, MORE), launched_on_gpu, LOOSENESS, COMPILED)
