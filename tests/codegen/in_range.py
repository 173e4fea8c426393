"""Sets of values that count only where indices are in the ranges of their labels."""

from collections.abc import Mapping, Sequence

import torch

from dtpoly.algorithm.expressions import Conditions
from dtpoly.reference.labelled_values import indices_along
from tests.codegen.exact import Allowed, Exact, limits
from tests.codegen.floats import Floats


def holding(
    when: Conditions, labels: Sequence[str], sizes: Mapping[str, int], device: torch.device
) -> torch.Tensor:
    """Return for each index of the labels whether all conditions hold."""
    along = indices_along(labels, sizes, device)
    holds = torch.ones([sizes[label] for label in labels], dtype=torch.bool, device=device)
    for one in when:
        total = torch.full_like(holds, one.index.constant, dtype=torch.int64)
        for label, coefficient in one.index.linear:
            total = total + coefficient * along[label]
        more = sum(c * sizes[label] for label, c in one.sizes.linear)
        holds = holds & (total + more >= 0)
    return holds


def within(value: Allowed, holds: torch.Tensor, other: float) -> Allowed:
    """Return the values where something holds, and a number elsewhere."""
    match value:
        case Floats(low=low, high=high, nan=nan):
            ends = (part.masked_fill(~holds, other) for part in (low, high))
            return Floats(next(ends), next(ends), nan & holds)
        case Exact(tensor=tensor, known=known):
            return Exact(tensor.masked_fill(~holds, int(other)), known | ~holds)


def nothing(operation: str, value: Allowed) -> float:
    """Return the value that changes nothing in a reduction."""
    if operation.endswith(("max", "min")):
        sign = -1 if operation.endswith("max") else 1
        if isinstance(value, Floats):
            return sign * float("inf")
        low, high = limits(value.tensor.dtype)
        return int(low if sign < 0 else high)
    return float(operation in ("rprod", "rall"))
