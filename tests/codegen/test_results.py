"""Tests results of a function: where they are written, empty ones, and too large ones."""

from time import perf_counter
from typing import Any
from unittest import mock

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from dtpoly.diagnostics import DtpolyError
from tests.codegen.calls import ADD, module, refused, text, zeros


@pytest.fixture(scope="module")
def add() -> Any:
    return module(ADD).f


# out=


def test_out_is_written_and_returned(add: Any) -> None:
    A, B = torch.randn(3, 5), torch.randn(5)
    for out in (
        torch.empty(3, 5),
        torch.empty(5, 3).t(),
        torch.empty(6, 10)[::2, ::2],
        torch.empty(3, 1, 5).squeeze(1),
    ):
        assert add(A, B, out=out) is out
        assert torch.equal(out, A + B)


def test_out_is_as_the_result(add: Any) -> None:
    A, B = torch.ones(3, 5), torch.ones(5)
    assert refused(TypeError, add, A, B, out=[]) == "'out' must be a tensor, not list"
    assert refused(ValueError, add, A, B, out=torch.empty(5, 3)) == (
        "'out' is torch.float32 (5, 3) on cpu, but the result is torch.float32 (3, 5) on cpu"
    )
    assert refused(ValueError, add, A, B, out=torch.empty(3, 5).half()).startswith(
        "'out' is torch.float16 (3, 5)"
    )
    assert refused(ValueError, add, A, B, out=torch.empty(3, 5, device="meta")).startswith(
        "'out' is torch.float32 (3, 5) on meta"
    )
    out = torch.empty(3, 5, requires_grad=True)
    assert refused(RuntimeError, add, A, B, out=out).startswith("'out' requires a gradient")


def test_out_overlaps_nothing(add: Any) -> None:
    whole, B = torch.randn(3, 10), torch.randn(5)
    A = whole[:, :5]
    expected = A + B
    assert torch.equal(add(A, B, out=whole[:, 5:]), expected)
    assert torch.equal(A + B, expected)
    message = "'out' overlaps 'A': pass a tensor with memory of its own"
    assert refused(ValueError, add, A, B, out=whole[:, 4:9]) == message
    assert refused(ValueError, add, A, B, out=A) == message
    assert refused(ValueError, add, whole[0].expand(3, 10)[:, :5], B, out=A) == message
    assert refused(ValueError, add, torch.ones(3, 5), whole[2, 5:], out=whole[:, 5:]) == (
        message.replace("A", "B")
    )
    assert refused(ValueError, add, A, B, out=torch.empty(5).expand(3, 5)) == (
        "'out' overlaps itself: shape (3, 5), strides (0, 1)"
    )
    windows = torch.empty(7).unfold(0, 5, 1)
    assert refused(ValueError, add, A, B, out=windows).startswith("'out' overlaps itself")


def test_out_has_memory_as_inputs_have(add: Any) -> None:
    A, B, out = torch.ones(3, 5), torch.ones(5), torch.ones(3, 5)
    fake = FakeTensorMode().from_tensor(out)
    assert refused(TypeError, add, A, B, out=fake).startswith("'out' is a FakeTensor, and no input")
    freed = out.clone()
    freed.untyped_storage().resize_(0)
    for one in (freed, zeros(3, 5)):
        message = "' has no memory: it was freed, or torch does not store its zeros"
        assert refused(ValueError, add, A, B, out=one) == f"'out{message}"
        assert refused(ValueError, add, one, B) == f"'A{message}"


def test_it_does_not_take_long_to_tell_whether_memory_is_shared() -> None:
    """Strides without a pattern add up to nearly anything: then it is refused."""
    labels = ", ".join("abcdeg")
    add = module(f"Func f; In A; Var {labels}; f[{labels}] = A[{labels}] + 1;").f
    sides, base = (10,) * 6, torch.zeros(4 * 10**6)
    primes = [2 * one for one in (1009, 1013, 1019, 1021, 1031, 1033)]
    A = base.as_strided(sides, primes)
    out = base.as_strided(sides, [4 * 10**at // 10 for at in range(6, 0, -1)], 1)
    start = perf_counter()
    assert refused(ValueError, add, A, out=out).startswith("'out' overlaps 'A'")
    assert perf_counter() - start < 2


def test_autograd_knows_that_out_was_written(add: Any) -> None:
    A, B, out = torch.ones(3, 5), torch.ones(5), torch.ones(3, 5)
    weight = torch.ones(3, 5, requires_grad=True)
    total = (weight * out).sum()
    with torch.no_grad():
        add(A, B, out=out)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(total, weight)


# Nothing at all


@pytest.mark.parametrize(
    ("source", "shape", "expected"),
    [
        ("f[x] = rsum(A[x, k], k); f.block(x:2); f.tensorize(k:4);", (3, 0), [0.0] * 3),
        ("f[x] = rmax(A[x, k], k); f.tensorize(x:0, k:0);", (3, 0), [float("-inf")] * 3),
        ("f[x] = rprod(A[x, k], k);", (2, 0), [1.0] * 2),
        ("f[x] = rsum(A[x, k], k);", (0, 3), []),
        ("f[x] = rsum(A[x, k], k); f.block(k:2);", (2, 0), [0.0] * 2),
        ("f[x] = rsum(A[x, k], k); f.block(k:2); f.atomic(k);", (2, 0), [0.0] * 2),
    ],
)
def test_no_elements(source: str, shape: tuple[int, ...], expected: list[float]) -> None:
    function = module(f"Func f; In A; Var x; RVar k; {source}").f
    assert function(torch.empty(shape)).tolist() == expected
    out = torch.full((shape[0],), 7.0)
    assert function(torch.empty(shape), out=out).tolist() == expected


PRODUCT = (
    "Func p, f; In A, B; Var m, n; RVar k; p[m, n] = rdot(A[m, k], B[k, n], k);"
    "f[m, n] = exp(p[m, n]) + rsum(B[k, n], k);"
)
SCHEDULES = {
    "one element at a time": "",
    "two kernels": "p.block(m:2, n:2); f.block(n:4); p.tensorize(m:0, n:0, k:16);",
    "fused": "f.block(m:16); f.tensorize(n:16); p.fuse_at(f, m);",
    "partial results": "p.block(k:2); f.tensorize(m:0);",
    "a whole size": "f.tensorize(m:0, n:0, k:0);",
}


@pytest.mark.sampled
@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
@pytest.mark.parametrize("label", ["m", "n", "k", "mnk"])
def test_any_size_may_be_0(schedule: str, label: str) -> None:
    m, n, k = (0 if one in label else size for one, size in (("m", 3), ("n", 5), ("k", 4)))
    A, B = torch.randn(m, k), torch.randn(k, n)
    expected = (A @ B).exp() + B.sum(0)
    torch.testing.assert_close(module(PRODUCT + schedule).f(A, B), expected)


def test_nothing_to_choose_from() -> None:
    function = module("Func f; In A; Var x; RVar k; f[x] = rargmax(A[x, k], k);").f
    message = "'rargmax' has nothing to choose from: the size of 'k' is 0"
    assert refused(ValueError, function, torch.empty(3, 0)) == message
    assert refused(ValueError, function, torch.empty(0, 0)) == message
    assert function(torch.empty(0, 3)).tolist() == []


# Limits


def test_a_tile_that_sizes_make_too_large() -> None:
    function = module("Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.tensorize(k:0);").f
    assert refused(ValueError, function, torch.ones(1, 1).expand(2, 2**20 + 1)) == (
        "a tile of 'f' would have 2097152 elements, and Triton's limit is 1048576: "
        "write f.tensorize(k:16384) and generate this file again"
    )


def test_a_tile_of_two_labels() -> None:
    function = module("Func f; In A; Var x, y; f[x, y] = A[x, y]; f.tensorize(x:0, y:0);").f
    assert refused(ValueError, function, torch.ones(1, 1).expand(1025, 1000)) == (
        "a tile of 'f' would have 2097152 elements, and Triton's limit is 1048576: "
        "write f.tensorize(x:128, y:128) and generate this file again"
    )


def test_a_tile_that_is_always_too_large() -> None:
    source = "Func f; In A; Var x, y; f[x, y] = A[x, y]; f.tensorize(x:2048, y:1024);"
    with pytest.raises(DtpolyError) as caught:
        text(source)
    (found,) = caught.value.diagnostics
    assert found.notes[0].text == (
        "a tile of 'f' has 2097152 elements, and Triton's limit is 1048576: "
        "tensorize by smaller numbers"
    )


def test_a_tile_that_is_too_large_for_each_size() -> None:
    source = "Func f; In A; Var x, y; f[x, y] = A[x, y]; f.tensorize(x:131072, y:0);"
    with pytest.raises(DtpolyError) as caught:
        text(source)
    (found,) = caught.value.diagnostics
    assert found.notes[0].text == (
        "a tile of 'f' has at least 2097152 elements, and Triton's limit is 1048576: "
        "tensorize by smaller numbers"
    )
    assert text(source.replace("131072", "65536"))


def test_more_programs_than_a_grid_has() -> None:
    made: Any = module("Func f; In A; Var x, y; f[x, y] = A[x]; f.block(x:1, y:2);")
    room = torch.empty(1).expand(2**16, 2**17)
    A = torch.ones(1).expand(2**16)
    with mock.patch.object(torch, "empty", return_value=room):
        assert refused(ValueError, made.f, A, y=2**17) == (
            "'f' would need 4294967296 programs, and a grid has at most 2147483647: "
            "give each a larger block, and generate this file again"
        )
