"""Defines functions for translated algorithms where torch has none of that kind."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as nn
from torch import Tensor

from dtpoly.reference import philox

Number = int | float | bool
# Parts of it have no types.
_torch: Any = torch


def call(name: str, *operands: Tensor | Number) -> Tensor | Number:
    """Call a function of torch, also where all operands are numbers: then it is one of these."""
    function: Callable[..., Tensor] = getattr(_torch, name)
    if any(isinstance(one, Tensor) for one in operands):
        return function(*operands)
    found = function(*(torch.as_tensor(one, dtype=torch.float64) for one in operands))
    return float(found.item())


def largest(left: Tensor | Number, right: Tensor | Number) -> Tensor | Number:
    """Return the larger of two, of which one may be a number."""
    return _either(torch.maximum, torch.clamp_min, max, left, right)


def smallest(left: Tensor | Number, right: Tensor | Number) -> Tensor | Number:
    """Return the smaller of two, of which one may be a number."""
    return _either(torch.minimum, torch.clamp_max, min, left, right)


def _either(
    both: Callable[[Tensor, Tensor], Tensor],
    one: Callable[..., Tensor],
    none: Callable[..., Number],
    left: Tensor | Number,
    right: Tensor | Number,
) -> Tensor | Number:
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        return both(left, right)
    if isinstance(left, Tensor):
        return one(left, right)
    return one(right, left) if isinstance(right, Tensor) else none(left, right)


def drawn(
    is_bits: bool, device: str, seed: Tensor | int, first: Tensor | int, second: Tensor | int
) -> Tensor:
    """Return the language's random numbers of a seed and two numbers."""
    given = [torch.as_tensor(one, device=device).long() for one in (seed, first, second)]
    given = list(_torch.broadcast_tensors(*given))
    return philox.random_bits(*given) if is_bits else philox.random(*given)


def windows(
    tensor: Tensor,
    starts: Sequence[int],
    axes: Sequence[Sequence[tuple[int, int]]],
    pads: Sequence[int],
    value: float,
) -> Tensor:
    """Return a view that begins at a place of each axis, and has up to two axes for each.

    Each has a size and a factor; the second one of each axis comes at the end. Before, the tensor
    gets so many elements of a value around it, if any are asked for.
    """
    if any(pads):
        tensor = nn.pad(tensor, list(pads), value=value)
    axis = 0
    for start, terms in zip(starts, axes, strict=True):
        if not terms:
            tensor = tensor.select(axis, start)
            continue
        (count, factor), *others = terms
        length, step = (others[0][0] - 1) * others[0][1] + 1 if others else 1, factor
        tensor = tensor.narrow(axis, start, (count - 1) * step + length)
        if others:
            tensor = tensor.unfold(axis, length, step)[..., :: others[0][1]]
        elif step > 1:
            tensor = tensor[(*[slice(None)] * axis, slice(None, None, step))]
        axis += 1
    return tensor


def gathered(
    tensor: Tensor, places: Sequence[Tensor], value: float, is_inside: bool = False
) -> Tensor:
    """Return the elements at places, and a value where a place is outside of the tensor."""
    if is_inside:
        return tensor[tuple(places)]
    inside = torch.ones((), dtype=torch.bool, device=tensor.device)
    for place, extent in zip(places, tensor.shape, strict=True):
        inside = inside & (place >= 0) & (place < extent)
    near = [place.clamp(0, n - 1) for place, n in zip(places, tensor.shape, strict=True)]
    return torch.where(inside, tensor[tuple(near)], value)


def dot(equation: str, left: Tensor, right: Tensor) -> Tensor:
    """Return a product of two tensors in the type that both have in common."""
    kind = torch.promote_types(left.dtype, right.dtype)
    found: Tensor = _torch.einsum(equation, left.to(kind), right.to(kind))
    return found


def product(tensor: Tensor, axes: Sequence[int]) -> Tensor:
    """Multiply along several axes."""
    for axis in sorted(axes, reverse=True):
        tensor = tensor.prod(axis)
    return tensor


def scanned(kind: str, tensor: Tensor, axis: int, is_before: bool, is_reverse: bool) -> Tensor:
    """Return a scan along an axis."""
    tensor = tensor.flip(axis) if is_reverse else tensor
    neutral = {"rsum": 0.0, "rprod": 1.0, "rmax": float("-inf"), "rmin": float("inf")}[kind]
    match kind:
        case "rsum":
            tensor = tensor.cumsum(axis)
        case "rprod":
            tensor = tensor.cumprod(axis)
        case "rmax":
            tensor = tensor.cummax(axis).values
        case _:
            tensor = tensor.cummin(axis).values
    if is_before:
        tensor = _later(tensor, axis, 1, neutral)
    return tensor.flip(axis) if is_reverse else tensor


def _later(tensor: Tensor, axis: int, steps: int, value: float) -> Tensor:
    """Return a tensor whose elements stand so many places later; the first ones are a value."""
    kept = tensor.narrow(axis, 0, tensor.shape[axis] - steps)
    first = torch.full_like(tensor.narrow(axis, 0, steps), value)
    return torch.cat((first, kept), axis)


def recurrence(
    factor: Tensor, added: Tensor, first: Tensor, axis: int, is_before: bool, is_reverse: bool
) -> Tensor:
    """Return all states of h = factor * h + added, by steps that double what is joined.

    `first` has the axis, too, with a single index.
    """
    factor, added = _torch.broadcast_tensors(factor, added)
    if is_reverse:
        factor, added = factor.flip(axis), added.flip(axis)
    step = 1
    while step < added.shape[axis]:
        added = factor * _later(added, axis, step, 0.0) + added
        factor = factor * _later(factor, axis, step, 1.0)
        step *= 2
    found = factor * first + added
    if is_before:
        start = first.expand_as(found.narrow(axis, 0, 1))
        found = torch.cat((start, found.narrow(axis, 0, found.shape[axis] - 1)), axis)
    return found.flip(axis) if is_reverse else found


def put(tensor: Tensor, places: Sequence[Tensor], value: Tensor, is_added: bool) -> Tensor:
    """Write elements to places of a tensor, which must be inside, or add them there."""
    value = value.to(tensor.dtype)
    wide = _torch.broadcast_shapes(*(one.shape for one in places), value.shape)
    given = [one.expand(wide) for one in places]
    return tensor.index_put_(tuple(given), value.expand(wide), accumulate=is_added)
