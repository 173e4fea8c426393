"""Products of a mixture of experts: groups of rows that a table names, each with its expert."""

from typing import Any, cast

import pytest
import torch
from torch import Tensor

from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.listings import code, module, program

NAME = "grouped_matmul"
GROUP = 64


def groups_of(experts: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Divide rows, which are sorted by experts, into groups; the last of an expert is filled up."""
    rows, found = list[Tensor](), list[int]()
    for expert in range(count):
        mine = (experts == expert).nonzero().flatten()
        for start in range(0, len(mine), GROUP):
            part = torch.full((GROUP,), -1)
            here = mine[start : start + GROUP]
            part[: len(here)] = here
            rows.append(part)
            found.append(expert)
    if not rows:
        return torch.empty(0, GROUP, dtype=torch.int64), torch.empty(0, dtype=torch.int64)
    return torch.stack(rows), torch.tensor(found)


def called(X: Tensor, W: Tensor, C: Tensor, rows: Tensor, experts: Tensor) -> Tensor:
    function: Any = module(NAME).product
    found: Tensor = function(X, W, C, rows, experts)
    assert found is C
    return found


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    ("tokens", "k", "n"), [(0, 4, 3), (1, 64, 1), (130, 65, 130), (200, 17, 5)]
)
def test_each_row_meets_its_expert(tokens: int, k: int, n: int, dtype: torch.dtype) -> None:
    made = torch.Generator().manual_seed(tokens + k)
    X = torch.randn(tokens, k, generator=made).to(dtype)
    W = torch.randn(3, k, n, generator=made).to(dtype)
    experts = torch.randint(0, 3, (tokens,), generator=made).sort().values
    rows, of_group = groups_of(experts, 3)
    C = torch.full((tokens, n), float("nan"), dtype=dtype)
    found = called(X, W, C, rows, of_group).double()
    wanted = torch.zeros(tokens, n, dtype=torch.float64)
    listed: list[int] = cast("Any", experts).tolist()
    for token, expert in enumerate(listed):
        wanted[token] = X[token].double() @ W[expert].double()
    torch.testing.assert_close(found, wanted, rtol=2e-2, atol=8e-2)


def test_what_is_not_there_reads_0_and_is_written_nowhere() -> None:
    """A row outside is left out; an expert outside gives 0; rows that no group has stay."""
    X, W = torch.ones(70, 16), torch.ones(2, 16, 4)
    rows = torch.full((2, GROUP), -1)
    rows[0, :3] = torch.tensor([5, 70, -7])
    rows[1, :2] = torch.tensor([9, 11])
    C = torch.full((70, 4), 3.0)
    called(X, W, C, rows, torch.tensor([1, 2]))
    wanted = torch.full((70, 4), 3.0)
    wanted[5], wanted[9], wanted[11] = 16.0, 0.0, 0.0
    assert torch.equal(C, wanted)


def test_it_is_proved() -> None:
    assert verify(program(NAME), code(NAME).text).verdict is LayerVerdict.PROVED
