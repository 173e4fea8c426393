"""Lists what else computes a kernel on this machine, and what is not installed."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch
import torch.nn.functional as nn
from torch import Tensor

from benchmarks.gpu.inputs import NUMBERS, Inputs, tensors
from benchmarks.gpu.peer import Outcome, Peer, Run, Unfit
from benchmarks.gpu.peers_attention import FLEX, attention_peers
from benchmarks.gpu.peers_training import TRAINING_EAGER, TRAINING_EXTRA, TRAINING_LIBRARY
from benchmarks.gpu.references import channels_last, channels_second
from benchmarks.gpu.rows import Row

# Parts of it have no types.
_torch: Any = torch

# What has to be installed for a kind, and the module of ours that calls it.
PACKAGES = {"triton": "triton", "liger": "liger_kernel", "helion": "helion", "turned": "triton"}
MODULES = {
    "triton": "benchmarks.gpu.peers_by_hand",
    "liger": "benchmarks.gpu.peers_liger",
    "helion": "benchmarks.gpu.peers_helion",
    "turned": "benchmarks.gpu.peers_turned",
}


def peers(kernel: str, kinds: Mapping[str, str]) -> list[Peer]:
    """Return all that compute a kernel, of the kinds that are installed (`kinds_here`)."""
    found: list[Peer] = []
    if "torch" in kinds:
        found.extend(attention_peers(kernel))
    if "compile" in kinds and found:
        found.append(FLEX)
    run = EAGER.get(kernel)
    if "torch" in kinds and run:
        found.append(Peer(LIBRARY.get(kernel, "torch"), partial(_eager, run)))
        found.extend(EXTRA.get(kernel, ()))
    if "compile" in kinds and run:
        found.append(Peer("compile", partial(_compiled, run, "default")))
    if "max-autotune" in kinds and run:
        found.append(Peer("max-autotune", partial(_compiled, run, "max-autotune-no-cudagraphs")))
    for kind, module in MODULES.items():
        if kinds.get(kind, "absent") == "":
            of: Callable[[str], list[Peer]] = import_module(module).peers
            found.extend(of(kernel))
    return found


def kinds_here(chosen: tuple[str, ...]) -> dict[str, str]:
    """Return for each chosen kind of peers why there are none; an empty text if there are some."""
    return {kind: _why_not(kind) if kind in PACKAGES else "" for kind in chosen}


def _why_not(kind: str) -> str:
    """Return why there are no peers of a kind, if there are none."""
    if find_spec(PACKAGES[kind]) is None:
        return f"{PACKAGES[kind]} is not installed"
    try:
        import_module(MODULES[kind])
    except ImportError as error:  # it is for another version of torch or Triton
        return f"{PACKAGES[kind]} cannot be imported: {error}"
    return ""


def _eager(run: Callable[..., Outcome], _: Row, given: Inputs) -> Run:
    return partial(run, **tensors(given))


def _compiled(run: Callable[..., Outcome], mode: str, _: Row, given: Inputs) -> Run:
    # Each shape by itself: a peer is not made slower by what was compiled before it.
    compiled: Callable[..., Outcome] = _torch.compile(run, dynamic=False, mode=mode)
    return partial(compiled, **tensors(given))


def _dyt(X: Tensor, gamma: Tensor, beta: Tensor) -> Tensor:
    return gamma * torch.tanh(NUMBERS["alpha"] * X) + beta


def _geglu(A: Tensor, B: Tensor) -> Tensor:
    return nn.gelu(A, approximate="tanh") * B


def _swiglu(A: Tensor, B: Tensor) -> Tensor:
    return nn.silu(A) * B


def _tvd(P: Tensor, Q: Tensor) -> Tensor:
    return 0.5 * (P - Q).abs().sum(-1).mean()


def _kl_div(Y: Tensor, T: Tensor) -> Tensor:
    return nn.kl_div(Y, T, reduction="batchmean")


def _rms_norm(X: Tensor, W: Tensor) -> Tensor:
    return nn.rms_norm(X, W.shape, W, NUMBERS["eps"])


def _layer_norm(X: Tensor, W: Tensor, B: Tensor) -> Tensor:
    return nn.layer_norm(X, W.shape, W, B, NUMBERS["eps"])


def _softmax(A: Tensor) -> Tensor:
    return torch.softmax(A, -1)


def _cross_entropy(L: Tensor, T: Tensor) -> Tensor:
    return nn.cross_entropy(L, T)


def _sum(A: Tensor) -> Tensor:
    return A.sum()


def _sum_rows(A: Tensor) -> Tensor:
    return A.sum(1)


def _sum_columns(A: Tensor) -> Tensor:
    return A.sum(0)


def _matmul(A: Tensor, B: Tensor) -> Tensor:
    return torch.matmul(A, B)


def _mmsigmoid(A: Tensor, B: Tensor) -> Tensor:
    return torch.sigmoid(A @ B)


def _two_mm(A: Tensor, B: Tensor, C: Tensor) -> Tensor:
    return A @ B @ C


def _attention(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    return torch.softmax(Q @ K.T / K.shape[1] ** 0.5, -1) @ V


def _conv2d(A: Tensor, W: Tensor) -> Tensor:
    return channels_last(nn.conv2d(channels_second(A), channels_second(W)))


EAGER: Mapping[str, Callable[..., Outcome]] = {
    **TRAINING_EAGER,
    "dyt": _dyt,
    "geglu": _geglu,
    "swiglu": _swiglu,
    "tvd": _tvd,
    "kl_div": _kl_div,
    "rms_norm": _rms_norm,
    "layer_norm": _layer_norm,
    "softmax": _softmax,
    "cross_entropy": _cross_entropy,
    "sum": _sum,
    "sum of rows": _sum_rows,
    "sum of columns": _sum_columns,
    "matmul": _matmul,
    "batched matmul": _matmul,
    "mmsigmoid": _mmsigmoid,
    "2mm, inner fusion": _two_mm,
    "2mm, outer fusion": _two_mm,
    "attention": _attention,
    "conv2d": _conv2d,
}
# What torch calls for a kernel, where that has a name.
LIBRARY = {
    **TRAINING_LIBRARY,
    "matmul": "cuBLAS",
    "batched matmul": "cuBLAS",
    "conv2d": "cuDNN, channels last",
}


def _sdpa(_: Row, given: Inputs) -> Run:
    query, key, value = (one[None, None] for one in tensors(given).values())

    def run() -> Tensor:
        return nn.scaled_dot_product_attention(query, key, value)[0, 0]

    return run


def _padded(row: Row, given: Inputs) -> Run:
    """Copies whose sides tensor cores like; they are made anew in each run, as a user would."""
    known = tensors(given)
    more = {label: -row.sizes[label] % 64 for label in "mnk"}
    if not any(more.values()):
        raise Unfit("no side has to be padded")

    def run() -> Tensor:
        left = nn.pad(known["A"], (0, more["k"], 0, more["m"]))
        right = nn.pad(known["B"], (0, more["n"], 0, more["k"]))
        return (left @ right)[: row.sizes["m"], : row.sizes["n"]]

    return run


EXTRA: Mapping[str, tuple[Peer, ...]] = {
    **TRAINING_EXTRA,
    "attention": (Peer("SDPA", _sdpa),),
    "matmul": (Peer("cuBLAS, padded copies", _padded),),
}


def set_precision(row: Row) -> None:
    """Tell torch's libraries what they may round, as the row says."""
    torch.set_float32_matmul_precision("high" if row.dtype == "tf32" else "highest")
