"""Computes in 64 bits what a kernel should give, and how far a result is off."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as nn
from torch import Tensor

from benchmarks.gpu.inputs import NUMBERS, Inputs, tensors
from benchmarks.gpu.peer import Outcome, several
from benchmarks.gpu.references_attention import attention_references
from benchmarks.gpu.references_training import training_references
from benchmarks.gpu.rows import HEADS, Row

# So many elements at a time, so that 64 bits of everything fit.
AT_ONCE = 1 << 26

# Which inputs are cut along their first dimension, as the result is; others are given whole.
CUT: Mapping[str, tuple[str, ...]] = {
    "dyt": ("X",),
    "geglu": ("A", "B"),
    "swiglu": ("A", "B"),
    "tvd": ("P", "Q"),
    "kl_div": ("Y", "T"),
    "rms_norm": ("X",),
    "layer_norm": ("X",),
    "softmax": ("A",),
    "cross_entropy": ("L", "T"),
    "sum": (),
    "sum of rows": ("A",),
    "sum of columns": (),
    "matmul": ("A",),
    "batched matmul": ("A", "B"),
    "mmsigmoid": ("A",),
    "2mm, inner fusion": ("A",),
    "2mm, outer fusion": ("A",),
    "attention": ("Q",),
    "conv2d": ("A",),
}
# Those that are computed at once, from all inputs, and may have several results.
WHOLE = {**training_references(), **attention_references()}
# Their pieces give one number a row, and the result is the mean of all.
MEANS = ("tvd", "kl_div", "cross_entropy")

# Of the size of the results: what rounding of this dtype, also between two steps, may cost.
TOLERANCE = {"f16": 6e-3, "bf16": 4e-2, "f32": 1e-4, "tf32": 1e-2}
# Results of attention are means of many values, which cancel; what rounded weights cost does not.
OF_MEANS = {"f16": 2e-2, "bf16": 1e-1}
# Where all comes to one number, rounding cancels, and a row or a tile that is left out is little.
OF_ONE = {"f16": 1e-3, "bf16": 3e-3, "f32": 1e-5, "tf32": 1e-3}


@dataclass(frozen=True, slots=True)
class Off:
    """The distance of a result from the right one, and how large it may be."""

    error: float
    allowed: float
    why: str = ""

    @property
    def is_wrong(self) -> bool:
        """NaN is never right."""
        return bool(self.why) or not self.error <= self.allowed


def reference(row: Row, given: Inputs) -> Tensor | tuple[Tensor, ...]:
    """Return the result, or several, in 32 bits, computed in 64."""
    if row.kernel in WHOLE:
        return tuple(one.float() for one in WHOLE[row.kernel](tensors(given)))
    known, cut = tensors(given), CUT[row.kernel]
    whole = {name: value for name, value in known.items() if name not in cut}
    if not cut:
        return _computed(row.kernel, _wide(known)).float()
    rows = known[cut[0]].shape[0]
    largest = max(known[name].numel() for name in cut)
    step = max(1, min(rows, rows * AT_ONCE // max(largest, 1)))
    whole = _wide(whole)
    pieces: list[Tensor] = []
    for at in range(0, rows, step):
        piece = _wide({name: known[name][at : at + step] for name in cut})
        pieces.append(_computed(row.kernel, {**whole, **piece}).float())
    result = torch.cat(pieces)
    return result.double().mean().float() if row.kernel in MEANS else result


def _wide(known: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {n: value.double() if value.is_floating_point() else value for n, value in known.items()}


def _computed(kernel: str, x: Mapping[str, Tensor]) -> Tensor:  # noqa: C901  # one case for each kernel
    match kernel:
        case "dyt":
            return x["gamma"] * torch.tanh(NUMBERS["alpha"] * x["X"]) + x["beta"]
        case "geglu":
            return nn.gelu(x["A"], approximate="tanh") * x["B"]
        case "swiglu":
            return nn.silu(x["A"]) * x["B"]
        case "tvd":
            return 0.5 * (x["P"] - x["Q"]).abs().sum(-1)
        case "kl_div":
            return (torch.xlogy(x["T"], x["T"]) - x["T"] * x["Y"]).sum(-1)
        case "rms_norm":
            return nn.rms_norm(x["X"], x["W"].shape, x["W"], NUMBERS["eps"])
        case "layer_norm":
            return nn.layer_norm(x["X"], x["W"].shape, x["W"], x["B"], NUMBERS["eps"])
        case "softmax":
            return torch.softmax(x["A"], -1)
        case "cross_entropy":
            return nn.cross_entropy(x["L"], x["T"], reduction="none")
        case "sum":
            return x["A"].sum()
        case "sum of rows":
            return x["A"].sum(1)
        case "sum of columns":
            return x["A"].sum(0)
        case "matmul" | "batched matmul":
            return x["A"] @ x["B"]
        case "mmsigmoid":
            return torch.sigmoid(x["A"] @ x["B"])
        case "2mm, inner fusion" | "2mm, outer fusion":
            return x["A"] @ x["B"] @ x["C"]
        case "attention":
            scores = x["Q"] @ x["K"].T / x["K"].shape[1] ** 0.5
            return torch.softmax(scores, -1) @ x["V"]
        case "conv2d":
            # Not every library has 64 bits with channels last.
            pictures, filters = (channels_second(x[name]).contiguous() for name in "AW")
            return channels_last(nn.conv2d(pictures, filters))
        case _:
            raise LookupError(f"there is no reference for '{kernel}'")


def channels_second(tensor: Tensor) -> Tensor:
    """Put the channels second, as torch counts dimensions, where memory has them last."""
    return tensor.permute(0, 3, 1, 2)


def channels_last(tensor: Tensor) -> Tensor:
    """Put the channels last, as memory has them."""
    return tensor.permute(0, 2, 3, 1)


def off(row: Row, got: Outcome, want: Tensor | tuple[Tensor, ...]) -> Off:
    """Return the largest error of any result; one that a peer does not return has none."""
    found, known = several(got), several(want)
    if len(found) != len(known):
        why = f"it has {len(found)} results, not {len(known)}"
        return Off(float("nan"), TOLERANCE[row.dtype], why)
    each = [
        _off(row, one, right)
        for one, right in zip(found, known, strict=True)
        if one is not None and right is not None
    ]
    return max(each, key=lambda one: (one.is_wrong, one.error / one.allowed))


def _off(row: Row, got: Tensor, want: Tensor) -> Off:
    """Return the largest error, relative to an element and to the size of all of them together."""
    allowed = (TOLERANCE if want.dim() else OF_ONE)[row.dtype]
    if row.family == HEADS:
        allowed = OF_MEANS[row.dtype]
    if got.shape != want.shape:
        why = f"its shape is {tuple(got.shape)}, not {tuple(want.shape)}"
        return Off(float("nan"), allowed, why)
    size = want.abs().square().mean().sqrt() + torch.finfo(torch.float32).tiny
    error = float(((got.float() - want).abs() / (want.abs() + size)).max())
    return Off(error, allowed, "" if error <= allowed else f"it is off by {error:.2g} of its size")
