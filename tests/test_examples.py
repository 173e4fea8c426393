"""The examples check without a word and compute what they say."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.checking import check, load
from dtpoly.diagnostics import Severity
from dtpoly.frontend.format import format_source
from dtpoly.generate import outputs, results_of
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from dtpoly.source import Source
from tests.codegen.test_data_ranges import csr, summed
from tests.codegen.test_random_numbers import fraction

EXAMPLES = Path(__file__).parent.parent / "examples"


def source(name: str) -> Source:
    return Source(f"{name}.dt", (EXAMPLES / f"{name}.dt").read_text())


@pytest.mark.sampled
@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.dt")))
def test_checks_without_errors_and_warnings(name: str) -> None:
    found = check(source(name)).diagnostics
    assert [d for d in found if d.severity is not Severity.NOTE] == []


Tensors = Mapping[str, torch.Tensor]
Results = tuple[torch.Tensor, ...]
functional = torch.nn.functional


def normalized(a: torch.Tensor) -> torch.Tensor:
    """Rows that add up to 1."""
    return functional.softmax(a, 1)


def two_products(t: Tensors) -> torch.Tensor:
    return t["A"] @ t["B"] @ t["C"]


def convolution(t: Tensors) -> torch.Tensor:
    pictures, filters = (t[name].permute(0, 3, 1, 2) for name in "AW")
    return functional.conv2d(pictures, filters).permute(0, 2, 3, 1)


def add_rms_norm(t: Tensors) -> Results:
    summed = t["X"] + t["R"]
    rstd = (summed.pow(2).mean(1) + t["eps"]).rsqrt()
    normed = functional.rms_norm(summed, t["W"].shape, t["W"], float(t["eps"]))
    return normed, summed, rstd


def adam(t: Tensors) -> Results:
    """A step of torch's own optimiser, from the moments before it."""
    param = torch.nn.Parameter(t["P"].clone())
    betas = (float(t["beta1"]), float(t["beta2"]))
    step = torch.optim.Adam([param], lr=float(t["rate"]), betas=betas, eps=float(t["eps"]))
    param.grad = t["G"].clone()
    state = {"step": torch.tensor(2.0), "exp_avg": t["M"].clone(), "exp_avg_sq": t["V"].clone()}
    step.state[param] |= state
    cast("Any", step).step()
    return param.detach(), step.state[param]["exp_avg"], step.state[param]["exp_avg_sq"]


def kv_cache_append(t: Tensors) -> torch.Tensor:
    """A copy of the cache, in which each new row that has room is put."""
    cache, (length, new) = t["K"].clone(), (t["K"].shape[1], t["X"].shape[1])
    starts: list[int] = cast("Any", t["pos"]).tolist()
    for b, start in enumerate(starts):
        for at in range(new):
            if 0 <= start + at < length:
                cache[b, start + at] = t["X"][b, at] * t["angle"][at].double().cos()
    return cache


def added(whole: torch.Tensor, table: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """A copy of a tensor to whose rows others are added, where a table names one of them."""
    inside = (table >= 0) & (table < whole.shape[0])
    return whole.clone().index_add_(0, table[inside].long(), rows[inside])


def state_space(t: Tensors) -> torch.Tensor:
    """The selective scan, one step after another."""
    state = torch.zeros((*t["delta"].shape[::2], t["A"].shape[1]), dtype=torch.float64)
    found = t["X"] * t["D"]
    for at in range(t["X"].shape[1]):
        step = t["delta"][:, at, :, None]
        state = (step * t["A"]).exp() * state
        state = state + step * t["X"][:, at, :, None] * t["B"][:, at, None, :]
        found[:, at] += (state * t["C"][:, at, None, :]).sum(-1)
    return found


def grouped_matmul(t: Tensors) -> torch.Tensor:
    """Each row of a group, times the weights of its expert; rows that are not there are 0."""
    done, X, W = t["C"].clone(), t["X"], t["W"]
    groups: list[list[int]] = cast("Any", t["rows"]).tolist()
    experts: list[int] = cast("Any", t["expert"]).tolist()
    for rows, expert in zip(groups, experts, strict=True):
        for row in rows:
            if 0 <= row < len(done):
                is_there = row < len(X) and 0 <= expert < len(W)
                done[row] = X[row] @ W[expert] if is_there else 0
    return done


def batch_norm(t: Tensors) -> Results:
    """The layer of torch, which writes its running statistics in place."""
    mean, var = t["M"].clone(), t["V"].clone()
    rates = float(t["momentum"]), float(t["eps"])
    normed = functional.batch_norm(t["X"], mean, var, t["W"], t["B"], True, *rates)
    return normed, mean, var


def layer_norm_backward(t: Tensors) -> Results:
    sizes, rows = list(t["W"].shape), (t["mean"][:, None], t["rstd"][:, None])
    dx, dw, db = torch.ops.aten.native_layer_norm_backward.default(
        t["D"], t["X"], sizes, *rows, t["W"], t["W"], [True, True, True]
    )
    return dx, dw, db


def rms_norm_backward(t: Tensors) -> Results:
    """The gradients that torch derives, where the roots of rows change as those of squares do."""
    x, w = (t[name].clone().requires_grad_() for name in ("X", "W"))
    root = t["rstd"][:, None]
    moved = root - root**3 * (t["X"] * (x - t["X"])).mean(1, keepdim=True)
    dx, dw = torch.autograd.grad((x * moved * w * t["D"]).sum(), (x, w))
    return dx, dw


def top_k(t: Tensors) -> Results:
    values, indices = t["A"].sort(dim=1, descending=True, stable=True)
    return values[:, :8], indices[:, :8]


def product_top_k(t: Tensors) -> Results:
    return top_k({"A": t["Q"] @ t["K"].T})


def gate(t: Tensors) -> Results:
    weights, experts = normalized(t["L"]).topk(2, 1)
    return weights / weights.sum(1, keepdim=True), experts


def quantize_rows(t: Tensors) -> Results:
    scale = t["A"].abs().amax(1) / 127
    return torch.floor(t["A"] / scale[:, None] + 0.5).to(torch.int8), scale


def packed_product(t: Tensors) -> torch.Tensor:
    """A product with weights whose halves are neighbours, the lower one first."""
    halves = torch.stack([t["W"] & 15, t["W"] >> 4], 2).flatten(1).double()
    signed = torch.where(halves > 7, halves - 16, halves)
    scales = t["S"].double().repeat_interleave(128, 1)[:, : signed.shape[1]]
    return t["A"].double() @ (signed * scales).half().double().T


def w4a16(t: Tensors) -> torch.Tensor:
    """A product with weights whose halves lie in groups of 64 bytes."""
    grouped = t["W"].reshape(len(t["W"]), -1, 1, 64)
    halves = torch.cat([grouped & 15, grouped >> 4], 2) - 8.0
    weights = (halves * t["S"].double()[:, :, None, None]).half().double()
    return t["A"].double() @ weights.flatten(1).T


def fp8_block_scales(t: Tensors) -> torch.Tensor:
    sides = ("A", "SA"), ("B", "SB")
    left, right = (t[one].double() * t[by].double().repeat_interleave(128, 1) for one, by in sides)
    return left @ right.T


def drawn(like: torch.Tensor) -> torch.Tensor:
    """Random numbers of the seed of these tests, by another program than those that are tested."""
    rows, columns = like.shape
    numbers = [[fraction(SEED, x, y) for y in range(columns)] for x in range(rows)]
    return torch.tensor(numbers, dtype=torch.float64)


def dropout(t: Tensors) -> torch.Tensor:
    return torch.where(drawn(t["A"]) < t["p"], 0, t["A"] / (1 - t["p"]))


def gumbel_max(t: Tensors) -> torch.Tensor:
    """The least of exponential numbers at the rates of the softmax, which has its probabilities."""
    return (-drawn(t["L"]).log() / normalized(t["L"])).argmin(1)


def stochastic_rounding(t: Tensors) -> torch.Tensor:
    """One of the neighbours that are found by counting in the bits of a bf16."""
    given = t["A"].double()
    near = given.to(torch.bfloat16)
    away = (given.abs() > near.double().abs()).to(torch.int16) * 2 - 1
    other = (near.view(torch.int16) + away).view(torch.bfloat16)
    part = (given - near.double()) / (other.double() - near.double())
    return torch.where(drawn(t["A"]) < part, other, near).double()


# What each file computes, in the words of torch, and what it is called with.
MEANS: dict[str, Callable[[Tensors], torch.Tensor | Results]] = {
    "adam": adam,
    "adam_in_place": adam,
    "add_rms_norm": add_rms_norm,
    "add_rms_norm_in_place": lambda t: add_rms_norm(t)[:2],
    "attention": lambda t: functional.scaled_dot_product_attention(t["Q"], t["K"], t["V"]),
    "avg_pool2d": lambda t: functional.avg_pool2d(t["X"], 2),
    "batch_norm": batch_norm,
    "batched_matmul": lambda t: torch.bmm(t["A"], t["B"]),
    "big_sum": lambda t: t["A"].sum(),
    "causal_attention": lambda t: functional.scaled_dot_product_attention(
        t["Q"], t["K"], t["V"], is_causal=True
    ),
    "causal_flash_attention": lambda t: functional.scaled_dot_product_attention(
        t["Q"], t["K"], t["V"], is_causal=True
    ),
    "column_sum": lambda t: t["A"].sum(0),
    "conv2d": convolution,
    "cross_entropy": lambda t: functional.cross_entropy(t["L"], t["T"]),
    "cumulative_sum": lambda t: t["A"].cumsum(1),
    "csr_matvec": csr,
    "deep_conv2d": convolution,
    "dropout": dropout,
    "dyt": lambda t: torch.tanh(t["alpha"] * t["X"]) * t["gamma"] + t["beta"],
    "embedding_backward": lambda t: added(t["W"], t["T"], t["G"]),
    "few_filters_conv2d": convolution,
    "flash_decoding": lambda t: functional.scaled_dot_product_attention(t["Q"], t["K"], t["V"]),
    "flash_attention": lambda t: functional.scaled_dot_product_attention(t["Q"], t["K"], t["V"]),
    "fp8_block_scales": fp8_block_scales,
    "geglu": lambda t: functional.gelu(t["A"], approximate="tanh") * t["B"],
    "grouped_matmul": grouped_matmul,
    "gumbel_max": gumbel_max,
    "half_cross_entropy": lambda t: functional.cross_entropy(t["L"], t["T"]),
    "half_kl_div": lambda t: functional.kl_div(t["Y"], t["T"], reduction="batchmean"),
    "half_matmul": lambda t: t["A"] @ t["B"],
    "half_wide_softmax": lambda t: normalized(t["A"]),
    "half_mmsigmoid": lambda t: torch.sigmoid(t["A"] @ t["B"]),
    "kl_div": lambda t: functional.kl_div(t["Y"], t["T"], reduction="batchmean"),
    "kv_cache_append": kv_cache_append,
    "layer_norm": lambda t: functional.layer_norm(
        t["X"], t["W"].shape, t["W"], t["B"], float(t["eps"])
    ),
    "layer_norm_backward": layer_norm_backward,
    "layer_norm_forward": lambda t: torch.native_layer_norm(
        t["X"], list(t["W"].shape), t["W"], t["B"], float(t["eps"])
    ),
    "log_sum_exp": lambda t: torch.logsumexp(t["A"], 1),
    "matmul": lambda t: t["A"] @ t["B"],
    "long_cumsum": lambda t: t["A"].cumsum(1),
    "max_pool2d": lambda t: functional.max_pool2d(t["X"], 3, stride=2),
    "middle_matmul": lambda t: t["A"] @ t["B"],
    "mmsigmoid": lambda t: torch.sigmoid(t["A"] @ t["B"]),
    "narrow_softmax": lambda t: normalized(t["A"]),
    "one_channel_conv2d": convolution,
    "moe_combine": lambda t: added(t["O"], t["token"], t["gate"][:, None] * t["H"]),
    "moe_gate": gate,
    "online_softmax": lambda t: normalized(t["A"]),
    "packed_w4a16": packed_product,
    "product_top_k": product_top_k,
    "quantize_rows": quantize_rows,
    "ragged_sum": summed,
    "ragged_matmul": lambda t: t["A"] @ t["B"],
    "rms_norm": lambda t: functional.rms_norm(t["X"], t["W"].shape, t["W"], float(t["eps"])),
    "rms_norm_backward": rms_norm_backward,
    "row_sum": lambda t: t["A"].sum(1),
    "safe_softmax": lambda t: normalized(t["A"]),
    "sliding_window_matmul": lambda t: t["A"].tril().triu(-127) @ t["B"],
    "small_k_matmul": lambda t: t["A"] @ t["B"],
    "softmax": lambda t: normalized(t["A"]),
    "softmax_entropy": lambda t: -(normalized(t["A"]) * functional.log_softmax(t["A"], 1)).sum(1),
    "softmax_pool": lambda t: (t["A"].flatten(2).softmax(2) * t["A"].flatten(2)).sum(2),
    "softmax_with_lse": lambda t: (normalized(t["A"]), torch.logsumexp(t["A"], 1)),
    "stochastic_rounding": stochastic_rounding,
    "swiglu": lambda t: functional.silu(t["A"]) * t["B"],
    "tall_column_sum": lambda t: t["A"].sum(0),
    "tall_row_sum": lambda t: t["A"].sum(1),
    "tf32_matmul": lambda t: t["A"] @ t["B"],
    "tiny_k_matmul": lambda t: t["A"] @ t["B"],
    "top_k": top_k,
    "triangular_matmul": lambda t: t["A"].tril() @ t["B"],
    "tvd": lambda t: 0.5 * (t["P"] - t["Q"]).abs().sum(1).mean(),
    "state_space": state_space,
    "two_mm_inner": two_products,
    "two_mm_inner_1024": two_products,
    "two_mm_inner_512": two_products,
    "two_mm_outer": two_products,
    "two_mm_outer_512": two_products,
    "w4a16": w4a16,
    "wide_layer_norm": lambda t: functional.layer_norm(
        t["X"], t["W"].shape, t["W"], t["B"], float(t["eps"])
    ),
    "wide_packed_w4a16": packed_product,
    "wide_w4a16": w4a16,
    "wide_softmax": lambda t: normalized(t["A"]),
}
BETA1, BETA2 = (torch.tensor(one, dtype=torch.float64) for one in (0.9, 0.99))
SEED = -7
SIZES = {
    **{"g": 2, "j": 8, "p": 37},
    **{"b": 2, "c": 6, "f": 4, "h": 5, "i": 41, "k": 18, "l": 9, "m": 33, "n": 20, "r": 3, "s": 2},
    **{"d": 13, "t": 40, "u": 40, "w": 7, "x": 5, "y": 77},
}


def given(program: Program, seed: int) -> dict[str, torch.Tensor]:
    """Inputs in 64 bits; distributions where logarithms are taken, and columns that are there."""
    sizes = {label.name: SIZES[label.name] for label in program.labels} | program.fixed
    made = random_inputs(program, sizes, seed)
    inputs = {name: torch.as_tensor(value, dtype=torch.float64) for name, value in made.items()}
    declared = (tensor.name for tensor in program.tensors if tensor.dtype is not None)
    inputs |= {name: torch.as_tensor(made[name]) for name in declared}
    if "seed" in inputs:
        inputs["seed"] = torch.tensor(SEED)
    if "p" in inputs:
        inputs["p"] = torch.tensor(0.3, dtype=torch.float64)
    if {"Q", "Y"} & inputs.keys() and "K" not in inputs:
        inputs = {name: normalized(value) for name, value in inputs.items()}
    if "Y" in inputs:
        inputs |= {"Y": inputs["Y"].log(), "T": torch.where(inputs["T"] < 0.01, 0, inputs["T"])}
    if {"L", "T"} <= inputs.keys():
        inputs["T"] = torch.arange(sizes["x"]) * 7 % sizes["y"]
    if "expert" in inputs:
        # No row twice, and the first is one that is not there.
        rows = inputs["rows"]
        inputs["rows"] = torch.arange(rows.numel()).reshape(rows.shape) - 1
    if "V" in inputs and "G" in inputs:
        inputs |= {"V": inputs["V"].square(), "beta1": BETA1, "beta2": BETA2}
        # The moments began two steps ago.
        inputs |= {"c": 1 - BETA1**3, "d": 1 - BETA2**3, "rate": torch.tensor(0.1)}
    return inputs | {name: torch.tensor(0.3) for name in ("eps", "alpha") if name in inputs}


def test_each_example_has_a_meaning() -> None:
    assert sorted(MEANS) == sorted(path.stem for path in EXAMPLES.glob("*.dt"))


@pytest.mark.sampled
@pytest.mark.parametrize("name", MEANS)
def test_computes_what_it_says(name: str) -> None:
    program = load(source(name))
    inputs = given(program, seed=1)
    asked = MEANS[name](inputs)
    ((made, results),) = results_of(program, outputs(program)).items()
    computed = run(program, inputs, wanted=results)
    assert [*computed] == [made, *results[1:]]
    for name, one in zip(results, asked if isinstance(asked, tuple) else (asked,), strict=True):
        exact = computed[name]
        one = one.reshape(exact.shape).to(exact.dtype)
        torch.testing.assert_close(exact, one, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.dt")))
def test_is_formatted(name: str) -> None:
    assert format_source(source(name)) == source(name).text
