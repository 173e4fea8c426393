"""Made-up inputs fit their program, and are the same for the same seed."""

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.reference.labelled_values import TORCH_DTYPE
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from dtpoly.source import Source

RMS = "Func f; In X, W; Var x, y; RVar k; f[x, y] = X[x, y] * rsqrt(rsum(X[x, k], k)) * W[y];"
ONE = "Func f; In A; SIn a; Var x; f[x] = a * A[x];"


def program(text: str) -> Program:
    return load(Source("test.dt", text))


def tensor(text: str, name: str, dtype: DType, size: int = 1000) -> torch.Tensor:
    made = random_inputs(program(text), {"x": size}, 0, {name: dtype})[name]
    assert isinstance(made, torch.Tensor)
    return made


def test_shapes_are_those_of_the_sizes() -> None:
    made = random_inputs(program(RMS), {"x": 3, "y": 5}, 0)
    shapes = {name: torch.as_tensor(given).shape for name, given in made.items()}
    assert shapes == {"X": (3, 5), "W": (5,)}


def test_the_same_seed_makes_the_same_inputs() -> None:
    def first(seed: int) -> torch.Tensor:
        return torch.as_tensor(random_inputs(program(RMS), {"x": 3, "y": 5}, seed)["X"])

    assert torch.equal(first(1), first(1))
    assert not torch.equal(first(1), first(2))


@pytest.mark.parametrize("dtype", DType)
def test_every_dtype(dtype: DType) -> None:
    made = tensor(ONE, "A", dtype)
    assert made.dtype is TORCH_DTYPE[dtype]
    assert made.double().isfinite().all()
    assert made.double().abs().max() <= 8
    assert (made.double() != made.double()[0]).any()


def test_without_a_dtype_it_is_f32() -> None:
    assert torch.as_tensor(random_inputs(program(ONE), {"x": 2}, 0)["A"]).dtype is torch.float32


def test_a_declared_dtype_counts() -> None:
    text = "Func f; In A: bf16; SIn n: i32, c: bool; Var x; f[x] = where(c, A[x], n);"
    made = random_inputs(program(text), {"x": 2}, 0, {"A": DType.F64})
    assert torch.as_tensor(made["A"]).dtype is torch.bfloat16
    assert type(made["n"]) is int
    assert type(made["c"]) is bool


def test_numbers_may_stand_under_a_root_or_a_bar() -> None:
    for seed in range(20):
        number = random_inputs(program(ONE), {"x": 2}, seed)["a"]
        assert isinstance(number, float)
        assert 0.5 <= number < 1.5


@pytest.mark.parametrize(
    ("text", "given", "sizes"),
    [
        (RMS, {"x": 3, "y": 5}, {"x": 3, "y": 5, "k": 5}),
        (RMS, {"x": 3, "k": 5}, {"x": 3, "y": 5, "k": 5}),
        (
            "Func f, g; In A; Var x, y; RVar k; g[x, y] = A[x, y]; f[x] = rsum(g[x, k], k);",
            {"x": 3, "k": 5},
            {"x": 3, "y": 5, "k": 5},
        ),
        (
            "Func f, g; In A; Var x, y; g[x] = A[x]; f[y] = g[y + 2] + g[y];",
            {"x": 7},
            {"x": 7, "y": 5},
        ),
        (
            "Func f; In X, W; Var h, n; RVar r; f[h] = rdot(X[h + r], W[r], r) + 0 * len(n);",
            {"h": 3, "r": 2, "n": 4},
            {"h": 3, "r": 2, "n": 4},
        ),
        (
            "Func g, f; In A; Var x, z; g[z] = A[z] + A[z + 2]; f[x] = g[x] * g[x + 1];",
            {"x": 11},
            {"x": 11, "z": 12},
        ),
    ],
)
def test_sizes_that_others_decide(text: str, given: dict[str, int], sizes: dict[str, int]) -> None:
    assert filled(program(text), given) == sizes
    run(program(text), random_inputs(program(text), given, 0), sizes=sizes)


def test_a_size_that_nothing_decides() -> None:
    with pytest.raises(DtpolyError) as error:
        random_inputs(program(RMS), {"x": 3}, 0)
    assert [(d.code, d.title, d.hint) for d in error.value.diagnostics] == [
        ("DT170", "the size of 'y' must be passed", "pass y=..., on the command line --size y=..."),
        ("DT170", "the size of 'k' must be passed", "pass k=..., on the command line --size k=..."),
    ]


def test_an_unknown_label() -> None:
    with pytest.raises(DtpolyError) as error:
        random_inputs(program(ONE), {"x": 3, "z": 1}, 0)
    assert error.value.diagnostics[0].title == "the program has no label 'z'"


def test_no_elements() -> None:
    made = random_inputs(program(RMS), {"x": 0, "y": 5}, 0)
    assert torch.as_tensor(made["X"]).numel() == 0
