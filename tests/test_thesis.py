"""Every kernel definition of the thesis checks, and means what torch says it means."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from dtpoly.algorithm.program import Program
from dtpoly.checking import check, load
from dtpoly.diagnostics import has_errors
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from dtpoly.source import Source

Tensor = torch.Tensor
DATA = Path(__file__).parent / "data" / "thesis"
LISTINGS = sorted(path.stem for path in DATA.glob("*.dt"))
SIZES = {"x": 5, "y": 13, "k": 7, "l": 11, "m": 3, "n": 6}


def add(A: Tensor, B: Tensor, alpha: float) -> Tensor:
    return alpha * (A + B)


def softmax(A: Tensor) -> Tensor:
    return torch.softmax(A, 1)


def rms_norm(X: Tensor, W: Tensor, Eps: float, Offset: float) -> Tensor:
    return F.rms_norm(X, X.shape[1:], eps=Eps) * (Offset + W)


def relu(A: Tensor) -> Tensor:
    return F.relu(A)


def swish(A: Tensor, beta: float) -> Tensor:
    return F.silu(beta * A) / beta


def total(A: Tensor) -> Tensor:
    return A.sum(1)


def geglu(A: Tensor, B: Tensor) -> Tensor:
    return F.gelu(A, approximate="tanh") * B


def two_products(A: Tensor, B: Tensor, C: Tensor) -> Tensor:
    return A @ B @ C


def attention(A: Tensor, B: Tensor, C: Tensor) -> Tensor:
    """The thesis scales by the size of l, the number of keys."""
    return F.scaled_dot_product_attention(A, B.T, C, scale=B.shape[1] ** -0.5)


# What each listing should compute: the Func, and torch's own words for it.
MEANING: dict[str, tuple[str, Callable[..., Tensor]]] = {
    "add": ("add_out", add),
    "softmax": ("softmax_out", softmax),
    "rms": ("rms_norm_out", rms_norm),
    "relu": ("relu_out", relu),
    "swish": ("swish_out", swish),
    "sum": ("sum_out", total),
    "geglu": ("geglu", geglu),
    "2mm": ("_2mm", two_products),
    "attention": ("attention", attention),
}


def meaning(listing: str) -> tuple[str, Callable[..., Tensor]]:
    if listing == "listing_4_02_softmax":
        return "_softmax", softmax
    return MEANING["relu" if listing.startswith("figure") else listing.split("_")[3]]


def source(listing: str) -> Source:
    path = DATA / f"{listing}.dt"
    return Source(path.name, path.read_text())


def program(listing: str) -> Program:
    return load(source(listing))


def test_every_listing_is_here() -> None:
    numbers = {"_".join(name.split("_")[1:3]) for name in LISTINGS if name.startswith("listing")}
    chapter_3 = {f"3_{n:02}" for n in (1, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20)}
    assert numbers == chapter_3 | {f"4_{n:02}" for n in range(1, 5)}


@pytest.mark.parametrize("listing", LISTINGS)
def test_names_its_source(listing: str) -> None:
    first = source(listing).line(1)
    assert first.startswith("# thesis: Q. L. Pham, Decoupled Triton, University of Alberta, 2025, ")


@pytest.mark.parametrize("listing", LISTINGS)
def test_checks_without_errors(listing: str) -> None:
    found = check(source(listing)).diagnostics
    assert not has_errors(found), found


@pytest.mark.parametrize("listing", LISTINGS)
def test_agrees_with_torch(listing: str) -> None:
    func, expected = meaning(listing)
    labels = [label.name for label in program(listing).labels]
    sizes = {label: SIZES[label] for label in labels}
    if "rms_norm" in listing:
        del sizes["k"]  # it is that of y
    inputs = random_inputs(program(listing), sizes, seed=1)
    exact = {
        name: given.double() if isinstance(given, Tensor) else given
        for name, given in inputs.items()
    }
    actual = run(program(listing), exact, sizes=sizes)[func]
    torch.testing.assert_close(actual, expected(**exact), rtol=1e-12, atol=1e-12)


def test_attention_warns_of_its_reshape() -> None:
    codes = [d.code for d in check(source("listing_4_04_attention")).diagnostics]
    assert "DT145" in codes
