"""Calls Liger's kernels as their users do."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from benchmarks.gpu.inputs import NUMBERS, Inputs, tensors
from benchmarks.gpu.peers import Peer, Run
from benchmarks.gpu.rows import Row

# Liger has no types to check against.
liger: Any = import_module("liger_kernel.transformers.functional")


def peers(kernel: str) -> list[Peer]:
    """Return the one of a kernel, if Liger has it."""
    return [Peer("Liger", partial(_made, CALLS[kernel]))] if kernel in CALLS else []


def _made(call: Callable[..., Tensor], _: Row, given: Inputs) -> Run:
    known = tensors(given)
    if "alpha" in given:  # a parameter of one element
        known["alpha"] = torch.full((1,), NUMBERS["alpha"], device=known["X"].device)
    return partial(call, known)


CALLS: Mapping[str, Callable[[Mapping[str, Tensor]], Tensor]] = {
    "dyt": lambda x: liger.liger_dyt(x["X"], x["alpha"], x["gamma"], x["beta"]),
    "geglu": lambda x: liger.liger_geglu(x["A"], x["B"]),
    "swiglu": lambda x: liger.liger_swiglu(x["A"], x["B"]),
    "tvd": lambda x: liger.liger_tvd(x["P"], x["Q"], reduction="batchmean"),
    "kl_div": lambda x: liger.liger_kl_div(x["Y"], x["T"], reduction="batchmean"),
    "rms_norm": lambda x: liger.liger_rms_norm(x["X"], x["W"], NUMBERS["eps"]),
    "layer_norm": lambda x: liger.liger_layer_norm(x["X"], x["W"], x["B"], NUMBERS["eps"]),
    "softmax": lambda x: liger.liger_softmax(x["A"]),
    "cross_entropy": lambda x: liger.liger_cross_entropy(x["L"], x["T"]),
}
