"""On a GPU: steps of training in a CUDA graph, and kernels that Inductor compiles itself."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

import dtpoly
from dtpoly import nn
from dtpoly.training.differentiable import differentiable
from tests.training.test_operators import NORM, expected

# Inductor of some versions of torch uses what torch calls deprecated, and captures empty graphs.
pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]

COMPILE: Callable[..., Any] = vars(torch)["compile"]
STREAM: Callable[..., Any] = vars(torch.cuda)["Stream"]


def back(loss: Any) -> None:
    """Compute the gradients of a loss; torch says no type of what does so."""
    loss.backward()


def test_a_step_is_captured_and_replayed() -> None:
    layer = nn.RMSNorm(64, eps=1e-6).cuda()
    x = torch.randn(32, 64, device="cuda", requires_grad=True)
    classes = torch.arange(32, device="cuda")

    def step() -> torch.Tensor:
        layer.weight.grad = x.grad = None
        loss = nn.cross_entropy(layer(x), classes)
        back(loss)
        # The loss itself would keep the graph of this call, with nodes of this call's stream.
        return loss.detach()

    stream = STREAM()
    with torch.cuda.stream(stream):
        for _ in range(3):  # everything is compiled before
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step()
    # Later steps have gradients of their own; these are where the graph writes.
    kept = [one for one in (captured, x.grad, layer.weight.grad) if one is not None]
    assert len(kept) == 3
    for seed in range(3):
        with torch.no_grad():
            x.copy_(torch.randn(32, 64, generator=torch.Generator().manual_seed(seed)))
        graph.replay()
        found = [one.clone() for one in kept]
        again = step()
        assert x.grad is not None
        assert layer.weight.grad is not None
        for one, other in zip(found, (again, x.grad, layer.weight.grad), strict=True):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_inductor_compiles_visible_kernels(mode: str) -> None:
    op = differentiable(dtpoly.parse(NORM), save="total", visible=True)

    def computed(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = op(x, w, 0.5)
        return found.sin()

    call = COMPILE(computed, fullgraph=True, mode=mode)
    for rows in (3, 3, 5):
        x = torch.randn(rows, 8, device="cuda", requires_grad=True)
        w = torch.randn(8, device="cuda", requires_grad=True)
        again = [one.detach().clone().requires_grad_() for one in (x, w)]
        found, wanted = call(x, w), expected(again[0], again[1]).sin()
        torch.testing.assert_close(found, wanted)
        back(found.sum())
        back(wanted.sum())
        for one, other in zip((x, w), again, strict=True):
            torch.testing.assert_close(one.grad, other.grad)
