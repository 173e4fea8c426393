"""Calls the ways in which torch computes attention of several heads."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
import torch.nn.functional as nn
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from benchmarks.gpu.inputs import Inputs, tensors
from benchmarks.gpu.peer import Outcome, Peer, Run, Unfit
from benchmarks.gpu.rows import WINDOW, Row

# Parts of it have no types.
_torch: Any = torch
CAUSAL, GROUPED, WINDOWED = "attention, causal", "attention, grouped", "attention, window"
# The heads of a group are rows of one attention for the peers, too: that is their fastest way.
DECODING = "attention, decoding"
BACKENDS = {
    "SDPA, cuDNN": SDPBackend.CUDNN_ATTENTION,
    "SDPA, flash": SDPBackend.FLASH_ATTENTION,
    "SDPA, efficient": SDPBackend.EFFICIENT_ATTENTION,
}
LARGEST = 1 << 31  # scores in memory


def is_within(query: Tensor, key: Tensor) -> Tensor:
    """Return whether a key is one of the last ones up to a query."""
    return (key <= query) & (key > query - WINDOW)


def _eager(kernel: str, Q: Tensor, K: Tensor, V: Tensor) -> Outcome:
    """Attention with its scores in memory."""
    share = Q.shape[1] // K.shape[1]
    keys, values = (one.repeat_interleave(share, 1) for one in (K, V))
    scores = Q @ keys.transpose(-1, -2) * Q.shape[-1] ** -0.5
    if kernel in (CAUSAL, WINDOWED):
        place = torch.arange(Q.shape[2], device=Q.device)
        seen = place[None, :] <= place[:, None]
        if kernel == WINDOWED:
            seen = is_within(place[:, None], place[None, :])
        scores = scores.masked_fill(~seen, float("-inf"))
    return torch.softmax(scores, -1) @ values


def _sdpa(name: str, row: Row, given: Inputs) -> Run:
    known = tensors(given)
    mask = None
    if row.kernel == WINDOWED:
        if name != "SDPA, efficient":
            raise Unfit("it takes no mask")
        place = torch.arange(row.sizes["m"], device=known["Q"].device)
        mask = is_within(place[:, None], place[None, :])
    # A CPU has not all of them; there, it is only seen that the call is right.
    backend = BACKENDS[name] if known["Q"].is_cuda else SDPBackend.MATH

    def run() -> Outcome:
        with sdpa_kernel(backend):
            return nn.scaled_dot_product_attention(
                *(known["Q"], known["K"], known["V"]),
                attn_mask=mask,
                is_causal=row.kernel == CAUSAL,
                enable_gqa=row.kernel == GROUPED,
            )

    return run


def _apart(name: str, row: Row, given: Inputs) -> Run:
    """Attention of one query of each head; heads of a group share keys, as the call says."""
    known = tensors(given)
    sizes = row.sizes
    query = known["Q"].reshape(sizes["b"], sizes["h"] * sizes["g"], 1, sizes["k"])
    backend = BACKENDS[name] if query.is_cuda else SDPBackend.MATH

    def run() -> Outcome:
        with sdpa_kernel(backend):
            found = nn.scaled_dot_product_attention(
                query, known["K"], known["V"], enable_gqa=sizes["g"] > 1
            )
        return found.reshape(known["Q"].shape)

    return run


def _causal(_: Tensor, __: Tensor, query: Tensor, key: Tensor) -> Tensor:
    """Return what is seen of a batch and a head: the same in all."""
    return key <= query


def _windowed(_: Tensor, __: Tensor, query: Tensor, key: Tensor) -> Tensor:
    return is_within(query, key)


MASKS: Mapping[str, Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]] = {
    CAUSAL: _causal,
    WINDOWED: _windowed,
}


def _flex(row: Row, given: Inputs) -> Run:
    """FlexAttention, compiled; whole blocks that are masked are left out."""
    # Importing it loads torch's compiler, which takes seconds.
    from torch.nn.attention.flex_attention import (
        create_block_mask,
        flex_attention,
    )

    known = tensors(given)
    device = known["Q"].device
    if device.type == "cpu":
        raise Unfit("torch's compiler takes long for it on a CPU")
    mask = None
    if row.kernel in MASKS:
        sizes = row.sizes["m"], row.sizes["l"]
        mask = create_block_mask(MASKS[row.kernel], None, None, *sizes, device=str(device))
    compiled: Callable[..., Tensor] = _torch.compile(flex_attention, dynamic=False)
    return partial(
        compiled,
        *(known["Q"], known["K"], known["V"]),
        block_mask=mask,
        enable_gqa=row.kernel == GROUPED,
    )


def _in_memory(row: Row, given: Inputs) -> Run:
    sizes = row.sizes
    rows = sizes["g" if row.kernel == DECODING else "m"]
    if sizes["b"] * sizes["h"] * rows * sizes["l"] > LARGEST:
        raise Unfit("its scores take too much memory")
    return partial(_eager, row.kernel, **tensors(given))


def attention_peers(kernel: str) -> list[Peer]:
    """Return those of a kernel; none of other kernels."""
    if kernel not in KERNELS:
        return []
    found = [
        Peer("torch", _in_memory),
        *(Peer(name, partial(_sdpa, name)) for name in BACKENDS),
    ]
    if kernel == DECODING:
        found += [Peer(f"{name}, heads apart", partial(_apart, name)) for name in BACKENDS]
    return found


KERNELS = ("attention, heads", CAUSAL, GROUPED, WINDOWED, DECODING)
FLEX = Peer("FlexAttention", _flex)
