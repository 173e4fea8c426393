"""Tests that a call takes the short way only where nobody looks on, and that both do the same."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode

from dtpoly.diagnostics import DtpolyError
from dtpoly.training.eager_calls import is_ordinary
from dtpoly.training.torch_operators import KNOWN
from tests.training.test_operators import SIZES, expected, leaves, made


class Watching(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes the operators that are dispatched."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


class Labelled(torch.Tensor):
    """A class of tensors of one's own."""


def node(found: torch.Tensor) -> str:
    assert found.grad_fn is not None
    return found.grad_fn.name()


def test_an_ordinary_call_goes_straight_to_autograd() -> None:
    op = made()
    x, w = leaves(3, 5)
    assert node(op(x, w, 0.5)) == "_CallBackward"
    assert node(op(torch.nn.Parameter(x), w, 0.5)) == "_CallBackward"
    assert op(x.detach(), w.detach(), 0.5).grad_fn is None
    with torch.no_grad():
        assert op(x, w, 0.5).grad_fn is None
    with torch.inference_mode():
        assert op(x, w, 0.5).is_inference()


def test_who_looks_on_sees_the_operator() -> None:
    op = made()
    name = op.name.replace("::", ".")
    x, w = leaves(3, 5)
    with Watching() as seen:
        found = op(x, w, 0.5)
    assert [one for one in seen.names if name in one]
    torch.testing.assert_close(found, expected(x, w))
    mine = op(x.detach().as_subclass(Labelled), w, 0.5)
    assert isinstance(mine, Labelled)
    assert "_CallBackward" not in node(mine)
    with Watching() as seen:
        op(*leaves(3, 5), 0.5).sum().backward()
    assert len([one for one in seen.names if one.startswith("dtpoly.")]) == 2  # and its gradient


def test_derivatives_forwards_and_transforms_look_on() -> None:
    x = torch.ones(2)
    assert is_ordinary([x, 0.5, None])
    with forward_ad.dual_level():
        assert not is_ordinary([x])
    found: list[bool] = []

    def noted(one: torch.Tensor) -> torch.Tensor:
        found.append(is_ordinary([one]))
        return one

    vars(torch.func)["vmap"](noted)(x)
    assert found == [False]


@pytest.mark.parametrize(("rows", "columns"), SIZES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_both_ways_do_the_same(rows: int, columns: int, dtype: torch.dtype) -> None:
    op = made()
    registered: Callable[..., torch.Tensor] = KNOWN[op.name].calls[0]
    x, w = leaves(rows, columns, dtype)
    gift = torch.randn(rows, columns, dtype=torch.float64).to(dtype)
    one, two = op(x, w, 0.5), registered(x, w, 0.5)
    assert node(one) != node(two)
    torch.testing.assert_close(one, two, rtol=0, atol=0)
    for asked in ([x, w], [x], [w]):
        both = (torch.autograd.grad(y, asked, gift, retain_graph=True) for y in (one, two))
        for mine, other in zip(*both, strict=True):
            torch.testing.assert_close(mine, other, rtol=0, atol=0)


def test_the_gradient_of_the_gradient() -> None:
    op = made()
    x, w = leaves(3, 5)
    (first,) = torch.autograd.grad(op(x, w, 0.5).sum(), x, create_graph=True)
    (wanted,) = torch.autograd.grad(expected(x, w).sum(), x, create_graph=True)
    torch.testing.assert_close(first, wanted)
    assert node(first) == "_CallBackward"
    for mine, other in zip(
        torch.autograd.grad(first.sin().sum(), (x, w)),
        torch.autograd.grad(wanted.sin().sum(), (x, w)),
        strict=True,
    ):
        torch.testing.assert_close(mine, other)


def test_the_gradient_of_a_sum_is_laid_out_for_kernels() -> None:
    """It is one number for all elements; the kernels for such a tensor are slow."""
    x, w = leaves(3, 5)
    given: list[tuple[int, ...]] = []
    op = made()

    class Layouts(Watching):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if str(func).startswith("dtpoly."):
                given.extend(one.stride() for one in args if isinstance(one, torch.Tensor))
            return super().__torch_dispatch__(func, types, args, kwargs)

    with Layouts():
        op(x, w, 0.5).mean().backward()
    assert len(given) > 4
    assert not any(0 in one for one in given)


def test_what_was_changed_after_the_call_is_refused() -> None:
    """Torch sees that a backward would read what is no longer there."""
    x, w = leaves(3, 5)
    kept = x * 1
    found = made()(kept, w, 0.5)
    with torch.no_grad():
        kept.mul_(2)
    with pytest.raises(DtpolyError, match=r"DT285.*values that were changed"):
        found.sum().backward()
