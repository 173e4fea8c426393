"""A campaign: many attempts to make dtpoly say something wrong, each made from a seed."""

from dataclasses import dataclass

SECONDS = 60.0
BYTES = 2 * 2**30
# A worker is replaced after this many attempts, so that what it keeps does not count for the next.
ATTEMPTS_PER_WORKER = 200


@dataclass(frozen=True)
class Campaign:
    """A campaign: where its `attempt(seed: int) -> Outcome` is, and what an attempt may take.

    The module is imported in the workers only, so that what it imports costs the others nothing.
    """

    name: str
    # One sentence.
    about: str
    # The module that has the function `attempt`.
    module: str
    seconds: float = SECONDS
    bytes: int = BYTES
    # True if kernels run in Triton's interpreter, which is decided before Triton is imported.
    is_interpreted: bool = True
    # The campaign is skipped where there is no GPU.
    needs_gpu: bool = False
    # Workers that need much memory when they start are started one after the other.
    is_started_slowly: bool = False
    attempts_per_worker: int = ATTEMPTS_PER_WORKER
    # A campaign that tests the runner itself is run only if it is named.
    is_hidden: bool = False
