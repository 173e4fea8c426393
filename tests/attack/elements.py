"""Elements of tensors as the evaluator keeps them, and where they are not what was expected.

This needs nothing of dtpoly, so that a machine that has only Triton and a GPU can compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from tests.attack.case import Given
from tests.attack.numbers import BITS, Array, nearest

KINDS = {
    "f8e4m3": "tl.float8e4nv",
    "f8e5m2": "tl.float8e5",
    "f16": "tl.float16",
    "bf16": "tl.bfloat16",
    "f32": "tl.float32",
    "f64": "tl.float64",
    "i8": "tl.int8",
    "u8": "tl.uint8",
    "i16": "tl.int16",
    "i32": "tl.int32",
    "i64": "tl.int64",
    "bool": "tl.int1",
}


def numbers_of(kind: str, tensor: torch.Tensor) -> Array:
    """Return the elements of a tensor as the evaluator keeps them."""
    data: Any = tensor.detach().cpu()
    if kind == "tl.int1":
        return np.asarray(data.numpy(), np.bool_)
    if kind in BITS:
        return np.asarray(data.to(torch.int64).numpy(), np.int64)
    return nearest(kind, np.asarray(data.to(torch.float64).numpy()))


def wrong_at(wanted: Array, slack: Array, real: Array) -> Array:
    """True where a number is neither the expected one nor as near as it may be."""
    with np.errstate(all="ignore"):
        is_right: Array = (wanted == real) | np.isinf(slack)
        if wanted.dtype.kind == "f":
            apart = np.abs(wanted.astype(np.float64) - real.astype(np.float64))
            is_right = is_right | (np.isnan(wanted) & np.isnan(real)) | (apart <= slack)
    return ~is_right


def difference(
    one: Given, wanted: Array, slack: Array, tensors: Mapping[str, torch.Tensor]
) -> str | None:
    """Describe the first element of a tensor that is wrong, or return None if there is none."""
    real = numbers_of(KINDS[one.dtype], tensors[one.name])
    wrong = wrong_at(wanted, slack, real)
    for at in np.argwhere(wrong)[:1]:
        place = tuple(int(index) for index in at)
        count = int(np.sum(wrong))
        return (
            f"{one.name}{list(place)} is {real[place]!r}, and read as {wanted[place]!r}"
            f" +- {slack[place]:g} ({count} of {wrong.size} differ)"
        )
    return None
