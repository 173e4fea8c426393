"""Computes in 64 bits what kernels of training and of quantised weights should give.

`compared` turns results into what can be compared where several results are right.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from benchmarks.gpu.inputs import NUMBERS, Inputs, tensors
from benchmarks.gpu.peer import Outcome, several
from benchmarks.gpu.rows import Row

Known = Mapping[str, Tensor]
Reference = Callable[[Known], tuple[Tensor, ...]]
BEST, EXPERTS = 8, 2
DEVIATIONS = 6.0  # that the number of zeros of a dropout may be from the mean


def training_references() -> Mapping[str, Reference]:
    """Return the reference of each kernel."""
    return {
        "add + rms_norm": _add_rms_norm,
        "layer_norm forward": _forward,
        "layer_norm backward": _backward,
        "adam in place": _adam,
        "embedding": lambda x: (x["E"][x["T"]],),
        **dict.fromkeys(("scan of rows", "scan of long rows"), _sums),
        "quantize rows": _quantized,
        "w4a16, pairs": lambda x: (_packed(x, weights_of_pairs(x["W"])),),
        "w4a16, halves": lambda x: (_packed(x, weights_of_halves(x["W"])),),
        "grouped matmul": _grouped,
        "top 8": lambda x: (best_of(x["A"].double(), BEST),) * 2,
        "moe gate": _gate,
        "dropout": _dropped,
        "log_sum_exp": lambda x: (torch.logsumexp(x["A"].double(), -1),),
    }


def _add_rms_norm(x: Known) -> tuple[Tensor, ...]:
    summed = x["X"].double() + x["R"].double()
    rstd = (summed.square().mean(-1) + NUMBERS["eps"]).rsqrt()
    return summed * rstd[:, None] * x["W"].double(), summed, rstd


def _sums(x: Known) -> tuple[Tensor, ...]:
    return (x["A"].double().cumsum(-1),)


def _forward(x: Known) -> tuple[Tensor, ...]:
    wide = x["X"].double()
    mean = wide.mean(-1)
    centred = wide - mean[:, None]
    rstd = (centred.square().mean(-1) + NUMBERS["eps"]).rsqrt()
    return centred * rstd[:, None] * x["W"].double() + x["B"].double(), mean, rstd


def _backward(x: Known) -> tuple[Tensor, ...]:
    wide = {name: value.double() for name, value in x.items()}
    hat = (wide["X"] - wide["mean"][:, None]) * wide["rstd"][:, None]
    scaled = wide["D"] * wide["W"]
    along = (scaled * hat).mean(-1, keepdim=True)
    dx = (scaled - hat * along - scaled.mean(-1, keepdim=True)) * wide["rstd"][:, None]
    return dx, (wide["D"] * hat).sum(0), wide["D"].sum(0)


def _adam(x: Known) -> tuple[Tensor, ...]:
    number, gradient = NUMBERS, x["G"].double()
    moment = number["beta1"] * x["M"].double() + (1 - number["beta1"]) * gradient
    second = number["beta2"] * x["V"].double() + (1 - number["beta2"]) * gradient.square()
    step = moment / number["c"] / ((second / number["d"]).sqrt() + number["eps"])
    return x["P"].double() - number["rate"] * step, moment, second


def _quantized(x: Known) -> tuple[Tensor, ...]:
    scale = x["A"].double().abs().amax(-1) / 127
    return torch.ones_like(x["A"], dtype=torch.float32), scale


def weights_of_pairs(packed: Tensor) -> Tensor:
    """Return the signed numbers of 4 bits of which a byte has two that are neighbours."""
    halves = torch.stack((packed & 15, packed >> 4), -1).flatten(-2).to(torch.int8)
    return torch.where(halves > 7, halves - 16, halves)


def weights_of_halves(packed: Tensor) -> Tensor:
    """Return numbers less 8 of which a byte has two that are 64 apart."""
    cut = packed.view(packed.shape[0], -1, 64)
    return torch.cat((cut & 15, cut >> 4), -1).flatten(1).to(torch.int8) - 8


def _packed(x: Known, weights: Tensor) -> Tensor:
    rows, columns = weights.shape
    scaled = weights.double().view(rows, -1, 128) * x["S"].double()[:, :, None]
    return x["A"].double() @ scaled.view(rows, columns).T


def _grouped(x: Known) -> tuple[Tensor, ...]:
    """Return the product of each row with the weights of its expert, one expert at a time."""
    result = torch.empty_like(x["C"], dtype=torch.float32)
    for number, weights in enumerate(x["W"]):
        rows = x["rows"][x["expert"] == number].flatten()
        result[rows] = (x["X"][rows].double() @ weights.double()).float()
    return (result,)


def best_of(values: Tensor, count: int) -> Tensor:
    """Return the largest of each row, in order."""
    return values.sort(-1, descending=True).values[:, :count]


def _gate(x: Known) -> tuple[Tensor, ...]:
    best = best_of(x["L"].double(), EXPERTS)
    return torch.softmax(best, -1), best


def _dropped(x: Known) -> tuple[Tensor, ...]:
    return x["A"].double() / (1 - NUMBERS["p"]), torch.ones((), device=x["A"].device)


def compared(row: Row, given: Inputs, outcome: Outcome) -> Outcome:
    """Return what is compared with the reference: mostly the results as they are."""
    known = tensors(given)
    match row.kernel, several(outcome):
        case "quantize rows", (Tensor() as quantized, Tensor() as scale):
            return _distance(known["A"], quantized, scale), scale
        case "top 8", (Tensor() as value, Tensor() as index):
            return value, taken(known["A"], index)
        case "moe gate", (Tensor() as weight, Tensor() as expert):
            return weight, taken(known["L"], expert)
        case "dropout", (Tensor() as dropped,):
            return _kept(known["A"], dropped)
        case _:
            return outcome


def _distance(values: Tensor, quantized: Tensor, scale: Tensor) -> Tensor:
    """Return 1 where a number is the nearest one, and more where it is not, in steps.

    The scale may be rounded to 16 bits, as the number of steps then is: by 127 / 2**8 at most.
    """
    steps = values.double() / scale.double()[:, None]
    rounding = 127 * torch.finfo(scale.dtype).eps
    return 1 + ((steps - quantized.double()).abs() - 0.5 - rounding).clamp(min=0).float()


def taken(values: Tensor, index: Tensor) -> Tensor:
    """Return the elements of each row at these places; NaN where there is no such place."""
    size = values.shape[-1]
    is_there = (index >= 0) & (index < size)
    found = values.gather(-1, index.clamp(0, size - 1))
    return torch.where(is_there, found.float(), float("nan"))


def _kept(values: Tensor, dropped: Tensor) -> tuple[Tensor, Tensor]:
    """Return the elements as if none were 0, and 1 if about the right number are."""
    p, is_zero = NUMBERS["p"], dropped == 0
    wanted = values.float() / (1 - p)
    count = values.numel()
    near = abs(float(is_zero.float().mean()) - p) <= DEVIATIONS * (p * (1 - p) / count) ** 0.5
    return torch.where(is_zero, wanted, dropped.float()), torch.tensor(float(near)).to(
        values.device
    )
