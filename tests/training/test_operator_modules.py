"""Modules that are made of operators: their parameters have the names of inputs."""

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch

import dtpoly
from dtpoly.diagnostics import DtpolyError
from dtpoly.training.operator_module import OperatorModule

COMPILE: Callable[..., Any] = vars(torch)["compile"]
TEXT = """
Func y;
In X, W, B, T: i64;
SIn scale;
Var n, d;
RVar k;

y[n, d] = (rdot(X[n, k], W[d, k], k) + B[T[d]]) * scale;
y.compile();
"""
W = torch.linspace(-1, 1, 12).reshape(3, 4)
B = torch.tensor([0.5, -0.25])
T = torch.tensor([0, 1, 1])
X = torch.linspace(0, 2, 20).reshape(5, 4)


def made() -> OperatorModule:
    return dtpoly.differentiable(dtpoly.parse(TEXT)).module(W=W, B=B, T=T, scale=2.0)


def wanted(x: torch.Tensor, w: torch.Tensor = W, b: torch.Tensor = B) -> torch.Tensor:
    return (x @ w.t() + b[T]) * 2


def test_parameters_have_the_names_of_inputs() -> None:
    module = made()
    assert {name for name, _ in module.named_parameters()} == {"W", "B"}
    assert set(module.state_dict()) == {"W", "B", "T"}
    assert "X, scale=2.0" in repr(module)
    torch.testing.assert_close(module(X), wanted(X))
    torch.testing.assert_close(module(X=X), wanted(X))


def test_it_trains() -> None:
    module = made()
    own = dict(module.named_parameters())
    leaves = [own[name] for name in ("W", "B")]
    found = torch.autograd.grad(module(X).sin().sum(), leaves)
    again = [one.clone().requires_grad_() for one in (W, B)]
    exact = torch.autograd.grad(wanted(X, *again).sin().sum(), again)
    for one, other in zip(found, exact, strict=True):
        torch.testing.assert_close(one, other)
    with torch.no_grad():
        own["B"].sub_(0.1 * found[1])
    torch.testing.assert_close(module(X), wanted(X, b=B - 0.1 * exact[1]))
    assert torch.equal(W, torch.linspace(-1, 1, 12).reshape(3, 4))  # the caller's is as it was


def test_a_parameter_is_shared() -> None:
    shared = torch.nn.Parameter(W.clone())
    op = dtpoly.differentiable(dtpoly.parse(TEXT))
    assert op.module(W=shared, scale=1.0).W is shared


def test_it_is_copied_saved_and_moved() -> None:
    module = made()
    saved = io.BytesIO()
    torch.save(module, saved)
    saved.seek(0)
    copies: tuple[OperatorModule, ...] = (
        copy.deepcopy(module),
        pickle.loads(pickle.dumps(module)),
        torch.load(saved, weights_only=False),
    )
    for one in copies:
        assert one is not module
        torch.testing.assert_close(one(X), module(X))
    other = made()
    with torch.no_grad():
        next(iter(other.parameters())).zero_()
    other.load_state_dict(module.state_dict())
    torch.testing.assert_close(other(X), module(X))
    assert module.double()(X.double()).dtype is torch.float64


def test_it_is_compiled_whole() -> None:
    torch.compiler.reset()
    call = COMPILE(made(), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(call(X), wanted(X))


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"V": W}, "there is no input 'V'"),
        ({"X": X, "W": W, "B": B, "T": T, "scale": 1.0}, "so that no call passes any"),
    ],
)
def test_wrong_parameters_are_refused(own: dict[str, object], said: str) -> None:
    with pytest.raises(DtpolyError, match=said):
        dtpoly.differentiable(dtpoly.parse(TEXT)).module(**own)


def test_a_name_that_modules_have_is_refused() -> None:
    op = dtpoly.differentiable(dtpoly.parse(TEXT.replace("W", "half")))
    with pytest.raises(DtpolyError, match="no parameter of a module can be called 'half'"):
        op.module(half=W)


def test_wrong_calls_are_refused() -> None:
    module = made()
    for given, named in (((), {}), ((X, X), {}), ((X,), {"X": X}), ((X,), {"W": W})):
        with pytest.raises((DtpolyError, TypeError)):
            module(*given, **named)
