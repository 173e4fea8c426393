"""Run kernels of data in Triton's interpreter, with their memory watched."""

import importlib
import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import torch

from dtpoly.cli.without_algorithm import LOADED, DeclaredTensor, tensors_in
from dtpoly.ring.ring_memory import RingMemory
from dtpoly.source import Source
from tests.codegen.interpreter import interpreted
from tests.verify.kernels_of_data import DataKernel

# Triton has no types to check against.
triton: Any = importlib.import_module("triton")
errors: Any = importlib.import_module("triton.runtime.errors")
DTYPES = {"f32": torch.float32, "i32": torch.int32, "i64": torch.int64}


def declared(text: str) -> tuple[DeclaredTensor, ...]:
    """Return the tensors that a text declares."""
    lines = [one for one in text.splitlines() if one.startswith("# tensors")]
    return tensors_in([(Source("k.py", text), one) for one in lines])


def tensors_of(
    kernel: DataKernel, sizes: Mapping[str, int], random: Random
) -> dict[str, torch.Tensor]:
    """Return tensors for a kernel, with data that keep its promises."""
    found: dict[str, torch.Tensor] = {}
    for one in declared(kernel.text):
        shape = [sizes[axis] if isinstance(axis, str) else axis for axis in one.labels]
        found[one.name] = torch.zeros(shape, dtype=DTYPES[one.dtype])
        if one.name in kernel.data:
            times = shape[0] if one.name in kernel.rows else 1
            count = found[one.name].numel() // times
            parts = [_drawn(kernel, one.name, count, sizes, random) for _ in range(times)]
            data = [number for part in parts for number in part]
            found[one.name].view(-1).copy_(torch.tensor(data))
    return found


def run_watched(
    kernel: DataKernel, text: str, sizes: Mapping[str, int], random: Random, folder: Path
) -> None:
    """Run a text at some sizes; raise if it touches what is no element, or races."""
    tensors = tensors_of(kernel, sizes, random)
    path = folder / "k.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("k", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    said = re.search(r"# verify: (k\[.*\))", text)
    assert said is not None
    memory = RingMemory(source=str(path))
    for one in declared(text):
        memory.add(tensors[one.name], is_output=one.use != LOADED)
    names: dict[str, Any] = {
        **{one: one for one in sizes},
        **tensors,
        **{"k": module.k, "len": sizes.__getitem__},
        **{"cdiv": triton.cdiv, "next_power_of_2": triton.next_power_of_2},
    }
    try:
        with interpreted(memory):
            eval(said[1], names)
    except errors.InterpreterError as error:
        raise error.__cause__ or error from None


def _drawn(
    kernel: DataKernel, name: str, count: int, sizes: Mapping[str, int], random: Random
) -> list[int]:
    low, high = (_end(one, sizes) for one in kernel.data[name])
    if name in (*kernel.distinct, *kernel.rows):
        return random.sample(range(low, high), count)
    found = [random.randrange(low, high) for _ in range(count)]
    return sorted(found) if name in kernel.ascending else found


def _end(of: int | str, sizes: Mapping[str, int]) -> int:
    """Return a number, or the size of a label; `+` behind it is one more."""
    return of if isinstance(of, int) else sizes[of.rstrip("+")] + of.count("+")
