"""A mixture of experts from end to end: gate, sorted groups, their products, and the sum of them.

The kernels are those of examples/: `moe_gate`, `grouped_matmul` and `moe_combine`. Between them the
caller sorts, as the comment of `grouped_matmul` says.
"""

from typing import Any

import pytest
import torch

from tests.codegen.listings import module

GROUP = 64


def in_groups(expert: torch.Tensor, experts: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rows of each group, -1 where it has fewer than 64, and the expert of the group."""
    rows: list[torch.Tensor] = []
    chosen: list[int] = []
    for one in range(experts):
        mine = (expert == one).nonzero()[:, 0]
        for part in (mine[at : at + GROUP] for at in range(0, len(mine), GROUP)):
            rows.append(torch.nn.functional.pad(part, (0, GROUP - len(part)), value=-1))
            chosen.append(one)
    none = torch.zeros(0, GROUP, dtype=torch.int64)
    return torch.stack(rows) if rows else none, torch.tensor(chosen, dtype=torch.int64)


def by_torch(
    x: torch.Tensor, logits: torch.Tensor, w: torch.Tensor, residual: torch.Tensor
) -> torch.Tensor:
    """Return the layer, one token and one expert after the other."""
    weights, chosen = torch.topk(torch.softmax(logits.double(), 1), 2, 1)
    weights = weights / weights.sum(1, keepdim=True)
    found = residual.double().clone()
    for token in range(len(x)):
        for weight, expert in zip(weights[token], chosen[token], strict=True):
            found[token] += weight * (x[token].double() @ w[int(expert)].double())
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("tokens", [0, 1, 37, 150])
@pytest.mark.parametrize("experts", [2, 5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_layer_of_experts(tokens: int, experts: int, dtype: torch.dtype) -> None:
    drawn = torch.Generator().manual_seed(tokens + experts)
    x = torch.randn(tokens, 70, generator=drawn).to(dtype)
    logits = torch.randn(tokens, experts, generator=drawn)
    if experts == 5:
        logits[:, 3] = -100.0  # an expert without a token
    w = (torch.randn(experts, 70, 131, generator=drawn) / 8).to(dtype)
    residual = torch.randn(tokens, 131, generator=drawn)
    gate: Any = module("moe_gate")
    grouped: Any = module("grouped_matmul")
    combine: Any = module("moe_combine")

    weights, expert = gate.weight(logits)
    # Row 2 * t + j is the copy of token t for its expert j.
    copies = x.repeat_interleave(2, 0)
    rows, of = in_groups(expert.flatten(), experts)
    products = torch.zeros(2 * tokens, 131, dtype=dtype)
    grouped.product(copies, w, products, rows, of)
    token = torch.arange(tokens).repeat_interleave(2)
    total = residual.clone()
    combine.combined(total, token, weights.flatten().to(dtype), products)

    share = 1e-4 if dtype is torch.float32 else 3e-2
    wanted = by_torch(x, logits, w, residual)
    torch.testing.assert_close(total.double(), wanted, rtol=share, atol=share)
