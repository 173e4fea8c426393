"""Random whole kernels: what the verifier reads of them, against what a GPU does."""

from __future__ import annotations

from tests.attack.faults import faults_of
from tests.attack.generating import case_of_seed
from tests.attack.kernels import judged
from tests.attack.launching import launched_on_gpu, triton
from tests.attack.outcome import Outcome

# Quotients and roots of f32 are off by so many units of 2^-24 on a GPU, unless asked to be exact.
LOOSENESS = 8.0
# Types that the interpreter computes otherwise than a GPU.
MORE = ("bf16", "bf16")
# What the Triton that is installed is known to compile otherwise.
COMPILED = faults_of(triton.__version__, is_compiled=True)


def attempt(seed: int) -> Outcome:
    """Make a kernel, and look at it."""
    return judged(case_of_seed(seed, MORE), launched_on_gpu, LOOSENESS, COMPILED)
