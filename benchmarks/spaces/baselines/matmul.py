"""Matrix product as torch has it: as written, and compiled."""

from typing import Any

import torch
from torch import Tensor

_torch: Any = torch


def torch_eager(A: Tensor, B: Tensor) -> Tensor:
    """Compute it in torch as a user would write it."""
    return A @ B


torch_compile = _torch.compile(torch_eager, dynamic=False)
