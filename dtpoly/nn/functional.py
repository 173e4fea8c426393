"""Functions that take what those of torch.nn.functional take, and call operators of dtpoly."""

import math
from collections.abc import Sequence

import torch

from dtpoly.nn.packaged_operators import operator

RMS_NORM = operator("rms_norm")
LAYER_NORM = operator("layer_norm")
SOFTMAX = operator("softmax")
CROSS_ENTROPY = operator("cross_entropy")
SWIGLU = operator("swiglu")
GEGLU, GEGLU_TANH = operator("geglu"), operator("geglu_tanh")
LINEAR_CROSS_ENTROPY = operator("linear_cross_entropy")
ATTENTION, CAUSAL_ATTENTION = operator("attention"), operator("causal_attention")
ROPE = operator("rope")


def rms_norm(
    input: torch.Tensor,
    normalized_shape: Sequence[int],
    weight: torch.Tensor | None = None,
    eps: float | None = None,
) -> torch.Tensor:
    """Normalize by the root of the mean square, as torch.nn.functional.rms_norm does."""
    rows = _rows(input, normalized_shape)
    weight = input.new_ones(rows.shape[1]) if weight is None else weight.reshape(-1)
    small = torch.finfo(input.dtype).eps if eps is None else eps
    return _shaped(RMS_NORM(rows, weight, small), input.shape)


def layer_norm(
    input: torch.Tensor,
    normalized_shape: Sequence[int],
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    eps: float = 1e-5,
) -> torch.Tensor:
    """Normalize by mean and deviation, as torch.nn.functional.layer_norm does."""
    rows = _rows(input, normalized_shape)
    size = rows.shape[1]
    weight = input.new_ones(size) if weight is None else weight.reshape(-1)
    bias = input.new_zeros(size) if bias is None else bias.reshape(-1)
    return _shaped(LAYER_NORM(rows, weight, bias, eps), input.shape)


def softmax(input: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Compute the softmax along an axis, as torch.nn.functional.softmax does."""
    moved = input.movedim(dim, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    return _shaped(SOFTMAX(rows), moved.shape).movedim(-1, dim)


def cross_entropy(
    input: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> torch.Tensor:
    """Compute the cross entropy of classes, as torch.nn.functional.cross_entropy does."""
    if weight is not None:
        raise ValueError("dtpoly.nn has no cross entropy with weights of classes: take torch's")
    if target.is_floating_point():
        raise ValueError("dtpoly.nn has no cross entropy of probabilities: pass classes (int64)")
    moved = input.movedim(1, -1) if input.dim() > 2 else input
    rows = moved.reshape(-1, moved.shape[-1])
    losses: torch.Tensor = CROSS_ENTROPY(
        rows, target.reshape(-1), ignore_index, float(label_smoothing)
    )
    return _reduced(losses, target, ignore_index, reduction)


def linear_cross_entropy(
    input: torch.Tensor,
    linear_weight: torch.Tensor,
    target: torch.Tensor,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> torch.Tensor:
    """Compute the cross entropy of `input @ linear_weight.T`, and keep no logits for backward."""
    rows = LINEAR_CROSS_ENTROPY(_matrix(input), linear_weight, target.reshape(-1), ignore_index)
    return _reduced(rows, target, ignore_index, reduction)


def swiglu(gate: torch.Tensor, input: torch.Tensor) -> torch.Tensor:
    """Multiply SiLU of the first tensor by the second one."""
    return _shaped(SWIGLU(_matrix(gate), _matrix(input)), gate.shape)


def geglu(gate: torch.Tensor, input: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    """Multiply GELU of the first tensor by the second one."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"approximate='{approximate}' is none of 'none' and 'tanh'")
    call = GEGLU if approximate == "none" else GEGLU_TANH
    return _shaped(call(_matrix(gate), _matrix(input)), gate.shape)


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    is_causal: bool = False,
    scale: float | None = None,
) -> torch.Tensor:
    """Compute attention over the last two axes, as torch's function of the same name does."""
    size = query.shape[-1]
    scale = 1 / math.sqrt(size) if scale is None else scale
    call = CAUSAL_ATTENTION if is_causal else ATTENTION
    heads = [_heads(one) for one in (query, key, value)]
    return _shaped(call(*heads, scale), (*query.shape[:-1], value.shape[-1]))


def rope(input: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotate the halves of each head by the angles of its position.

    The axes of the input are batch, position, head and number; cos and sin have an axis for
    positions and one for the first half of the numbers, and are cast to the input's type.
    """
    *front, size = input.shape
    halves = input.reshape(*front, 2, size // 2)
    return _shaped(ROPE(halves, cos.to(input.dtype), sin.to(input.dtype)), input.shape)


def _reduced(
    losses: torch.Tensor, target: torch.Tensor, ignored: int, reduction: str
) -> torch.Tensor:
    """Return the losses of all rows, their sum, or their mean over the rows that count."""
    if reduction == "none":
        return losses.view(target.shape)
    if reduction == "sum":
        return losses.sum()
    if reduction != "mean":
        raise ValueError(f"reduction='{reduction}' is none of 'mean', 'sum' and 'none'")
    return losses.sum() / (target != ignored).sum()


def _shaped(found: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    return found.view(*shape)


def _matrix(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.reshape(-1, tensor.shape[-1])


def _heads(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor with axes for batch and heads; one that has both is not copied."""
    if tensor.dim() == 4:
        return tensor
    if tensor.dim() < 4:
        return tensor[(None,) * (4 - tensor.dim())]
    return tensor.reshape(-1, *tensor.shape[-3:])


def _rows(tensor: torch.Tensor, normalized_shape: Sequence[int]) -> torch.Tensor:
    """Return a matrix of the parts that are normalized. Raises ValueError for other shapes."""
    shape = tuple(normalized_shape)
    count = len(shape)
    if not count or tuple(tensor.shape[-count:]) != shape:
        raise ValueError(f"the last axes of {tuple(tensor.shape)} are not {shape}")
    return tensor.reshape(-1, math.prod(shape))
