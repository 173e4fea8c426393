"""Reductions of sets of floats over their last axis: every order of the steps is allowed for."""

from math import inf

import torch

from tests.codegen.elementwise import multiplied, negated
from tests.codegen.floats import (
    DOUBLE,
    Floats,
    Precision,
    anything_where,
    moved,
    settled,
    widened,
)

Tensor = torch.Tensor


def summed(values: Floats, precision: Precision, extra: float = 0.0) -> Floats:
    """Return the sums; `extra` is the share of all sizes that may be lost besides."""
    steps = values.low.shape[-1] + 2
    sizes = torch.where(values.is_nan, 0.0, values.size).sum(-1)
    loss = sizes * ((steps * precision.unit) + extra)
    finite = sizes + loss < precision.largest
    total = settled(
        values.low.sum(-1), values.high.sum(-1), values.nan.any(-1) & ~values.is_nan.any(-1)
    )
    total = _nan_where(values.is_nan.any(-1), total)
    return moved(anything_where(~finite, total), torch.where(finite, loss, 0.0))


def _nan_where(condition: Tensor, values: Floats) -> Floats:
    return Floats(
        torch.where(condition, inf, values.low),
        torch.where(condition, -inf, values.high),
        values.nan | condition,
    )


def product(values: Floats, precision: Precision) -> Floats:
    """Return the products; anything where a part of one may be too large or lose digits."""
    count = values.low.shape[-1]
    one = torch.ones(values.low.shape[:-1], dtype=torch.float64, device=values.low.device)
    total = Floats(one, one, torch.zeros_like(one, dtype=torch.bool))
    large, small = one, one
    for at in range(count):
        step = Floats(values.low[..., at], values.high[..., at], values.nan[..., at])
        total = multiplied(total, step)
        large = large * step.size.clamp(min=1)
        small = small * torch.where(step.has(0), 1, step.low.abs().minimum(step.high.abs())).clamp(
            max=1
        )
    total = widened(total, precision, 2 * count)
    is_risky = (large > precision.largest / 2) | (small < precision.tiny * 2)
    return anything_where(is_risky, total)


def largest(values: Floats) -> Floats:
    """Return the largest of each line; of none the smallest number there is."""
    shape = values.low.shape[:-1]
    if not values.low.shape[-1]:
        least = torch.full(shape, -inf, dtype=torch.float64, device=values.low.device)
        return Floats(least, least, torch.zeros_like(least, dtype=torch.bool))
    found = settled(values.low.amax(-1), values.high.amax(-1), values.nan.any(-1))
    return _nan_where(values.is_nan.any(-1), found)


def smallest(values: Floats) -> Floats:
    """Return the smallest of each line."""
    return negated(largest(negated(values)))


def first_largest(values: Floats) -> tuple[Tensor, Tensor]:
    """Return the index of the first largest of each line, and where there is no doubt about it."""
    count = values.low.shape[-1]
    places = torch.arange(count, device=values.low.device)
    best = values.low.amax(-1, keepdim=True)
    candidates = values.high >= best
    first = torch.where(candidates, places, count).amin(-1)
    alone = candidates.sum(-1) == 1
    equal = (~candidates | ((values.low == best) & (values.high == best))).all(-1)
    first_nan = torch.where(values.is_nan, places, count).amin(-1)
    perhaps = torch.where(values.nan & ~values.is_nan, places, count).amin(-1)
    has_nan = first_nan < count
    known = torch.where(has_nan, perhaps > first_nan, (perhaps == count) & (alone | equal))
    return torch.where(has_nan, first_nan, first), known


def first_smallest(values: Floats) -> tuple[Tensor, Tensor]:
    """Return the index of the first smallest of each line, and where there is no doubt about it."""
    return first_largest(negated(values))


def dotted(
    left: Floats, right: Floats, equation: str, steps: int, precision: Precision, extra: float
) -> Floats:
    """Products of matrices, as an equation of `einsum`; operands are rounded by `extra` at most.

    Tensor cores cut digits off where they add, up to two bits more than a rounding.
    """
    if not all(one.size.isfinite().all() and not one.nan.any() for one in (left, right)):
        shape = torch.einsum(equation, torch.ones_like(left.low), torch.ones_like(right.low))
        wide = torch.full_like(shape, inf)
        return Floats(-wide, wide, torch.ones_like(wide, dtype=torch.bool))
    centers = [(one.low + one.high) / 2 for one in (left, right)]
    radii = [
        (one.high - one.low) / 2 + center.abs() * 2**-52
        for one, center in zip((left, right), centers, strict=True)
    ]
    sizes = [one.size for one in (left, right)]
    middle = torch.einsum(equation, *centers)
    total = torch.einsum(equation, *sizes)
    units = 2 if precision is DOUBLE else 4
    around = torch.einsum(equation, radii[0], sizes[1])
    around = around + torch.einsum(equation, sizes[0], radii[1])
    around = around + total * ((steps + 2) * units * precision.unit + 2 * extra)
    small = (total > 0) * steps * precision.tiny
    values = Floats(middle, middle, torch.zeros_like(middle, dtype=torch.bool))
    return anything_where(total > precision.largest / 2, moved(values, around + small))
