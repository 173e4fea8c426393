"""Generated code in, each of its kernels compiled for a GPU, with warnings, out; imports triton."""

from dataclasses import dataclass
from types import ModuleType

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.sizes import Sizes
from dtpoly.code_map import code_map
from dtpoly.codegen.module import Launch
from dtpoly.diagnostics import Diagnostic, DtpolyError
from dtpoly.generate import Code
from dtpoly.runtime.load import load_module
from dtpoly.schedule.state import State
from dtpoly.targets.advice import advice, refused, too_large
from dtpoly.targets.binary import Binary, Failed
from dtpoly.targets.compiled import compile_kernel
from dtpoly.targets.subject import Subject, subjects
from dtpoly.targets.target import Target


@dataclass(frozen=True, slots=True)
class Built:
    """The kernels of a program for a GPU, and the call that they were compiled for."""

    sizes: Sizes
    dtype: DType
    binaries: tuple[Binary, ...]
    diagnostics: tuple[Diagnostic, ...]


def build(
    state: State,
    code: Code,
    target: Target,
    sizes: Sizes | None = None,
    dtype: DType = DType.F32,
) -> Built:
    """Compile every kernel. Raises DtpolyError where Triton cannot."""
    every = subjects(state, code.stages, sizes, dtype)
    if wrong := [one for subject in every for one in too_large(subject)]:
        raise DtpolyError(wrong)
    module = load_module(code.text, "kernels")
    binaries: list[Binary] = []
    found: list[Diagnostic] = []
    for subject, launch in zip(every, code.stages.launches, strict=True):
        binary = _compiled(subject, code, module, launch, target)
        binaries.append(binary)
        found.extend(advice(subject, binary))
    return Built(every[0].call.sizes, dtype, tuple(binaries), tuple(dict.fromkeys(found)))


def _compiled(
    subject: Subject, code: Code, module: ModuleType, launch: Launch, target: Target
) -> Binary:
    arguments = subject.arguments.values()
    try:
        return compile_kernel(
            module, subject.kernel, arguments, target, launch.num_warps, launch.num_stages
        )
    except Failed as failure:
        lines = code_map(subject.state, code)
        raise DtpolyError([refused(subject, target, failure, lines)]) from None
