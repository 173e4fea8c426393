"""Loads emitted texts, and fills tensors before they write them."""

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor


@cache
def loaded(path: Path, _: str = "") -> ModuleType:
    """Load a text once, so that a kernel is compiled once; anew, if its hash is new."""
    spec = importlib.util.spec_from_file_location(f"prepared_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fill(tensor: Tensor) -> None:
    """Fill a tensor with what no right result has; truths have no such value."""
    if tensor.dtype is not torch.bool:
        is_float = tensor.dtype.is_floating_point
        tensor.fill_(float("nan") if is_float else torch.iinfo(tensor.dtype).min)
