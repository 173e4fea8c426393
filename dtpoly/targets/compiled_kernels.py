"""Compiles a kernel of a generated module for a GPU, which need not be there.

Imports triton, which must not have been told to interpret kernels.
"""

import contextlib
import importlib
import io
import re
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from dtpoly.algorithm.dtypes import DType
from dtpoly.codegen.operation_spelling import DTYPES
from dtpoly.ir.kernel import EARLY, SPECIALIZED, TileKernel
from dtpoly.targets.argument import ALIGNED, CONSTANT, ParameterType
from dtpoly.targets.kernel_binary import Failed, KernelBinary
from dtpoly.targets.target import Target

# Triton has no types to check against, and says so nowhere.
triton: Any = importlib.import_module("triton")
compiler: Any = importlib.import_module("triton.compiler")
backends: Any = importlib.import_module("triton.backends.compiler")
errors: Any = importlib.import_module("triton.errors")
language: Any = importlib.import_module("triton.language")

DEFAULT_WARPS = 4
SPECIALIZED_WARPS = 4  # of which Triton makes two groups of four, and four that load
# Since 3.7 launches say of constants, too, that nothing else is known.
SAYS_NOTHING = not triton.__version__.startswith("3.6.")
LONGEST = 2000  # characters of a message of Triton's

# An error as Python shows it: `ValueError('...')`.
_WRAPPED = re.compile(r"\w+\((['\"])(.*)\1\)", re.DOTALL)
_USAGE = re.compile(r"REG:(\d+) STACK:(\d+) SHARED:\d+ LOCAL:(\d+)")
_VECTOR = re.compile(r"\.vgpr_count:\s*(\d+)")
_SPILLED = re.compile(r"\.vgpr_spill_count:\s*(\d+)")


def compile_kernel(
    module: ModuleType,
    kernel: TileKernel,
    arguments: Iterable[ParameterType],
    target: Target,
    num_warps: int | None = None,
    num_stages: int | None = None,
) -> KernelBinary:
    """Return the binary of one kernel. Raises Failed where Triton cannot make it.

    OSError is about files of Triton's own: its cache, its tools.
    """
    function = getattr(module, f"{kernel.name}_kernel")
    known = {argument.name: argument for argument in arguments}
    is_early = kernel.is_early and target.has_waiting
    if kernel.is_early:
        known[EARLY] = replace(known[EARLY], value=int(is_early))
    if kernel.own:
        known[SPECIALIZED] = replace(known[SPECIALIZED], value=_specialized(known, target))
        if known[SPECIALIZED].value:  # it makes its descriptors itself, and Triton more warps
            known |= {one.name: ParameterType(one.name, CONSTANT) for one in kernel.described}
            num_warps = SPECIALIZED_WARPS
    source = _source(function, known)
    asked = {"num_warps": num_warps or DEFAULT_WARPS, "num_stages": num_stages}
    options: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if is_early:
        options["launch_pdl"] = 1
    # Triton 3.10 changes what it does if nothing is said.
    options["enable_fp_fusion"] = True
    goal = backends.GPUTarget(target.backend, target.arch, target.warp_size)
    try:
        # Of some errors Triton prints all that it knows, where others read results.
        with contextlib.redirect_stdout(io.StringIO()):
            made = triton.compile(source, target=goal, options=options)
    except errors.TritonError as error:
        raise Failed(_told(error), _line(error, function)) from None
    except (RuntimeError, ValueError) as error:
        raise Failed(_told(error)) from None
    stages: dict[str, str | bytes] = {name: made.asm[name] for name in list(made.asm)}
    registers, spilled = _usage(stages)
    return KernelBinary(
        f"{kernel.name}_kernel",
        target,
        stages,
        made.metadata.num_warps,
        made.metadata.num_stages,
        registers,
        spilled,
        made.metadata.shared,
    )


def _specialized(known: dict[str, ParameterType], target: Target) -> int:
    """Return whether a launch is so there, for a target that can do it."""
    value = known[SPECIALIZED].value
    assert isinstance(value, int)
    return value if target.has_specialized else 0


def _source(function: Any, arguments: dict[str, ParameterType]) -> Any:
    """Describe to Triton what it compiles: the function, its types, its constants, alignments.

    It is described exactly as a launch does it, even where nothing is known: so a launch later
    finds in Triton's cache what is compiled here.
    """
    types: dict[str, str] = {}
    constants: dict[tuple[int], Any] = {}
    aligned: dict[tuple[int], Any] = {}
    for number, parameter in enumerate(function.params):
        one = arguments[parameter.name]
        types[one.name] = one.type
        if one.type == CONSTANT:
            constants[(number,)] = _constant(one.value)
        if one.is_told and (one.type != CONSTANT or SAYS_NOTHING):
            aligned[(number,)] = [["tt.divisibility", ALIGNED]] if one.is_aligned else []
    return compiler.ASTSource(function, types, constants, aligned)


def _constant(value: int | bool | DType | None) -> Any:
    """Types as Triton has them."""
    if isinstance(value, DType):
        return getattr(language, DTYPES[value].removeprefix("tl."))
    return value


def _told(error: Exception) -> str:
    """Triton's own words; those of the innermost cause, without the lines of the kernel."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    message = getattr(cause, "error_message", None) or str(cause) or type(cause).__name__
    wrapped = _WRAPPED.fullmatch(str(message).strip())
    return (wrapped[2] if wrapped else str(message).strip())[:LONGEST]


def _line(error: Any, function: Any) -> int | None:
    """Return the line of the file that an error is about, from 1."""
    found = None
    # Errors inside of a function that the kernel calls come wrapped in one of the call.
    at = getattr(getattr(error, "node", None), "lineno", None)
    if at is not None:
        found = function.starting_line_number + int(at) - 1
    return found


def _usage(stages: dict[str, str | bytes]) -> tuple[int, int]:
    """Registers and spilled bytes of a lane."""
    cubin, amdgcn = stages.get("cubin"), stages.get("amdgcn")
    if isinstance(cubin, bytes):
        match = _USAGE.search(_tool("cuobjdump", cubin, "-res-usage"))
        assert match, "cuobjdump names registers, stack and local memory"
        return int(match[1]), max(int(match[2]), int(match[3]))
    assert isinstance(amdgcn, str)
    used, spilled = _VECTOR.search(amdgcn), _SPILLED.search(amdgcn)
    assert used, "the metadata of an AMD kernel names its registers"
    assert spilled, "and what it keeps in memory instead"
    return int(used[1]), 4 * int(spilled[1])


def sass(cubin: bytes) -> str:
    """Return the machine code of an NVIDIA binary as text."""
    return _tool("nvdisasm", cubin, "--print-code")


def _tool(name: str, binary: bytes, option: str) -> str:
    """Return what a tool that comes with Triton prints of a binary. Raises OSError if it fails."""
    knobs: Any = importlib.import_module("triton.knobs")
    with tempfile.TemporaryDirectory(prefix="dtpoly-") as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(binary)
        try:
            command = [getattr(knobs.nvidia, name).path, option, str(path)]
            return subprocess.run(
                command, check=True, capture_output=True, encoding="utf-8", errors="replace"
            ).stdout
        except (RuntimeError, subprocess.CalledProcessError) as error:
            raise OSError(f"{name} cannot be run: {error}") from error
