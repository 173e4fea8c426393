"""Modules like those of torch.nn: the same parameters and arguments, and kernels of dtpoly."""

import torch

from dtpoly.nn import functional


class RMSNorm(torch.nn.RMSNorm):
    """Root-mean-square normalization: torch.nn.RMSNorm with kernels of dtpoly."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the normalized tensor."""
        return functional.rms_norm(x, self.normalized_shape, self.weight, self.eps)


class LayerNorm(torch.nn.LayerNorm):
    """Layer normalization: torch.nn.LayerNorm with kernels of dtpoly."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return the normalized tensor."""
        shape = self.normalized_shape
        return functional.layer_norm(input, shape, self.weight, self.bias, self.eps)


class Softmax(torch.nn.Softmax):
    """Softmax along an axis: torch.nn.Softmax with kernels of dtpoly."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return the softmax."""
        return functional.softmax(input, -1 if self.dim is None else self.dim)


class CrossEntropyLoss(torch.nn.CrossEntropyLoss):
    """Cross entropy of classes: torch.nn.CrossEntropyLoss with kernels of dtpoly."""

    def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Return the loss."""
        said = (self.ignore_index, self.reduction, self.label_smoothing)
        return functional.cross_entropy(input, target, self.weight, *said)


class SwiGLU(torch.nn.Module):
    """SiLU of the first half of the last axis, times its second half."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return half as many numbers."""
        gate, other = input.chunk(2, dim=-1)
        return functional.swiglu(gate, other)


class GeGLU(torch.nn.Module):
    """GELU of the first half of the last axis, times its second half."""

    def __init__(self, approximate: str = "none") -> None:
        """Take torch's word for how GELU is computed: "none" or "tanh"."""
        super().__init__()
        self.approximate = approximate

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return half as many numbers."""
        gate, other = input.chunk(2, dim=-1)
        return functional.geglu(gate, other, self.approximate)
