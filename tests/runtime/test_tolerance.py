"""Tests how much products may lose in tf32: all that it costs, and less than one term of a sum."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from dtpoly.runtime.tolerance import ComparedResult, compared, multiplies, share_lost
from dtpoly.source import Source

SIZES = {"m": 512, "n": 512, "k": 128}
HEAD = "In A, B; Var m, n; RVar k; "
SIGMOID = "Func f; " + HEAD + "f[m, n] = sigmoid(rdot(A[m, k], B[k, n], k));"
TWO = (
    "Func f, g; "
    + HEAD
    + "g[m, n] = rdot(A[m, k], B[k, n], k); f[m, n] = sin(rdot(A[m, k], g[k, n], k));"
)
WHOLE = "Func f; " + HEAD + "f[m, n] = rdot(cast(A[m, k], i32), cast(B[k, n], i32), k);"
# How tensor cores bring a float to tf32: the rest is cut off, or makes it the nearest one.
Way = Callable[[Tensor], Tensor]


def program(text: str) -> Program:
    return load(Source("test.dt", text))


def truncated(tensor: Tensor) -> Tensor:
    return (tensor.view(torch.int32) & ~0x1FFF).view(torch.float32)


def nearest(tensor: Tensor) -> Tensor:
    return truncated((tensor.view(torch.int32) + 0x1000).view(torch.float32))


def drawn(given: Program, seed: int) -> tuple[Tensor, Tensor]:
    inputs = random_inputs(given, SIZES, seed)
    a, b = inputs["A"], inputs["B"]
    assert isinstance(a, Tensor)
    assert isinstance(b, Tensor)
    return a, b


def judged(
    given: Program, a: Tensor, b: Tensor, result: Tensor, *, is_rough: bool
) -> ComparedResult:
    """Judge a result as `dtpoly run` and `dtpoly explore` do it."""

    def reference(compute: torch.dtype, *, is_rough: bool = False) -> Tensor:
        return run(given, {"A": a, "B": b}, compute=compute, is_rough=is_rough)["f"]

    share = share_lost(given, "f", SIZES, DType.F32, is_rough)
    exact, rough = reference(torch.float64), reference(torch.float32)
    cut = reference(torch.float64, is_rough=True) if is_rough else None
    return compared("f", ("m", "n"), result, exact, rough, share, cut)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("way", [truncated, nearest])
def test_products_in_tf32_are_right(way: Way, seed: int) -> None:
    """Of a sigmoid the largest element says nothing of what the product loses."""
    given = program(SIGMOID)
    a, b = drawn(given, seed)
    found = judged(given, a, b, torch.sigmoid(way(a) @ way(b)), is_rough=True)
    assert found.wrong == 0, (found.error, found.allowed)
    assert judged(given, a, b, found.result, is_rough=False).wrong


@pytest.mark.parametrize("way", [truncated, nearest])
def test_so_are_products_of_products(way: Way) -> None:
    sizes = {"m": 64, "n": 48, "k": 64}
    given = program(TWO)
    inputs = random_inputs(given, sizes, 3)
    a, b = inputs["A"], inputs["B"]
    assert isinstance(a, Tensor)
    assert isinstance(b, Tensor)
    result = torch.sin(way(a) @ way(way(a) @ way(b)))
    found = judged(given, a, b, result, is_rough=True)
    assert found.wrong == 0, (found.error, found.allowed)


@pytest.mark.parametrize("way", [torch.clone, truncated])
@pytest.mark.parametrize("term", [0, 63, 127])
def test_one_term_that_is_left_out_is_wrong(way: Way, term: int) -> None:
    given = program(SIGMOID)
    a, b = drawn(given, 1)
    there = torch.arange(SIZES["k"]) != term
    result = torch.sigmoid(way(a[:, there]) @ way(b[there]))
    found = judged(given, a, b, result, is_rough=True)
    assert found.wrong > result.numel() / 8
    assert found.error > 10 * found.allowed


def test_the_reference_cuts_operands_of_products_only() -> None:
    a, b = (t.double() for t in drawn(program(SIGMOID), 0))
    ways = (truncated(t.float()).double() for t in (a, b))
    got = run(program(SIGMOID), {"A": a, "B": b}, is_rough=True)["f"]
    torch.testing.assert_close(got, torch.sigmoid(torch.matmul(*ways)), rtol=0, atol=1e-13)
    plain = program("Func f; In A; Var m; RVar k; f[m] = rsum(A[m, k] * A[m, k], k);")
    rough, exact = (run(plain, {"A": a}, is_rough=word)["f"] for word in (True, False))
    assert torch.equal(rough, exact)


def test_what_tf32_holds_is_not_cut() -> None:
    """Halves, powers of 2, and what is no number; whole numbers are no floats."""
    given = program(SIGMOID.replace("sigmoid(rdot(A[m, k], B[k, n], k))", "rdot(A[m,k],B[k,n],k)"))
    a = torch.randn((8, 4), generator=torch.Generator().manual_seed(0)).half()
    one = torch.eye(4, dtype=torch.float16)
    assert torch.equal(run(given, {"A": a, "B": one}, is_rough=True)["f"], a.double())
    some = torch.tensor([[2.0**100, -0.0, 1 + 2**-10, float("nan"), float("-inf")]])
    got = run(given, {"A": some.T, "B": torch.ones(1, 1)}, is_rough=True)["f"]
    torch.testing.assert_close(got, some.T.double(), rtol=0, atol=0, equal_nan=True)
    whole = program(WHOLE)
    large = torch.full((1, 1), 4097.0)
    assert run(whole, {"A": large, "B": large}, is_rough=True)["f"].item() == 4097**2


def test_whether_there_is_a_product() -> None:
    two = program(TWO.replace("sin(rdot(A[m, k], g[k, n], k))", "g[m, n] + 1"))
    assert multiplies(two, "f")
    assert not multiplies(program("Func f; In A; Var m; RVar k; f[m] = rsum(A[m, k], k);"), "f")
