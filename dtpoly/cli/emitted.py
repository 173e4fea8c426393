"""Shows a stage of Triton's compiler for generated code, and what each kernel needs of a GPU.

It imports torch and triton.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from dtpoly.algorithm.dtypes import DType
from dtpoly.cli.output import report, write
from dtpoly.cli.saving import save, tell_error
from dtpoly.diagnostics import has_errors
from dtpoly.frozen import dataclass
from dtpoly.generate import Code
from dtpoly.render.as_json import Data, document
from dtpoly.render.printable import printable
from dtpoly.schedule.state import State
from dtpoly.targets.build import Built, build
from dtpoly.targets.compiled_kernels import sass
from dtpoly.targets.kernel_binary import KernelBinary, occupancy, resource_line
from dtpoly.targets.target import Target

VERSION = 1  # of the JSON document
# The marks that begin a comment in the texts of stages, where that is not //.
COMMENT = {"llir": ";", "amdgcn": ";"}
STAGES: Mapping[str, tuple[str, ...]] = {
    "cuda": ("ttir", "ttgir", "llir", "ptx", "cubin", "sass"),
    "hip": ("ttir", "ttgir", "llir", "amdgcn", "hsaco"),
}


@dataclass(frozen=True, slots=True)
class EmitRequest:
    """The wishes of the user; without a stage, only the needs of the kernels are shown."""

    target: Target
    stage: str | None
    sizes: Mapping[str, int]
    dtype: DType
    as_json: bool


def emit(state: State, code: Code, asked: EmitRequest, output: str | None) -> int:
    """Compile, print or write the stage, then report what each kernel needs."""
    if asked.stage is not None and asked.stage not in STAGES[asked.target.backend]:
        has = ", ".join(STAGES[asked.target.backend])
        message = f"{asked.target} has no stage {asked.stage}; it has {has}"
        raise click.BadParameter(message, param_hint="--emit")
    stage = asked.stage
    try:
        built = build(state, code, asked.target, asked.sizes, asked.dtype)
        texts = {} if stage is None else {b.kernel: _stage(b, stage) for b in built.binaries}
    except OSError as error:
        tell_error(f"Triton's compiler cannot use its files: {error}")
        print("  = hint: TRITON_CACHE_DIR says where it keeps them", file=sys.stderr)
        return 1
    if stage is not None and not _give(built, asked, stage, texts, output):
        return 1
    if not asked.as_json:
        for binary in built.binaries:
            print(printable(resource_line(binary)), file=sys.stderr)
        if built.diagnostics:
            report(built.diagnostics, sys.stderr)
    return 1 if has_errors(built.diagnostics) else 0


def _give(
    built: Built,
    asked: EmitRequest,
    stage: str,
    texts: Mapping[str, str | bytes],
    output: str | None,
) -> bool:
    """Print the stage, or write it to files."""
    if asked.as_json:
        data = json.dumps(_data(built, asked, stage, texts), indent=2) + "\n"
        if output is None or output == "-":
            write(data)
            return True
        return save(Path(output), data.encode())
    binary_ones = [(name, text) for name, text in texts.items() if isinstance(text, bytes)]
    if binary_ones:
        return _give_binaries(binary_ones, stage, output)
    text = "\n".join(
        f"{_head(binary, built, stage)}{texts[binary.kernel]!s}" for binary in built.binaries
    )
    if output is None or output == "-":
        write(text)
        return True
    return save(Path(output), text.encode())


def _stage(binary: KernelBinary, stage: str) -> str | bytes:
    if stage != "sass":
        return binary.stages[stage]
    cubin = binary.stages["cubin"]
    assert isinstance(cubin, bytes)
    return sass(cubin)


def _head(binary: KernelBinary, built: Built, stage: str) -> str:
    """Return a comment with the name of the kernel and what it was compiled for."""
    mark = COMMENT.get(stage, "//")
    return f"{mark} {resource_line(binary)}\n{mark} {_compiled_for(built)}\n"


def _compiled_for(built: Built) -> str:
    sizes = ", ".join(f"{label}={size}" for label, size in built.sizes.items())
    return f"compiled for {f'{sizes} and ' if sizes else ''}inputs of {built.dtype}"


def _give_binaries(found: list[tuple[str, bytes]], stage: str, output: str | None) -> bool:
    """Write one file for each kernel; several files have the names of the kernels in theirs."""
    if output == "-" and len(found) == 1:
        sys.stdout.flush()
        sys.stdout.buffer.write(found[0][1])
        return True
    if output is None or output == "-":
        kernels = "" if len(found) == 1 else f", for each of {len(found)} kernels one"
        raise click.UsageError(f"{stage} is binary{kernels}: name a file with -o")
    path = Path(output)
    if len(found) == 1:
        return save(path, found[0][1])
    named = ((path.with_name(f"{path.stem}.{name}{path.suffix}"), data) for name, data in found)
    return all([save(one, data) for one, data in named])


def _data(built: Built, asked: EmitRequest, stage: str, texts: Mapping[str, str | bytes]) -> Data:
    """Return the stage as data for JSON; a binary stage is null."""
    return {
        "version": VERSION,
        "target": str(asked.target),
        "stage": stage,
        "sizes": dict(built.sizes),
        "dtype": str(built.dtype),
        "kernels": [dict(_kernel(binary, texts[binary.kernel])) for binary in built.binaries],
        "diagnostics": document(built.diagnostics)["diagnostics"],
    }


def _kernel(binary: KernelBinary, text: str | bytes) -> Iterator[tuple[str, object]]:
    yield "name", binary.kernel
    yield "registers", binary.registers
    yield "spilled_bytes", binary.spilled
    yield "shared_bytes", binary.shared
    yield "num_warps", binary.num_warps
    yield "num_stages", binary.num_stages
    yield "occupancy", round(occupancy(binary).share, 4)
    yield "text", text if isinstance(text, str) else None
