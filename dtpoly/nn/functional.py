"""Functions that take what those of torch.nn.functional take, and call operators of dtpoly."""

import math
from collections.abc import Sequence

import torch

from dtpoly.nn.fused_losses import losses_in_place, rows_that_fit, sum_in_chunks
from dtpoly.nn.packaged_operators import operator
from dtpoly.training.eager_calls import is_ordinary
from dtpoly.training.operator_messages import (
    leaf_in_place,
    no_class,
    none_of,
    not_there,
    refused,
    unfit_shapes,
)

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
    rows = _rows("rms_norm", input, normalized_shape)
    weight = input.new_ones(rows.shape[1]) if weight is None else _line(weight)
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
    rows = _rows("layer_norm", input, normalized_shape)
    size = rows.shape[1]
    weight = input.new_ones(size) if weight is None else _line(weight)
    bias = input.new_zeros(size) if bias is None else _line(bias)
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
    *,
    in_place: bool = False,
) -> torch.Tensor:
    """Compute the cross entropy of classes, as torch.nn.functional.cross_entropy does.

    With `in_place` the call computes the gradient together with the losses, and writes it over the
    logits: so they are read once, and need no further memory. The gradient has no gradient then.
    Where no gradient is asked for, and under torch.compile, logits stay as they are.
    """
    name = "cross_entropy"
    if weight is not None:
        raise not_there(name, "weights of classes", "take torch's function, or leave out weight=")
    if target.is_floating_point():
        way = "pass classes (int64), or take torch's function"
        raise not_there(name, "probabilities as targets", way)
    moved = input.movedim(1, -1) if input.dim() > 2 else input
    _check_classes(name, moved, target, moved.shape[-1] if moved.dim() else 0, ignore_index)
    rows, classes = _matrix(moved), _line(target)
    smoothing = float(label_smoothing)
    if in_place and _is_trained(input):
        if _shares_a_leaf(input):
            raise leaf_in_place("the tensor of logits")
        losses = losses_in_place(rows, classes, ignore_index, smoothing)
        losses = losses if _is_autocast(input) else losses.to(input.dtype)
    else:
        losses = CROSS_ENTROPY(rows, classes, ignore_index, smoothing)
    return _reduced(losses, target, ignore_index, reduction)


def linear_cross_entropy(
    input: torch.Tensor,
    linear_weight: torch.Tensor,
    target: torch.Tensor,
    ignore_index: int = -100,
    reduction: str = "mean",
    *,
    rows_at_once: int | str | None = None,
) -> torch.Tensor:
    """Compute the cross entropy of `input @ linear_weight.T`, and keep no logits for backward.

    With `rows_at_once` the logits of so many rows are in memory at a time, and the gradients are
    computed with the loss; "fit" chooses a number for which they take about as much memory as the
    gradients do. Gradients have no gradients then, and losses are added up.
    """
    name, count = "linear_cross_entropy", linear_weight.shape[0]
    if input.shape[-1:] != linear_weight.shape[1:] or linear_weight.dim() != 2:
        said = f"rows of {tuple(input.shape)} do not fit a weight of {tuple(linear_weight.shape)}"
        raise unfit_shapes(name, said, "pass a weight of (classes, the last size of the input)")
    _check_classes(name, input, target, count, ignore_index)
    rows, classes = _matrix(input), _line(target)
    at_once = _at_once(rows_at_once, rows, count)
    if at_once is None or torch.compiler.is_compiling():
        losses = LINEAR_CROSS_ENTROPY(rows, linear_weight, classes, ignore_index)
        return _reduced(losses, target, ignore_index, reduction)
    if not _is_trained(input, linear_weight):
        starts = range(0, max(len(rows), 1), at_once)
        parts = [slice(one, one + at_once) for one in starts]
        found = [
            LINEAR_CROSS_ENTROPY(rows[one], linear_weight, classes[one], ignore_index)
            for one in parts
        ]
        return _reduced(torch.cat(found), target, ignore_index, reduction)
    if reduction not in ("mean", "sum"):
        way = "add losses up by reduction='mean' or 'sum', or leave out rows_at_once="
        raise not_there(name, f"rows_at_once= with reduction={reduction!r}", way)
    is_autocast = _is_autocast(input)
    if is_autocast:
        rows, linear_weight = _in_autocast(rows), _in_autocast(linear_weight)
    total = sum_in_chunks(rows, linear_weight, classes, ignore_index, at_once)
    total = total if reduction == "sum" else total / (target != ignore_index).sum()
    return total if is_autocast else total.to(input.dtype)


def _at_once(asked: int | str | None, rows: torch.Tensor, classes: int) -> int | None:
    """Return how many rows have their logits in memory at a time; None means all of them."""
    if asked is None:
        return None
    if asked == "fit":
        return rows_that_fit(len(rows), rows.shape[1], classes)
    if not isinstance(asked, int) or isinstance(asked, bool) or asked < 1:
        title = f"rows_at_once={asked!r} is no number of rows"
        raise refused("DT275", title, "it is a whole number, at least 1", "or say 'fit'")
    return asked


def _is_trained(*inputs: torch.Tensor) -> bool:
    """Return whether a gradient of an ordinary call may be asked for."""
    is_asked = torch.is_grad_enabled() and any([one.requires_grad for one in inputs])
    return is_asked and not torch.compiler.is_compiling()


def _shares_a_leaf(tensor: torch.Tensor) -> bool:
    """Return whether a tensor is a leaf, or a view of one: to write it changes a parameter."""
    base = tensor._base
    return tensor.is_leaf or (base is not None and base.is_leaf and base.requires_grad)


def _is_autocast(tensor: torch.Tensor) -> bool:
    return torch.is_autocast_enabled(tensor.device.type)


def _in_autocast(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor in the type of torch.autocast; f64 stays."""
    if tensor.dtype is torch.float64:
        return tensor
    return tensor.to(torch.get_autocast_dtype(tensor.device.type))


def _check_classes(
    name: str, rows: torch.Tensor, target: torch.Tensor, count: int, ignored: int
) -> None:
    """Refuse targets that are no classes of rows; what a GPU has is not waited for."""
    if target.dtype is not torch.int64:
        way = "pass target.long()"
        raise not_there(name, f"targets of {target.dtype}: classes are torch.int64", way)
    if rows.shape[:-1] != target.shape:
        said = f"logits of {tuple(rows.shape)} have no classes of {tuple(target.shape)}"
        if name != "cross_entropy":
            said = f"rows of {tuple(rows.shape)} have no classes of {tuple(target.shape)}"
        raise unfit_shapes(name, said, "pass a class for each row")
    if not target.is_cpu or torch.compiler.is_compiling() or not target.numel():
        return
    wrong = (target != ignored) & ((target < 0) | (target >= count))
    if _is_real(target) and bool(wrong.any()):
        raise no_class(name, int(target[wrong][0]), count, ignored)


def _is_real(tensor: torch.Tensor) -> bool:
    """Return whether a tensor has values that can be looked at: no mode or transform has it."""
    return is_ordinary([tensor])


def swiglu(gate: torch.Tensor, input: torch.Tensor) -> torch.Tensor:
    """Multiply SiLU of the first tensor by the second one."""
    _check_halves("swiglu", gate, input)
    return _shaped(SWIGLU(_matrix(gate), _matrix(input)), gate.shape)


def geglu(gate: torch.Tensor, input: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    """Multiply GELU of the first tensor by the second one."""
    if approximate not in ("none", "tanh"):
        raise none_of("approximate", approximate, ("none", "tanh"))
    call = GEGLU if approximate == "none" else GEGLU_TANH
    _check_halves("geglu", gate, input)
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
    if key.shape[:-1] != value.shape[:-1] or query.shape[:-2] != key.shape[:-2]:
        said = f"queries of {tuple(query.shape)}, keys of {tuple(key.shape)}"
        said = f"{said} and values of {tuple(value.shape)} do not fit"
        way = "pass as many heads and batches of each, as by key.repeat_interleave(n, dim=1)"
        raise unfit_shapes("scaled_dot_product_attention", said, way)
    heads = [_heads(one) for one in (query, key, value)]
    return _shaped(call(*heads, scale), (*query.shape[:-1], value.shape[-1]))


def rope(input: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotate the halves of each head by the angles of its position.

    The axes of the input are batch, position, head and number; cos and sin have an axis for
    positions and one for the first half of the numbers, and are cast to the input's type.
    """
    *front, size = input.shape
    if size % 2 or cos.shape != sin.shape or cos.shape[-1:] != (size // 2,):
        said = f"heads of {size} numbers do not fit angles of {tuple(cos.shape)}"
        raise unfit_shapes("rope", said, "pass an angle for each number of half a head")
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
        raise none_of("reduction", reduction, ("mean", "sum", "none"))
    return losses.sum() / (target != ignored).sum()


def _shaped(found: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    return found if found.shape == shape else found.view(*shape)


def _check_halves(name: str, gate: torch.Tensor, input: torch.Tensor) -> None:
    """Refuse halves of which one has elements that the other lacks."""
    if gate.shape != input.shape:
        said = f"a gate of {tuple(gate.shape)} does not fit an input of {tuple(input.shape)}"
        raise unfit_shapes(name, said, "pass two tensors of one shape, as x.chunk(2, dim=-1) does")


def _matrix(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.dim() == 2 else tensor.reshape(-1, tensor.shape[-1])


def _heads(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor with axes for batch and heads; one that has both is not copied."""
    if tensor.dim() == 4:
        return tensor
    if tensor.dim() < 4:
        return tensor[(None,) * (4 - tensor.dim())]
    return tensor.reshape(-1, *tensor.shape[-3:])


def _rows(name: str, tensor: torch.Tensor, normalized_shape: Sequence[int]) -> torch.Tensor:
    """Return a matrix of the parts that are normalized. Raises DtpolyError for other shapes."""
    shape = tuple(normalized_shape)
    count = len(shape)
    if not count or tuple(tensor.shape[-count:]) != shape:
        said = f"the last axes of {tuple(tensor.shape)} are not {shape}"
        raise unfit_shapes(name, said, "pass the sizes of the last axes as normalized_shape=")
    if count == 1 and tensor.dim() == 2:
        return tensor
    return tensor.reshape(-1, math.prod(shape))


def _line(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor with one axis. Each view that is not made saves autograd a step."""
    return tensor if tensor.dim() == 1 else tensor.reshape(-1)
