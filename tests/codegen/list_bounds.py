"""Bounds of what stands at the places of lists, of values that are known up to roundings."""

from math import inf

import torch

from tests.codegen.exact import Exact
from tests.codegen.floats import Floats

Tensor = torch.Tensor
NOWHERE = 2**63 - 1


def values_in(lines: Floats, count: int) -> Floats:
    """Return the values at each place of lists of the last axis; anything where NaN may be."""
    low, high = (_filled(_sorted(part), count, -inf) for part in (lines.low, lines.high))
    doubt = lines.nan.any(-1, keepdim=True)
    return Floats(
        torch.where(doubt, -inf, low), torch.where(doubt, inf, high), doubt.expand(low.shape)
    )


def _sorted(part: Tensor) -> Tensor:
    return part.sort(dim=-1, descending=True)[0]


def _filled(part: Tensor, count: int, value: float) -> Tensor:
    more = part.new_full((*part.shape[:-1], count), value)
    return torch.cat((part, more), -1)[..., :count]


def indices_in(lines: Floats, count: int, *, is_cut: bool) -> Exact:
    """Return the indices at each place, and where there is no doubt about them.

    If lines are cut by a range, the least value may stand for nothing.
    """
    values, order = lines.low.sort(dim=-1, descending=True, stable=True)
    above = lines.high.gather(-1, order)
    behind = above.flip(-1).cummax(-1)[0].flip(-1) if above.shape[-1] else above
    behind = torch.cat((behind[..., 1:], behind.new_full((*behind.shape[:-1], 1), -inf)), -1)
    apart = (values > behind[..., : values.shape[-1]]) | (values == -inf)
    exact = (lines.low == lines.high).all(-1, keepdim=True) & (not is_cut)
    sure = (apart.cumprod(-1).bool() & (values > -inf)) | exact
    sure = sure & ~lines.nan.any(-1, keepdim=True)
    certain = sure.all(-1, keepdim=True)
    known = torch.cat((sure, certain.expand((*sure.shape[:-1], count))), -1)[..., :count]
    return Exact(_filled(order, count, NOWHERE), known)


def of_wholes(line: Exact, count: int, *, is_index: bool, is_cut: bool) -> Exact:
    """Return what stands at each place of lists of whole numbers."""
    values, order = line.tensor.sort(dim=-1, descending=True, stable=True)
    least = torch.iinfo(values.dtype).min
    found = _filled(order, count, NOWHERE) if is_index else _filled(values, count, least)
    known = line.known.all(-1, keepdim=True).expand(found.shape)
    if is_cut and is_index:
        known = known & (_filled(values, count, least) > least)
    return Exact(found, known)
