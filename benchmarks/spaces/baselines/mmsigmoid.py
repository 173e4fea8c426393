"""Matrix product and sigmoid as torch has it, also compiled; products may round as ours do."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

_torch: Any = torch


def torch_eager(A: Tensor, B: Tensor) -> Tensor:
    """Compute it in torch as a user would write it."""
    return _rough(_eager, A, B)


def torch_compile(A: Tensor, B: Tensor) -> Tensor:
    """Return the same, compiled."""
    return _rough(_compiled, A, B)


def _eager(A: Tensor, B: Tensor) -> Tensor:
    return torch.sigmoid(A @ B)


_compiled: Callable[..., Tensor] = _torch.compile(_eager, dynamic=False)


def _rough(function: Callable[..., Tensor], *given: Tensor) -> Tensor:
    """In tf32, for so long."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        return function(*given)
    finally:
        torch.set_float32_matmul_precision(before)
