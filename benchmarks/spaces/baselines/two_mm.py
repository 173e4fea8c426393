"""Two matrix products as torch has it: as written, and compiled."""

from typing import Any

import torch
from torch import Tensor

_torch: Any = torch


def torch_eager(A: Tensor, B: Tensor, C: Tensor) -> Tensor:
    """What a user would write."""
    return A @ B @ C


torch_compile = _torch.compile(torch_eager, dynamic=False)
