"""Calls Liger's kernels as their users do."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from benchmarks.gpu.inputs import NUMBERS, Inputs, tensors
from benchmarks.gpu.peer import Outcome, Peer, Run
from benchmarks.gpu.rows import Row

# Liger has no types to check against.
liger: Any = import_module("liger_kernel.transformers.functional")
norms: Any = import_module("liger_kernel.ops.layer_norm")


def peers(kernel: str) -> list[Peer]:
    """Return the one of a kernel, if Liger has it."""
    return [Peer("Liger", partial(_made, CALLS[kernel]))] if kernel in CALLS else []


def _made(call: Callable[..., Outcome], _: Row, given: Inputs) -> Run:
    known = tensors(given)
    if "alpha" in given:  # a parameter of one element
        known["alpha"] = torch.full((1,), NUMBERS["alpha"], device=known["X"].device)
    # It keeps these in 32 bits, whatever the rest has.
    known.update({name: known[name].float() for name in ("mean", "rstd") if name in known})
    return partial(call, known)


def _added(x: Mapping[str, Tensor]) -> Outcome:
    normed, summed = liger.liger_fused_add_rms_norm(x["X"], x["R"], x["W"], NUMBERS["eps"])
    return normed, summed, None  # it keeps the inverse deviation to itself


def _forward(x: Mapping[str, Tensor]) -> Outcome:
    made = norms.layer_norm_forward(x["X"], x["W"], x["B"], NUMBERS["eps"])
    normed, mean, rstd = made[0], made[2], made[3]
    return normed, mean, rstd


def _backward(x: Mapping[str, Tensor]) -> Outcome:
    # The bias is not read; its gradient has the type that it has.
    dx, dw, db = norms.layer_norm_backward(x["D"], x["X"], x["W"], x["W"], x["mean"], x["rstd"])
    return dx, dw, db


CALLS: Mapping[str, Callable[[Mapping[str, Tensor]], Outcome]] = {
    "dyt": lambda x: liger.liger_dyt(x["X"], x["alpha"], x["gamma"], x["beta"]),
    "geglu": lambda x: liger.liger_geglu(x["A"], x["B"]),
    "swiglu": lambda x: liger.liger_swiglu(x["A"], x["B"]),
    "tvd": lambda x: liger.liger_tvd(x["P"], x["Q"], reduction="batchmean"),
    "kl_div": lambda x: liger.liger_kl_div(x["Y"], x["T"], reduction="batchmean"),
    "rms_norm": lambda x: liger.liger_rms_norm(x["X"], x["W"], NUMBERS["eps"]),
    "layer_norm": lambda x: liger.liger_layer_norm(x["X"], x["W"], x["B"], NUMBERS["eps"]),
    "add + rms_norm": _added,
    "layer_norm forward": _forward,
    "layer_norm backward": _backward,
    "softmax": lambda x: liger.liger_softmax(x["A"]),
    "cross_entropy": lambda x: liger.liger_cross_entropy(x["L"], x["T"]),
}
