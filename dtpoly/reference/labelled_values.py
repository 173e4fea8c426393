"""Tensors whose axes have labels; operands are laid out along common labels before they meet."""

from collections.abc import Iterable, Mapping, Sequence

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.frozen import dataclass

TORCH_DTYPE: Mapping[DType, torch.dtype] = {
    DType.BOOL: torch.bool,
    DType.U8: torch.uint8,
    DType.I8: torch.int8,
    DType.I16: torch.int16,
    DType.I32: torch.int32,
    DType.I64: torch.int64,
    DType.F8E4M3: torch.float8_e4m3fn,
    DType.F8E5M2: torch.float8_e5m2,
    DType.F16: torch.float16,
    DType.BF16: torch.bfloat16,
    DType.F32: torch.float32,
    DType.F64: torch.float64,
}
DTYPE: Mapping[torch.dtype, DType] = {theirs: ours for ours, theirs in TORCH_DTYPE.items()}


@dataclass(frozen=True, slots=True, eq=False)
class TabulatedValue:
    """A function of labels, tabulated: one axis per label, each label once.

    A weak value is a number: beside a tensor only its category counts, as in torch.
    """

    tensor: torch.Tensor
    labels: tuple[str, ...] = ()
    weak: bool = False


def labels_of(values: Iterable[TabulatedValue]) -> tuple[str, ...]:
    """Return every label of the values, each once."""
    return tuple(dict.fromkeys(label for value in values for label in value.labels))


def laid_out(value: TabulatedValue, labels: Sequence[str]) -> torch.Tensor:
    """Return the tensor with its axes in the order of the labels, and a 1 where it lacks one."""
    mine = [label for label in labels if label in value.labels]
    tensor = value.tensor.permute([value.labels.index(label) for label in mine])
    for axis, label in enumerate(labels):
        if label not in value.labels:
            tensor = tensor.unsqueeze(axis)
    return tensor


def spread(value: TabulatedValue, labels: Sequence[str], sizes: Mapping[str, int]) -> torch.Tensor:
    """Return the tensor with its axes in the order of the labels, repeated along those it lacks."""
    extents = [-1 if label in value.labels else sizes[label] for label in labels]
    return laid_out(value, labels).expand(extents)


def indices_along(
    labels: Sequence[str], sizes: Mapping[str, int], device: torch.device
) -> dict[str, torch.Tensor]:
    """Return the indices of each label along its own axis, with 1s for other labels."""
    return {
        label: laid_out(TabulatedValue(torch.arange(sizes[label], device=device), (label,)), labels)
        for label in labels
    }


def category(dtype: torch.dtype) -> int:
    """0 for bool, 1 for whole numbers, 2 for floats."""
    if dtype is torch.bool:
        return 0
    return 2 if dtype.is_floating_point else 1


def promoted(values: Sequence[TabulatedValue]) -> tuple[list[TabulatedValue], bool]:
    """Return the values in the dtype that torch promotes them to, and whether all are weak."""
    dtype, weak = values[0].tensor.dtype, values[0].weak
    for value in values[1:]:
        dtype, weak = _combined(dtype, weak, value.tensor.dtype, value.weak)
    return [TabulatedValue(v.tensor.to(dtype), v.labels, weak) for v in values], weak


def _combined(
    left: torch.dtype, left_weak: bool, right: torch.dtype, right_weak: bool
) -> tuple[torch.dtype, bool]:
    if left_weak == right_weak:
        return torch.promote_types(left, right), left_weak
    strong, number = (right, left) if left_weak else (left, right)
    return (strong if category(number) <= category(strong) else number), False
