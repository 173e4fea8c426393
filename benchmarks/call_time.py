"""Measures what a call of a generated file costs the host: `python -m benchmarks.call_time FOLDER`.

With `--write`, it writes the files that it measures into the folder. Several folders take turns, so
that files of two versions are compared in one process. Without a GPU, Triton compiles nothing and
kernels do not run: then all that is done around a launch is measured, and not the launch itself.
"""

import argparse
import importlib
import itertools
import json
import linecache
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import torch

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source

triton: Any = importlib.import_module("triton")
compiler: Any = importlib.import_module("triton.compiler")
backend: Any = importlib.import_module("triton.backends.compiler")
SOURCES = {
    "add": "Func f; In A, B; Var x, y; f[x, y] = A[x, y] + B[x, y]; f.block(x:1, y:64);",
    "numbers": (
        "Func f; In A; SIn a, i: i32; Var y, x; f[y, x] = A[y, x] * a + i;"
        "f.block(x:64); f.tensorize(x:0);"
    ),
    "passed": "Func f; In A; Var x, y; f[x, y] = A[x] * y; f.block(x:16, y:16);",
    "several": (
        "Func e, s, f; In A; Var x, y; RVar k; e[x, y] = exp(A[x, y]); s[x] = rsum(e[x, k], k);"
        "f[x, y] = e[x, y] / reshape(s[x], x, 1); e.block(x:4); s.block(x:4); f.block(x:4);"
    ),
    "panels": (
        "Func f, c; In A, B; Var m, n; RVar k; c[n, k] = B[k, n];"
        "f[m, n] = rdot(A[m, k], c[n, k], k); c.block(n:32, k:32); c.tensorize(n:0, k:0);"
        "c.persistent(2); f.block(m:32, n:32); f.tensorize(m:0, n:0, k:32); f.persistent();"
        "f.panels(n:64); f.compile();"
    ),
    "softmax": (
        "Func f, total; In A; Var x; RVar y; total[x] = rsum(exp(A[x, y]), y);"
        "f[x, y] = exp(A[x, y]) / reshape(total[x], x, 1); f.block(x:4);"
        "f.tensorize(x:0, y:512); total.fuse_at(f, x); f.compile();"
    ),
    "matmul": (
        "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.block(m:64, n:64); f.tensorize(m:0, n:0, k:32); f.num_warps(4); f.compile();"
    ),
}
# More shapes than a file keeps calls of.
SHAPES = 5000
CALLS, ROUNDS = 200, 30
Call = Callable[[], object]
# What this thread does, whatever else the machine does meanwhile.
clock = time.thread_time


def shapes_of(*tensors: torch.Tensor) -> Iterator[tuple[torch.Tensor, ...]]:
    """Give parts of tensors, of as many rows as in no call before, one after the other."""
    parts = [tuple(one[:1].expand(n, *one.shape[1:]) for one in tensors) for n in range(1, SHAPES)]
    return itertools.cycle(parts)


def calls_of(name: str, function: Callable[..., Any], device: str) -> Iterator[tuple[str, Call]]:
    """Yield the kinds of calls that are measured of a function."""
    A, B = torch.ones(64, 64, device=device), torch.ones(64, 256, device=device)
    C, out, number = torch.ones_like(A), torch.empty_like(A), torch.tensor(7)
    match name:
        case "add":
            shapes, others = shapes_of(A, C), shapes_of(A.t(), C)
            outs = itertools.cycle(torch.empty(2 * n, 64)[::2] for n in range(1, SHAPES))
            into = ((*pair, out) for pair, out in zip(shapes_of(A, C), outs, strict=False))
            yield "like calls", lambda: function(A, C)
            yield "like calls, transposed", lambda: function(A.t(), C)
            yield "out=", lambda: function(A, C, out=out)
            yield "new shapes", lambda: function(*next(shapes))
            yield "new shapes, transposed", lambda: function(*next(others))
            yield "new shapes, out=", lambda: into_next(function, next(into))
        case "numbers":
            values = itertools.cycle(0.5 + n for n in range(SHAPES))
            yield "numbers", lambda: function(A, 0.5, 7)
            yield "new floats", lambda: function(A, next(values), 7)
            yield "a number in a tensor", lambda: function(A, 0.5, number)
        case "passed":
            sizes = itertools.cycle(range(1, SHAPES))
            yield "sizes by name", lambda: function(A[0], y=64)
            yield "new sizes by name", lambda: function(A[0], y=next(sizes))
        case "panels":
            panels = ((one, B) for (one,) in shapes_of(A))
            yield "four panels of two launches", lambda: function(A, B)
            yield "new shapes, four panels", lambda: function(*next(panels))
        case "matmul":
            shapes = ((one, B) for (one,) in shapes_of(A))
            yield "matmul", lambda: function(A, B)
            yield "new shapes, matmul", lambda: function(*next(shapes))
        case _:
            shapes = shapes_of(A)
            yield f"{name}", lambda: function(A)
            yield f"new shapes, {name}", lambda: function(*next(shapes))


def into_next(function: Callable[..., Any], given: Sequence[torch.Tensor]) -> Any:
    """Call a function with the last of these as `out`."""
    *inputs, out = given
    return function(*inputs, out=out)


# Without a GPU


def nothing(*_: Any) -> int:
    """Do nothing; of anything, say 0."""
    return 0


def empty(shape: Any, strides: Any, dtype: torch.dtype) -> torch.Tensor:
    """Memory of the CPU."""
    return torch.empty_strided(shape, strides, dtype=dtype)


class Kept(compiler.CompiledKernel):  # type: ignore[misc]
    """A kernel that runs nothing, in the place of one that Triton compiles."""

    def __init__(self, src: Any) -> None:
        self.src, self._module_pid = src, None
        self.module = self.function = 1
        self.packed_metadata = (4, 1, 0)
        self.name = "kept"
        self._run = nothing

    def __del__(self) -> None:
        """Do nothing, since nothing was taken from the device."""


def kept(src: Any, **_: Any) -> Kept:
    """Compile nothing."""
    return Kept(src)


def current(_: torch.device) -> bool:
    """Tell that kernels are launched on any device."""
    return True


def generation(_: torch.device) -> tuple[int, int]:
    """Return what a file asks of a GPU."""
    return 9, 132


def pretend() -> None:
    """Let Triton take this machine for one with a GPU."""
    driver = SimpleNamespace(
        get_current_target=lambda: backend.GPUTarget("cuda", 90, 32),
        get_current_device=nothing,
        get_current_stream=nothing,
        map_python_to_cpp_type=str,
        launcher_cls=None,
        utils=mock.MagicMock(),
    )
    triton.runtime.driver.set_active(driver)
    compiler.compile = kept


def module_of(path: Path, has_gpu: bool) -> ModuleType:
    """Return a generated file as a module; without a GPU, it takes the CPU for one."""
    text = path.read_text()
    text = text if has_gpu else text.replace(".is_cuda", ".is_cpu")
    name = str(path.resolve())
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module: Any = ModuleType(path.stem)
    exec(compile(text, name, "exec"), module.__dict__)
    if not has_gpu:
        module.dt_is_current, module.dt_empty, module.dt_gpu = current, empty, generation
    found: ModuleType = module
    return found


# Measuring


def measured(
    folders: Sequence[Path], has_gpu: bool
) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """For each kind of call, microseconds of one call of each folder's file: least and median."""
    device = "cuda" if has_gpu else "cpu"
    for name in SOURCES:
        functions = [module_of(folder / f"{name}.py", has_gpu).f for folder in folders]
        for ways in zip(*(calls_of(name, one, device) for one in functions), strict=True):
            times = [list[float]() for _ in ways]
            for _ in range(ROUNDS):
                for found, (_, call) in zip(times, ways, strict=True):
                    found.append(_time(call))
            yield ways[0][0], [(min(found[3:]), statistics.median(found[3:])) for found in times]


def _time(call: Call) -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    start = clock()
    for _ in range(CALLS):
        call()
    return (clock() - start) / CALLS * 1e6


def write(folder: Path) -> None:
    """Write the files that are measured, by the compiler as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in SOURCES.items():
        scheduled = judge(load(Source(f"{name}.dt", text)), DIRECTIVES).scheduled
        (folder / f"{name}.py").write_text(code_of(scheduled).text)


def main(words: Sequence[str] | None = None) -> int:
    """Write files, or measure."""
    parser = argparse.ArgumentParser(prog="benchmarks.call_time", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--json", type=Path, help="where figures are written")
    asked = parser.parse_args(words)
    if asked.write:
        for folder in asked.folders:
            write(folder)
        return 0
    has_gpu = torch.cuda.is_available()
    if not has_gpu:
        pretend()
    found = dict[str, dict[str, tuple[float, ...]]]()
    for way, times in measured(asked.folders, has_gpu):
        shown = "".join(f"{least:9.1f} {median:6.1f} us" for least, median in times)
        print(f"{way:30}{shown}", flush=True)
        found[way] = {str(folder): one for folder, one in zip(asked.folders, times, strict=True)}
    if asked.json:
        versions = {one.__name__: one.__version__ for one in (torch, triton)}
        versions |= {"python": platform.python_version(), "machine": platform.machine()}
        what = "microseconds of a call: least and median"
        command = "python -m benchmarks.call_time " + " ".join(words or sys.argv[1:])
        made = {"command": command, "versions": versions, "what": what, "calls": found}
        asked.json.write_text(json.dumps(made, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
