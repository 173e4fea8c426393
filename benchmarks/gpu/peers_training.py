"""Calls what torch has for kernels of training and of quantised weights."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
import torch.nn.functional as nn
from torch import Tensor

from benchmarks.gpu.inputs import NUMBERS, STEP, Inputs, tensors
from benchmarks.gpu.peer import Outcome, Peer, Run
from benchmarks.gpu.references_training import (
    BEST,
    EXPERTS,
    weights_of_halves,
    weights_of_pairs,
)
from benchmarks.gpu.rows import FLOOR, Row

# Parts of it have no types.
_torch: Any = torch
_aten: Any = torch.ops.aten


def _add_rms_norm(X: Tensor, R: Tensor, W: Tensor) -> Outcome:
    summed = X + R
    wide = summed.float()
    rstd = torch.rsqrt(wide.square().mean(-1) + NUMBERS["eps"])
    return (wide * rstd[:, None] * W).to(X.dtype), summed, rstd.to(X.dtype)


def _forward(X: Tensor, W: Tensor, B: Tensor) -> Outcome:
    normed, mean, rstd = _torch.native_layer_norm(X, W.shape, W, B, NUMBERS["eps"])
    return normed, mean[:, 0], rstd[:, 0]


def _backward(D: Tensor, X: Tensor, W: Tensor, mean: Tensor, rstd: Tensor) -> Outcome:
    wide = D.float()
    hat = (X.float() - mean[:, None]) * rstd[:, None]
    scaled = wide * W
    along, level = (scaled * hat).mean(-1, keepdim=True), scaled.mean(-1, keepdim=True)
    dx = (scaled - hat * along - level) * rstd[:, None]
    dw, db = (wide * hat).sum(0), wide.sum(0)
    return dx.to(X.dtype), dw.to(W.dtype), db.to(W.dtype)


def _native_backward(_: Row, given: Inputs) -> Run:
    known = tensors(given)
    # A GPU has them in 32 bits, the CPU in the type of the rest.
    kind = torch.float32 if known["X"].is_cuda else known["X"].dtype
    mean, rstd = (known[name].to(kind)[:, None] for name in ("mean", "rstd"))
    shape, flags = list(known["W"].shape), [True, True, True]
    return partial(
        _aten.native_layer_norm_backward,
        *(known["D"], known["X"], shape, mean, rstd, known["W"], known["W"], flags),
    )


def _adam(P: Tensor, G: Tensor, M: Tensor, V: Tensor) -> Outcome:
    number = NUMBERS
    M.copy_(number["beta1"] * M + (1 - number["beta1"]) * G)
    V.copy_(number["beta2"] * V + (1 - number["beta2"]) * G * G)
    step = (M / number["c"]) / (torch.sqrt(V / number["d"]) + number["eps"])
    P.copy_(P - number["rate"] * step)
    return P, M, V


def _adam_fused(_: Row, given: Inputs) -> Run:
    known = tensors(given)
    steps = torch.full((), float(STEP), device=known["P"].device)
    options = {
        "lr": NUMBERS["rate"],
        "beta1": NUMBERS["beta1"],
        "beta2": NUMBERS["beta2"],
        "eps": NUMBERS["eps"],
    }

    def run() -> Outcome:
        _torch._fused_adam_(
            *([known[name]] for name in "PGMV"),
            [],
            [steps],
            **options,
            weight_decay=0.0,
            amsgrad=False,
            maximize=False,
        )
        return known["P"], known["M"], known["V"]

    return run


def _quantized(A: Tensor) -> Outcome:
    wide = A.float()
    largest = wide.abs().amax(-1)
    scale = torch.where(largest > 0, largest / 127, 1.0).to(A.dtype)
    steps = torch.floor(wide / scale[:, None].float() + 0.5)
    return steps.clamp(-127, 127).to(torch.int8), scale


def _product(unpacked: Callable[[Tensor], Tensor], A: Tensor, W: Tensor, S: Tensor) -> Outcome:
    weights = unpacked(W).to(A.dtype).view(W.shape[0], -1, 128) * S[:, :, None]
    return A @ weights.view(W.shape[0], -1).T


def _ready_product(unpacked: Callable[[Tensor], Tensor], _: Row, given: Inputs) -> Run:
    """A product with weights that have 16 bits already: no peer, but a floor for large m."""
    known = tensors(given)
    weights = unpacked(known["W"]).to(known["A"].dtype).view(len(known["W"]), -1, 128)
    whole = (weights * known["S"][:, :, None]).view(len(known["W"]), -1)
    return lambda: known["A"] @ whole.T


def _grouped(
    X: Tensor, W: Tensor, C: Tensor, rows: Tensor, expert: Tensor, ends: Tensor
) -> Outcome:
    del C, rows, expert  # it has a result of its own, of rows that are sorted
    product: Tensor = _torch._grouped_mm(X, W, offs=ends)
    return product


def _by_expert(_: Row, given: Inputs) -> Run:
    """A product for each expert; where its rows end is known to the host."""
    known = tensors(given)
    ends: list[int] = known["ends"].cpu().numpy().tolist()
    starts = [0, *ends[:-1]]

    def run() -> Outcome:
        for weights, start, end in zip(known["W"], starts, ends, strict=True):
            torch.mm(known["X"][start:end], weights, out=known["C"][start:end])
        return known["C"]

    return run


def _gate(L: Tensor) -> Outcome:
    best, expert = torch.topk(torch.softmax(L, -1, dtype=torch.float32), EXPERTS)
    return (best / best.sum(-1, keepdim=True)).to(L.dtype), expert


def _gate_of_logits(_: Row, given: Inputs) -> Run:
    logits = tensors(given)["L"]

    def run() -> Outcome:
        best, expert = torch.topk(logits, EXPERTS)
        return torch.softmax(best, -1), expert

    return run


def _top(A: Tensor) -> Outcome:
    value, index = torch.topk(A, BEST)
    return value, index


def _embedding(E: Tensor, T: Tensor) -> Outcome:
    return nn.embedding(T, E)


def _sums(A: Tensor) -> Outcome:
    return torch.cumsum(A, -1)


def _dropout(A: Tensor) -> Outcome:
    return nn.dropout(A, NUMBERS["p"])


def _log_sum_exp(A: Tensor) -> Outcome:
    return torch.logsumexp(A, -1)


_pairs = partial(_product, weights_of_pairs)
_halves = partial(_product, weights_of_halves)
READY = f"{FLOOR}cuBLAS, weights unpacked before"

TRAINING_EAGER: Mapping[str, Callable[..., Outcome]] = {
    "add + rms_norm": _add_rms_norm,
    "layer_norm forward": _forward,
    "layer_norm backward": _backward,
    "adam in place": _adam,
    "embedding": _embedding,
    "scan of rows": _sums,
    "scan of long rows": _sums,
    "quantize rows": _quantized,
    "w4a16, pairs": _pairs,
    "w4a16, halves": _halves,
    "grouped matmul": _grouped,
    "top 8": _top,
    "moe gate": _gate,
    "dropout": _dropout,
    "log_sum_exp": _log_sum_exp,
}
TRAINING_LIBRARY = {
    "layer_norm forward": "native_layer_norm",
    "grouped matmul": "torch._grouped_mm",
}
TRAINING_EXTRA: Mapping[str, tuple[Peer, ...]] = {
    "layer_norm backward": (Peer("native_layer_norm_backward", _native_backward),),
    "adam in place": (Peer("fused Adam", _adam_fused),),
    "w4a16, pairs": (Peer(READY, partial(_ready_product, weights_of_pairs)),),
    "w4a16, halves": (Peer(READY, partial(_ready_product, weights_of_halves)),),
    "grouped matmul": (Peer("torch, expert by expert", _by_expert),),
    "moe gate": (Peer("torch, of logits", _gate_of_logits),),
}
