"""Attention as torch has it: as written, and compiled; products may round as ours do."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as nn
from torch import Tensor

_torch: Any = torch


def torch_eager(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    """Compute it in torch as a user would write it."""
    return _rough(_eager, Q, K, V)


def torch_compile(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    """Return the same, compiled."""
    return _rough(_compiled, Q, K, V)


def torch_sdpa(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    """Compute it by torch's own function for attention."""
    return _rough(_sdpa, Q, K, V)


def _sdpa(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    return nn.scaled_dot_product_attention(Q[None, None], K[None, None], V[None, None])[0, 0]


def _eager(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    return torch.softmax(Q @ K.T / K.shape[1] ** 0.5, -1) @ V


_compiled: Callable[..., Tensor] = _torch.compile(_eager, dynamic=False)


def _rough(function: Callable[..., Tensor], *given: Tensor) -> Tensor:
    """In tf32, for so long."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        return function(*given)
    finally:
        torch.set_float32_matmul_precision(before)
