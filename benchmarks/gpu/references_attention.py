"""Computes attention of several heads in 64 bits, some rows of scores at a time."""

from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor

from benchmarks.gpu.rows import WINDOW

Known = Mapping[str, Tensor]
AT_ONCE = 1 << 27  # scores


def attention_references() -> Mapping[str, Callable[[Known], tuple[Tensor, ...]]]:
    """Return the reference of each kernel."""
    return {
        "attention, heads": partial(_attention, before=None, within=None),
        "attention, decoding": partial(_attention, before=None, within=None),
        "attention, grouped": partial(_attention, before=None, within=None),
        "attention, causal": partial(_attention, before=0, within=None),
        "attention, window": partial(_attention, before=0, within=WINDOW),
    }


def _attention(x: Known, *, before: int | None, within: int | None) -> tuple[Tensor, ...]:
    query, key, value = x["Q"], x["K"], x["V"]
    batches, heads, rows, size = query.shape
    share, keys = heads // key.shape[1], key.shape[2]
    result = torch.empty((*query.shape[:3], value.shape[3]), device=query.device)
    step = max(1, AT_ONCE // keys)
    places = torch.arange(keys, device=query.device)
    for batch in range(batches):
        for head in range(heads):
            columns = key[batch, head // share].double().T
            values = value[batch, head // share].double()
            for at in range(0, rows, step):
                scores = query[batch, head, at : at + step].double() @ columns / size**0.5
                if before is not None:
                    ahead = places - (at + torch.arange(len(scores), device=query.device))[:, None]
                    is_left_out = ahead > before
                    if within is not None:
                        is_left_out |= ahead <= -within
                    scores.masked_fill_(is_left_out, float("-inf"))
                result[batch, head, at : at + step] = torch.softmax(scores, -1) @ values
    return (result,)
