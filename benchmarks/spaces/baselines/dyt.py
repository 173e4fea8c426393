"""DyT as torch has it: as written, and compiled."""

from typing import Any

import torch
from torch import Tensor

_torch: Any = torch


def torch_eager(X: Tensor, gamma: Tensor, beta: Tensor, alpha: float) -> Tensor:
    """Compute it in torch as a user would write it."""
    return gamma * torch.tanh(alpha * X) + beta


torch_compile = _torch.compile(torch_eager, dynamic=False)
