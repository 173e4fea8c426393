"""Launches a case as its file says: in Triton's interpreter as users have it, or on a GPU."""

from __future__ import annotations

import importlib
import linecache
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from types import ModuleType
from typing import Any

import torch

from tests.attack.case import Call, Case

triton: Any = importlib.import_module("triton")
START = "# verify:"


@contextmanager
def module_of(text: str) -> Generator[ModuleType]:
    """Import the text as a module; Triton finds its source in memory."""
    name = f"attacked_{sha256(text.encode()).hexdigest()[:16]}"
    path = f"<{name}>"
    # Without a modification time it never counts as outdated.
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    module = ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    try:
        exec(compile(text, path, "exec"), module.__dict__)
        yield module
    finally:
        del sys.modules[name]
        linecache.cache.pop(path, None)


def lines_of(text: str) -> list[str]:
    """Return the launches that a file describes, as Python text."""
    found: list[str] = []
    for line in text.splitlines():
        if line.startswith(START):
            found.append(line.removeprefix(START).strip())
    return found


def launched(
    case: Case, call: Call, tensors: Mapping[str, torch.Tensor], options: str = ""
) -> None:
    """Carry out the launches of a case; the tensors are changed in place.

    `options` are given to each launch beside what the file says, as `, num_warps=4`.
    """
    labels = {label: range(size) for label, size in call.sizes.items()}
    words = {"cdiv": triton.cdiv, "next_power_of_2": triton.next_power_of_2}
    with module_of(case.text) as module:
        known = {**vars(module), **words, **labels, **tensors, **case.scalars}
        for line in lines_of(case.text):
            said = line.removesuffix(")") + options + ")"
            eval(said, known)


# Values are rounded after each operation, as the types say.
ON_GPU = ", num_warps=4, enable_fp_fusion=False"


def launched_on_gpu(case: Case, call: Call, tensors: Mapping[str, torch.Tensor]) -> None:
    """Launch on a GPU: tensors have the same layouts there, and are copied back."""
    there: dict[str, torch.Tensor] = {}
    for name, tensor in tensors.items():
        place = torch.empty_strided(
            tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cuda"
        )
        there[name] = place.copy_(tensor)
    launched(case, call, there, ON_GPU)
    torch.cuda.synchronize()
    for name, tensor in tensors.items():
        tensor.copy_(there[name])
