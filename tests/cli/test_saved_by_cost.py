"""Funcs are kept for a gradient where computing them again takes longer."""

from pathlib import Path

import pytest

from dtpoly.gradient.keeping import Speeds, worth_keeping
from tests.cli.conftest import Entry
from tests.gradient.comparing import read

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SPEEDS = Speeds(memory=4e12, product=8e14, other=4e13, element=2)
LAYERS = """\
Func f, h, r; In A, V, W; Var x, y, z; RVar k, l;
h[x, z] = rdot(A[x, k], V[k, z], k);
r[x, z] = maximum(h[x, z], 0);
f[x, y] = rdot(r[x, l], W[l, y], l);
"""
LARGE = {"x": 4096, "y": 4096, "z": 4096, "k": 4096, "l": 4096}


def kept(text: str, by: str, sizes: dict[str, int], of: str = "f") -> set[str]:
    return set(worth_keeping(read(text), (of,), tuple(by.split(",")), sizes, SPEEDS))


def test_a_product_over_a_long_label_is_kept() -> None:
    assert kept(LAYERS, "A,V,W", LARGE) == {"h"}


def test_a_product_over_a_short_label_is_computed_again() -> None:
    assert kept(LAYERS, "A,V,W", {**LARGE, "k": 16}) == set()


def test_elements_are_computed_again() -> None:
    text = "Func f, g; In A; Var x; g[x] = sigmoid(A[x]); f[x] = g[x] * A[x];"
    assert kept(text, "A", {"x": 2**20}) == set()


@pytest.mark.parametrize(
    ("name", "sizes", "wanted"),
    [
        ("softmax", "x=4096,y=4096", ["total"]),
        ("cross_entropy", "x=4096,y=32000", ["top", "total"]),
        ("causal_attention", "b=16,m=4096,l=4096,k=64,d=64", ["attention", "top", "total"]),
        ("swiglu", "x=4096,y=4096", []),
    ],
)
def test_examples(call: Entry, name: str, sizes: str, wanted: list[str]) -> None:
    path = str(EXAMPLES / f"{name}.dt")
    code, out, err = call("differentiate", path, "--save-by-cost", "--size", sizes)
    assert (code, err) == (0, "")
    saved = [line.split()[1] for line in out.splitlines() if " is saved: " in line]
    assert sorted(saved) == wanted


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--save-by-cost",), "--save-by-cost needs --size"),
        (("--save-by-cost", "--size", "x=4,y=4", "--save", "total"), "in the place of --save"),
        (("--size", "x=4,y=4"), "a gradient serves all sizes"),
    ],
)
def test_wrong_options(call: Entry, options: tuple[str, ...], said: str) -> None:
    code, out, err = call("differentiate", str(EXAMPLES / "softmax.dt"), *options)
    assert (code, out) == (2, "")
    assert said in err
