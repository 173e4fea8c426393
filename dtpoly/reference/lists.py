"""Computes lists: the largest values along a label with their indices, by torch's stable sort."""

from collections.abc import Mapping

import torch

from dtpoly.reference.labelled_values import TabulatedValue, labels_of, spread

Tensor = torch.Tensor

# The index of a place that holds no value. It is larger than any other one.
NOWHERE = 2**63 - 1


def listed(
    operand: TabulatedValue,
    label: str,
    place: TabulatedValue,
    sizes: Mapping[str, int],
    taken: TabulatedValue | None,
    *,
    is_index: bool,
) -> TabulatedValue:
    """Return the value, or its index, that stands at a place of the list of the largest.

    NaN is first, and of equal values the one with the smaller index. Only what is taken counts, if
    that is not all. A place after the last one holds the least value that there is.
    """
    every = labels_of((operand, taken) if taken else (operand,))
    kept = tuple(one for one in every if one != label)
    values = spread(operand, (*kept, label), sizes)
    is_taken = torch.ones_like(values, dtype=torch.bool)
    if taken is not None:
        is_taken = spread(taken, (*kept, label), sizes)
    values, order = _in_order(values, is_taken)
    both = labels_of((TabulatedValue(values[..., 0], kept), place))
    held = TabulatedValue(order if is_index else values, (*kept, label))
    lists = spread(held, (*(one for one in both if one != label), label), sizes)
    at = spread(place, both, sizes).clamp(0, lists.shape[-1] - 1).unsqueeze(-1)
    return TabulatedValue(lists.gather(-1, at).squeeze(-1), both)


def _in_order(values: Tensor, taken: Tensor) -> tuple[Tensor, Tensor]:
    """Sort the last axis, with what is not taken and many places of nothing behind it."""
    least = float("-inf") if values.is_floating_point() else torch.iinfo(values.dtype).min
    values, order = values.sort(dim=-1, descending=True, stable=True)
    is_left = taken.gather(-1, order)
    _, first = is_left.logical_not().to(torch.uint8).sort(dim=-1, stable=True)
    values, order, is_left = (one.gather(-1, first) for one in (values, order, is_left))
    values = values.masked_fill(~is_left, least)
    order = order.masked_fill(~is_left, NOWHERE)
    shape = (*values.shape[:-1], 64)
    nothing = values.new_full(shape, least), order.new_full(shape, NOWHERE)
    return torch.cat((values, nothing[0]), -1), torch.cat((order, nothing[1]), -1)
