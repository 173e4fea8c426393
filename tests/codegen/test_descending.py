"""Programs take the blocks of a label from the last one to the first, and compute the same."""

import re

import pytest
import torch

from dtpoly.api import parse
from dtpoly.diagnostics import DtpolyError

ROWS = "Func f; In A; Var x; RVar y; f[x] = rsum(A[x, y], y); f.compile();"
PRODUCT = "Func f; In A, B; Var x, z; RVar y; f[x, z] = rdot(A[x, y], B[y, z], y); f.compile();"
TRIANGLE = (
    "Func f; In A, B; Var x, z; RVar y in [0, x + 1);"
    "f[x, z] = rdot(A[x, y], B[y, z], y); f.compile();"
)
BESIDE = (
    "Func f, g; In A; Var x; RVar y; f[x] = rsum(A[x, y], y); g[x] = rmax(A[x, y], y) + f[x];"
    "g.compile();"
)
SCHEDULES = {
    "rows": (ROWS, "f.block(x:4); f.tensorize(x:4, y:8); f.descending(x);"),
    "one row a program": (ROWS, "f.block(x:1); f.tensorize(y:8); f.descending(x);"),
    "in turn": (ROWS, "f.block(x:2); f.tensorize(x:2, y:8); f.descending(x); f.persistent();"),
    "parts": (ROWS, "f.block(x:2, y:8); f.tensorize(x:2, y:8); f.descending(x, y);"),
    "two labels": (
        PRODUCT,
        "f.block(x:16, z:16); f.tensorize(x:16, z:16, y:16); f.descending(x, z);",
    ),
    "groups": (
        PRODUCT,
        "f.block(x:4, z:8); f.tensorize(x:4, z:8, y:8); f.map(x:xi/2, z, xi); f.descending(x);",
    ),
    "groups the other way": (
        PRODUCT,
        "f.block(x:4, z:8); f.tensorize(x:4, z:8, y:8); f.map(x:xi/3, z, xi); f.descending(x, z);",
    ),
    "a range": (TRIANGLE, "f.block(x:16, z:16); f.tensorize(x:0, z:0, y:16); f.descending(x);"),
    "two kernels": (
        BESIDE,
        "f.block(x:4); f.tensorize(x:4, y:8); f.descending(x);"
        "g.block(x:2); g.tensorize(x:2, y:8); g.descending(x);",
    ),
}


def expected(text: str, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    return {
        ROWS: A.sum(1),
        PRODUCT: A @ B,
        TRIANGLE: torch.tril(A) @ B,
        BESIDE: A.sum(1) + A.amax(1) if A.numel() else A.sum(1),
    }[text]


@pytest.mark.sampled
@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 15, 16, 17, 37])
def test_it_computes_the_same(name: str, size: int) -> None:
    """That it is proved, too, is seen from the warnings: none are allowed."""
    text, schedule = SCHEDULES[name]
    made = torch.Generator().manual_seed(size)
    A = torch.randn(size, size, generator=made)
    B = torch.randn(size, 7, generator=made)
    found = parse(text + schedule)(*([A, B] if "B" in text else [A]))
    wanted = expected(text, A.double(), B.double())
    assert torch.allclose(found.double(), wanted, rtol=1e-4, atol=1e-4)


def test_the_last_block_is_that_of_the_first_program() -> None:
    text, schedule = SCHEDULES["rows"]
    assert "x_start = (x_blocks - 1 - pid) * 4" in parse(text + schedule).source
    text, schedule = SCHEDULES["groups"]
    assert re.search(
        r"x_start = \(x_blocks - 1 - x_group_id \* 2 - pid", parse(text + schedule).source
    )


def test_another_label_is_refused() -> None:
    with pytest.raises(DtpolyError, match="DT185"):
        _ = parse(f"{ROWS} f.block(x:4); f.descending(z);").source
