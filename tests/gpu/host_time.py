"""Measures what a call costs the host, and counts variants of kernels; needs a GPU.

`python tests/gpu/host_time.py FOLDER` takes `add.py`, `matmul.py` and `softmax.py` there, which
`dtpoly compile` wrote. It needs torch and Triton, and nothing of dtpoly.
"""

import importlib
import importlib.util
import itertools
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import torch

triton: Any = importlib.import_module("triton")
CALLS = 300  # fewer than fit into the GPU's queue
REPEATS = 5
ROUNDS = 20
SHAPES = 200
MOST = 8
SIZES = (1, 2, 3, 15, 16, 17, 31, 32, 64, 100, 128, 129, 250, 256, 500, 512, 1000, 2048)
Call = Callable[[], object]


def module_of(path: Path) -> ModuleType:
    """Import a generated file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def host_time(call: Call) -> float:
    """Return the microseconds for which a call holds the host, as the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        best = min(best, time.perf_counter() - start)
    torch.cuda.synchronize()
    return best / CALLS * 1e6


def launches(module: ModuleType, name: str, tensors: Sequence[torch.Tensor]) -> tuple[Call, Call]:
    """Return the launch of a call, by the file's own launcher and by Triton's."""
    calls: list[Any] = []

    def note(*given: Any) -> None:
        calls.append(given)

    with mock.patch.object(module, "dt_start", note):
        getattr(module, name).__wrapped__(*tensors)
    ((kernel, choose, blocks, programs, args, constants),) = calls
    start = module.dt_start
    return (
        lambda: start(kernel, choose, blocks, programs, [*args], {**constants}),
        lambda: kernel[(programs,)](*args, **constants),
    )


def ways(module: ModuleType, name: str, dtype: torch.dtype) -> dict[str, Call]:
    """Return calls of a function of two inputs, of its peers, and of its parts."""
    function, eager = getattr(module, name), getattr(torch, name)
    A, B = (torch.randn(128, 128, device="cuda", dtype=dtype) for _ in range(2))
    out, device = torch.empty_like(A), A.device
    ours, tritons = launches(module, name, (A, B))

    def empty() -> object:
        return torch.empty((128, 128), dtype=dtype, device=device)

    def empty_and_triton() -> None:
        empty()
        tritons()

    return {
        "ours": lambda: function(A, B),
        "ours, out=": lambda: function(A, B, out=out),
        "ours, by the plan": lambda: function.__wrapped__(A, B),
        "our launch": ours,
        "Triton's launch": tritons,
        "Triton's launch + empty": empty_and_triton,
        "eager": lambda: eager(A, B),
        "torch.empty": empty,
        "dt_check": lambda: module.dt_check("A", A, "float", 2, device),
        "dt_is_traced": lambda: module.dt_is_traced((A, B)),
        "dt_is_current": lambda: module.dt_is_current(device),
        "dt_promoted": lambda: module.dt_promoted("A and B", A.dtype, B.dtype),
        "dt_offset": lambda: module.dt_offset(128, (A, B, out), (128,)),
        "dt_is_watched": module.dt_is_watched,
    }


def timed(folder: Path) -> Iterator[dict[str, Any]]:
    """Measure the host's time for calls and their parts.

    They take turns, so that a change of the clock affects all alike.
    """
    for name, dtype in itertools.product(("add", "matmul"), (torch.float32, torch.float16)):
        calls = ways(module_of(folder / f"{name}.py"), name, dtype)
        found = {way: list[float]() for way in calls}
        for call in calls.values():
            call()
        for _ in range(REPEATS):
            for way, call in calls.items():
                found[way].append(host_time(call))
        for way, times in found.items():
            spread = {"median": statistics.median(times), "best": min(times), "worst": max(times)}
            yield {"kernel": name, "dtype": str(dtype), "way": way, **spread}


def some_tensor(chance: random.Random, shape: tuple[int, int], dtype: torch.dtype) -> torch.Tensor:
    """Return a tensor of that shape with some strides, at some address."""
    rows, columns = shape
    match chance.randrange(5):
        case 0:
            made = torch.randn(columns, rows, device="cuda").to(dtype).t()
        case 1:
            made = torch.randn(rows, columns + 3, device="cuda").to(dtype)[:, 3:]
        case 2:
            made = torch.randn(rows, 2 * columns, device="cuda").to(dtype)[:, ::2]
        case _:
            made = torch.randn(rows, columns, device="cuda").to(dtype)
    return made


def variants(folder: Path) -> Iterator[dict[str, Any]]:
    """Return how many variants of each kernel 200 random shapes and strides need."""
    compiled: list[str] = []

    def note(**told: Any) -> None:
        compiled.append(str(told["repr"]))

    triton.knobs.runtime.jit_post_compile_hook = note
    for name, dtype in itertools.product(("add", "matmul"), (torch.float32, torch.float16)):
        function = getattr(module_of(folder / f"{name}.py"), name)
        chance, error = random.Random(7), 0.0
        compiled.clear()
        for _ in range(SHAPES):
            m, n, k = (chance.choice(SIZES) for _ in range(3))
            shapes = ((m, n), (m, n)) if name == "add" else ((m, k), (k, n))
            tensors = [some_tensor(chance, shape, dtype) for shape in shapes]
            made, again = function(*tensors), function(*tensors)
            wanted = getattr(torch, name)(*(tensor.double() for tensor in tensors))
            assert torch.equal(made, again), (name, dtype, shapes)
            scale = max(wanted.abs().max().item(), 1.0)
            error = max(error, (made.double() - wanted).abs().max().item() / scale)
        assert error < 5e-3, (name, dtype, error)
        yield {"kernel": name, "dtype": str(dtype), "variants": len(compiled), "error": error}
    triton.knobs.runtime.jit_post_compile_hook = None


def main(folder: Path) -> int:
    """Measure, count and print."""
    print(f"torch {torch.__version__}, triton {triton.__version__}, {torch.cuda.get_device_name()}")
    times = list(timed(folder))
    for row in times:
        spread = f"{row['best']:7.1f} to {row['worst']:6.1f}"
        print(f"{row['kernel']:8}{row['dtype']:15}{row['way']:26}{row['median']:7.1f} us  {spread}")
    counts = list(variants(folder))
    for row in counts:
        found = f"{row['variants']} variants, error {row['error']:.1e}"
        print(f"{row['kernel']:8}{row['dtype']:15}{found}")
    print(json.dumps({"host_time": times, "variants": counts}))
    return int(any(row["variants"] > MOST for row in counts))


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
