"""What a peer is: something else that computes a kernel, and what it returns."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from benchmarks.gpu.inputs import Inputs
from benchmarks.gpu.rows import Row

# One result, or several of which a peer may lack some.
Outcome = Tensor | tuple[Tensor | None, ...]
Run = Callable[[], Outcome]


class Unfit(Exception):
    """A peer that has nothing for such a shape; that is no failure."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Something to time: made once from a row's inputs, then run many times."""

    name: str
    make: Callable[[Row, Inputs], Run]


def several(outcome: Outcome) -> tuple[Tensor | None, ...]:
    """Return all results, also where there is only one."""
    return outcome if isinstance(outcome, tuple) else (outcome,)


def first(outcome: Outcome) -> Tensor:
    """Return the first result that is there."""
    return next(one for one in several(outcome) if one is not None)
