"""The examples check without a word and compute what they say."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.compile import check, load
from dtpoly.diagnostics import Severity
from dtpoly.frontend.format import format_source
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from dtpoly.source import Source

EXAMPLES = Path(__file__).parent.parent / "examples"


def source(name: str) -> Source:
    return Source(f"{name}.dt", (EXAMPLES / f"{name}.dt").read_text())


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.dt")))
def test_checks_without_errors_and_warnings(name: str) -> None:
    found = check(source(name)).diagnostics
    assert [d for d in found if d.severity is not Severity.NOTE] == []


Tensors = Mapping[str, torch.Tensor]
functional = torch.nn.functional


def normalized(a: torch.Tensor) -> torch.Tensor:
    """Rows that add up to 1."""
    return functional.softmax(a, 1)


def two_products(t: Tensors) -> torch.Tensor:
    return t["A"] @ t["B"] @ t["C"]


def convolution(t: Tensors) -> torch.Tensor:
    pictures, filters = (t[name].permute(0, 3, 1, 2) for name in "AW")
    return functional.conv2d(pictures, filters).permute(0, 2, 3, 1)


# What each file computes, in the words of torch, and what it is called with.
MEANS: dict[str, Callable[[Tensors], torch.Tensor]] = {
    "attention": lambda t: functional.scaled_dot_product_attention(t["Q"], t["K"], t["V"]),
    "avg_pool2d": lambda t: functional.avg_pool2d(t["X"], 2),
    "batched_matmul": lambda t: torch.bmm(t["A"], t["B"]),
    "big_sum": lambda t: t["A"].sum(),
    "column_sum": lambda t: t["A"].sum(0),
    "conv2d": convolution,
    "cross_entropy": lambda t: functional.cross_entropy(t["L"], t["T"]),
    "deep_conv2d": convolution,
    "dyt": lambda t: torch.tanh(t["alpha"] * t["X"]) * t["gamma"] + t["beta"],
    "few_filters_conv2d": convolution,
    "geglu": lambda t: functional.gelu(t["A"], approximate="tanh") * t["B"],
    "half_cross_entropy": lambda t: functional.cross_entropy(t["L"], t["T"]),
    "half_kl_div": lambda t: functional.kl_div(t["Y"], t["T"], reduction="batchmean"),
    "half_matmul": lambda t: t["A"] @ t["B"],
    "half_wide_softmax": lambda t: normalized(t["A"]),
    "half_mmsigmoid": lambda t: torch.sigmoid(t["A"] @ t["B"]),
    "kl_div": lambda t: functional.kl_div(t["Y"], t["T"], reduction="batchmean"),
    "layer_norm": lambda t: functional.layer_norm(
        t["X"], t["W"].shape, t["W"], t["B"], float(t["eps"])
    ),
    "matmul": lambda t: t["A"] @ t["B"],
    "max_pool2d": lambda t: functional.max_pool2d(t["X"], 3, stride=2),
    "middle_matmul": lambda t: t["A"] @ t["B"],
    "mmsigmoid": lambda t: torch.sigmoid(t["A"] @ t["B"]),
    "narrow_softmax": lambda t: normalized(t["A"]),
    "one_channel_conv2d": convolution,
    "ragged_matmul": lambda t: t["A"] @ t["B"],
    "rms_norm": lambda t: functional.rms_norm(t["X"], t["W"].shape, t["W"], float(t["eps"])),
    "row_sum": lambda t: t["A"].sum(1),
    "safe_softmax": lambda t: normalized(t["A"]),
    "small_k_matmul": lambda t: t["A"] @ t["B"],
    "softmax": lambda t: normalized(t["A"]),
    "swiglu": lambda t: functional.silu(t["A"]) * t["B"],
    "tall_column_sum": lambda t: t["A"].sum(0),
    "tall_row_sum": lambda t: t["A"].sum(1),
    "tf32_matmul": lambda t: t["A"] @ t["B"],
    "tiny_k_matmul": lambda t: t["A"] @ t["B"],
    "tvd": lambda t: 0.5 * (t["P"] - t["Q"]).abs().sum(1).mean(),
    "two_mm_inner": two_products,
    "two_mm_inner_1024": two_products,
    "two_mm_inner_512": two_products,
    "two_mm_outer": two_products,
    "two_mm_outer_512": two_products,
    "wide_softmax": lambda t: normalized(t["A"]),
}
SIZES = {
    **{"b": 2, "c": 6, "f": 4, "h": 5, "i": 41, "k": 17, "l": 9, "m": 33, "n": 20, "r": 3, "s": 2},
    **{"w": 7, "x": 5, "y": 77},
}


def given(program: Program, seed: int) -> dict[str, torch.Tensor]:
    """Inputs in 64 bits; distributions where logarithms are taken, and columns that are there."""
    sizes = {label.name: SIZES[label.name] for label in program.labels} | program.fixed
    inputs = {
        name: torch.as_tensor(value, dtype=torch.float64)
        for name, value in random_inputs(program, sizes, seed).items()
    }
    if "P" in inputs or "Y" in inputs:
        inputs = {name: normalized(value) for name, value in inputs.items()}
    if "Y" in inputs:
        inputs |= {"Y": inputs["Y"].log(), "T": torch.where(inputs["T"] < 0.01, 0, inputs["T"])}
    if "L" in inputs:
        inputs["T"] = torch.arange(sizes["x"]) * 7 % sizes["y"]
    return inputs | {name: torch.tensor(0.3) for name in ("eps", "alpha") if name in inputs}


def test_each_example_has_a_meaning() -> None:
    assert sorted(MEANS) == sorted(path.stem for path in EXAMPLES.glob("*.dt"))


@pytest.mark.parametrize("name", MEANS)
def test_computes_what_it_says(name: str) -> None:
    program = load(source(name))
    inputs = given(program, seed=1)
    asked = MEANS[name](inputs)
    (made,) = (one.func for one in program.directives if one.name == "compile")
    torch.testing.assert_close(run(program, inputs)[made], asked, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.dt")))
def test_is_formatted(name: str) -> None:
    assert format_source(source(name)) == source(name).text
