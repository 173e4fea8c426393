"""Tests torch.vmap over operators: one call with a label for the batch, not one per element."""

from collections.abc import Callable
from functools import partial

import pytest
import torch

import dtpoly
from dtpoly.algorithm.show import show
from dtpoly.training.batching import with_batch
from dtpoly.training.differentiable import Differentiable, differentiable
from dtpoly.training.torch_operators import KNOWN
from tests.gradient.comparing import read
from tests.training.test_operators import Call, compare, expected, leaves, made

VMAP: Callable[..., Call] = vars(torch)["vmap"]
JACOBIAN: Callable[..., tuple[torch.Tensor, ...]] = vars(torch.autograd.functional)["jacobian"]
F64 = torch.float64


def random(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(len(shape))
    return torch.randn(shape, generator=generator, dtype=F64).requires_grad_()


def calls_of(op: Differentiable, act: Callable[[], object]) -> int:
    """Count how often kernels of an operator and of its batches run."""
    operator = KNOWN[op.name]
    others = [one[0] for one in operator.batches.values() if one is not None]
    count = 0

    def counted(run: Callable[..., object]) -> Callable[..., object]:
        def called(*given: object, **named: object) -> object:
            nonlocal count
            count += 1
            return run(*given, **named)

        return called

    for one in (operator, *others):
        one.ready = {key: counted(run) for key, run in one.ready.items()}
    act()
    for one in (operator, *others):
        one.ready.clear()
    return count


@pytest.mark.parametrize("dims", [(0, None), (1, 0), (None, 1)])
def test_values_and_gradients(dims: tuple[int | None, int | None]) -> None:
    op = made(save="total")
    x = random(2, 4) if dims[0] is None else random(3, 2, 4).movedim(0, dims[0]).detach()
    w = random(4) if dims[1] is None else random(3, 4).movedim(0, dims[1]).detach()
    given = [one.detach().requires_grad_() for one in (x, w)]
    ours, theirs = (VMAP(one, in_dims=dims) for one in (partial(op, eps=0.5), expected))
    compare(ours, theirs, *given)


def test_one_call_for_the_whole_batch() -> None:
    op, x, w = made(), random(5, 2, 4).detach(), random(4).detach()
    mapped = VMAP(partial(op, eps=0.5), in_dims=(0, None))
    wanted = mapped(x, w)
    torch.testing.assert_close(wanted, VMAP(expected, in_dims=(0, None))(x, w))
    assert calls_of(op, lambda: mapped(x, w)) == 1


@pytest.mark.long
def test_a_vmap_in_a_vmap() -> None:
    op = made(save="total")

    def twice(call: Call) -> Call:
        return VMAP(VMAP(call, in_dims=(0, None)), in_dims=(0, 0))

    compare(twice(partial(op, eps=0.5)), twice(expected), random(2, 3, 2, 4), random(2, 4))


@pytest.mark.long
def test_a_jacobian_at_once() -> None:
    """torch asks for many gradients at once by a vmap of its own."""
    op, given = made(), tuple(one.detach() for one in leaves(2, 3))
    found = JACOBIAN(partial(op, eps=0.5), given, vectorize=True)
    wanted = JACOBIAN(expected, given)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)


def test_a_result_without_a_batch_stays_without() -> None:
    text = "Func f, g; In A, B; Var x; f[x] = A[x] * 2; g[x] = B[x] + 1; f.compile(g);"
    op = differentiable(dtpoly.parse(text))
    a, b = random(3, 2).detach(), random(2).detach()
    one, two = VMAP(op, in_dims=(0, None), out_dims=0)(a, b)
    torch.testing.assert_close(one, a * 2)
    torch.testing.assert_close(two, (b + 1).expand(3, 2))


def test_numbers_of_a_batch_are_called_one_by_one() -> None:
    op, (x, w) = made(), [one.detach() for one in leaves(2, 4)]
    eps = torch.tensor([0.5, 1.0, 2.0], dtype=F64)
    found = VMAP(op, in_dims=(None, None, 0))(x, w, eps)
    torch.testing.assert_close(found, torch.stack([expected(x, w, float(one)) for one in eps]))


BATCHED = [
    # The text, the inputs that have a batch, and parts of the text that has one.
    (
        "Func f, t; In A, B; Var x, y; RVar k; t[x] = rsum(A[x, k], k);"
        "f[x, y] = A[x, y] / reshape(t[x], x, 1) + B[y];",
        "A",
        ("t[batch, x] = rsum(A[batch, x, k], k)", "reshape(t[batch, x], batch, x, 1)", "B[y]"),
    ),
    (
        "Func f; In E, T: i64; Var l, k; f[l, k] = E[T[l], k];",
        "T",
        ("f[batch, l, k] = E[T[batch, l], k]",),
    ),
    (
        "Func f; In E, T: i64; Var l, k; f[l, k] = E[T[l], k];",
        "E",
        ("f[batch, l, k] = E[batch, T[l], k]",),
    ),
    (
        "Func z, f into z at [T[l], k] add; In T: i64, A; Var l, k, v: 3; z[v, k] = 0;"
        "f[l, k] = A[l, k];",
        "A",
        ("into z at [batch, T[l], k] add", "z[batch, v, k] = 0", "f[batch, l, k]"),
    ),
    (
        "Func f; In A, batch; Var x; f[x] = A[x] * batch[x];",
        "A",
        ("f[batch_2, x] = A[batch_2, x] * batch[x]",),
    ),
    (
        "Func f; In A, W; Var h; RVar r: 3; f[h] = rsum(pad(A, 0)[h + r - 1] * W[r], r);",
        "A",
        ("rsum(pad(A, 0)[batch, h + r - 1] * W[r], r)",),
    ),
]


@pytest.mark.parametrize(("text", "inputs", "parts"), BATCHED)
def test_texts(text: str, inputs: str, parts: tuple[str, ...]) -> None:
    made = with_batch(read(text + "f.compile();"), [inputs]).program
    found = show(made)
    for part in parts:
        assert part in found, found
    assert read(found + "f.compile();").funcs == made.funcs
