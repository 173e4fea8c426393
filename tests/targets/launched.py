"""Compares what a launch would compile with what was compiled beforehand.

`python -m tests.targets.launched WORD...` prints a line of JSON for each kernel that differs, in a
process in which Triton does not interpret; its driver and its compiler only keep what they are
asked for.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any
from unittest import mock

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.label_sizes import input_shapes
from dtpoly.algorithm.program import Program, Tensor
from dtpoly.explore.prune.emit import Prepared, emitted, prepared
from dtpoly.explore.store.results import EmittedText, FunctionCall
from dtpoly.runtime.load import load_module
from dtpoly.targets.compiled_kernels import compile_kernel
from dtpoly.targets.subject import of_kernel, subjects
from dtpoly.targets.target import Target
from tests.codegen.keeping import Driver
from tests.codegen.listings import FILES

triton: Any = import_module("triton")
compiler: Any = import_module("triton.compiler")
backends: Any = import_module("triton.backends.compiler")
jit: Any = import_module("triton.runtime.jit")

TARGET = Target("cuda", 90)
# Of all labels: whole tiles; lines that are aligned; at multiples of four; others; constants.
SIZES = (128, 48, 44, 41, 1)
DTYPES = (DType.F32, DType.F16)
ELEMENTS = {
    DType.F32: torch.float32,
    DType.F16: torch.float16,
    DType.BF16: torch.bfloat16,
    DType.F8E4M3: torch.float8_e4m3fn,
    DType.F8E5M2: torch.float8_e5m2,
    DType.BOOL: torch.bool,
    DType.U8: torch.uint8,
    DType.I8: torch.int8,
    DType.I32: torch.int32,
    DType.I64: torch.int64,
}
NUMBER = 3  # what is passed for a scalar: nobody looks at it

# By the name of a kernel, what a compiler is asked for.
Wanted = Mapping[str, str]


class Asked(Exception):
    """Instead of a binary."""


def differences(name: str, size: int, dtype: DType) -> Iterator[str]:
    """Kernels of which a launch asks for something else."""
    text = FILES[name].read_text()
    made, same = prepared(name, text, is_legal=True), emitted(name, text, is_legal=True).made
    assert isinstance(made, Prepared), made
    assert isinstance(same, EmittedText), same
    program = made.state.program
    # A size that follows from others, as by a quotient, is what they say.
    sizes = filled(program, {}, {one.name: one.size or size for one in program.labels})
    module = load_module(same.text.replace(".is_cuda", ".is_cpu"), "launched")
    before = compiled(made, module, sizes, dtype)
    after = launched(program, module, same.call, sizes, dtype)
    assert before.keys() == after.keys() != set(), (before.keys(), after.keys())
    for kernel, asked in before.items():
        if asked != after[kernel]:
            yield f"{name}, {size}, {dtype}: {kernel}\n{asked}\n{after[kernel]}"


def compiled(made: Prepared, module: ModuleType, sizes: Mapping[str, int], dtype: DType) -> Wanted:
    """Return what is asked for where there is no GPU."""
    found: dict[str, str] = {}
    stages = made.code.stages
    every = subjects(made.state, stages, sizes, dtype)
    # Of two kernels that share a launch, the one that calls both is launched.
    firsts = {pair.parts[0].name for pair in stages.pairs.values()}
    with mock.patch.object(triton, "compile", _ask):
        for subject, launch in zip(every, stages.launches, strict=True):
            if launch.name in firsts:
                continue
            pair = stages.pairs.get(launch.name)
            one = subject if pair is None else of_kernel(subject, pair.kernel)
            given = one.kernel, one.arguments.values(), TARGET, launch.num_warps, launch.num_stages
            try:
                compile_kernel(module, *given)
            except Asked as asked:
                found[f"{one.kernel.name}_kernel"] = str(asked)
    return found


def launched(
    program: Program, module: ModuleType, call: FunctionCall, sizes: Mapping[str, int], dtype: DType
) -> Wanted:
    """Return what is asked for by a call of the function with new tensors, of the CPU."""
    found: dict[str, str] = {}
    whole = jit.JITFunction.run

    def run(self: Any, *given: Any, grid: Any, warmup: bool, **options: Any) -> None:
        try:
            whole(self, *given, grid=grid, warmup=True, **options)
        except Asked as asked:
            found[self.fn.__name__] = str(asked)

    shapes = input_shapes(program, sizes)
    given = [
        torch.empty(shapes[one.name], dtype=ELEMENTS[one.dtype or dtype])
        if isinstance(one, Tensor)
        else NUMBER
        for one in program.inputs
    ]
    passed = {word: sizes[label] for word, label in call.passed.items()}
    with (
        mock.patch.object(module, "dt_gpu", return_value=(9, 132)),
        mock.patch.object(module, "dt_is_current", return_value=True),
        mock.patch.object(jit.JITFunction, "run", run),
        mock.patch.object(compiler, "compile", _ask),
    ):
        getattr(module, call.function)(*given, **passed)
    return found


def _ask(source: Any, target: Any = None, options: Any = None, **_: Any) -> None:
    """All that Triton's cache is asked by, but for its own version."""
    parsed = compiler.make_backend(target).parse_options(dict(options))
    facts = source.signature, source.constants, source.attrs, parsed
    assert source.hash()
    raise Asked("\n".join(map(str, (*facts, source.hash(), parsed.hash()))))


def main(words: list[str]) -> int:
    """Try all that is named, in several sizes and types."""
    triton.runtime.driver.set_active(Driver())
    for name in words:
        for size in SIZES:
            for dtype in DTYPES:
                for one in differences(name, size, dtype):
                    print(json.dumps(one), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
