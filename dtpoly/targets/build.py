"""Compiles each kernel of generated code for a GPU, and returns warnings with the binaries.

It imports triton.
"""

from dataclasses import replace
from types import ModuleType

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.label_sizes import Sizes
from dtpoly.code_map import code_map
from dtpoly.diagnostics import Diagnostic, DtpolyError
from dtpoly.frozen import dataclass
from dtpoly.generate import Code
from dtpoly.plan.launch import Launch
from dtpoly.runtime.load import load_module
from dtpoly.schedule.state import State
from dtpoly.targets.advice import advice, is_launchable, refused, too_large
from dtpoly.targets.compiled_kernels import compile_kernel
from dtpoly.targets.kernel_binary import Failed, KernelBinary
from dtpoly.targets.subject import Subject, of_kernel, subjects
from dtpoly.targets.target import Target

# So many numbers of stages are tried where a kernel has too many. One that spills more bytes
# needs smaller tiles anyway, and may take Triton minutes.
TRIES, MUCH = 3, 256


@dataclass(frozen=True, slots=True)
class Built:
    """The kernels of a call, compiled for a GPU, and the sizes and dtype of that call."""

    sizes: Sizes
    dtype: DType
    binaries: tuple[KernelBinary, ...]
    diagnostics: tuple[Diagnostic, ...]


def build(
    state: State,
    code: Code,
    target: Target,
    sizes: Sizes | None = None,
    dtype: DType = DType.F32,
) -> Built:
    """Compile every kernel. Raises DtpolyError where Triton cannot, OSError as it does.

    Of two in a launch each is compiled alone, too, as what is wrong is wrong with one of them.
    """
    every = subjects(state, code.stages, sizes, dtype)
    if wrong := [one for subject in every for one in too_large(subject)]:
        raise DtpolyError(wrong)
    module = load_module(code.text, "kernels")
    pairs = code.stages.pairs
    firsts = {pair.parts[0].name for pair in pairs.values()}
    binaries: list[KernelBinary] = []
    found: list[Diagnostic] = []
    for subject, launch in zip(every, code.stages.launches, strict=True):
        binary = _compiled(subject, code, module, launch, target)
        if (pair := pairs.get(launch.name)) is not None:
            both = of_kernel(subject, pair.kernel)
            binaries.append(_compiled(both, code, module, launch, target))
        elif launch.name not in firsts:
            binaries.append(binary)
        fitting = None
        if not is_launchable(binary):
            fitting = _with_fewer_stages(subject, code, module, launch, binary)
        found.extend(advice(subject, binary, fitting))
    return Built(every[0].call.sizes, dtype, tuple(binaries), tuple(dict.fromkeys(found)))


def _compiled(
    subject: Subject, code: Code, module: ModuleType, launch: Launch, target: Target
) -> KernelBinary:
    arguments = subject.arguments.values()
    try:
        return compile_kernel(
            module, subject.kernel, arguments, target, launch.num_warps, launch.num_stages
        )
    except Failed as failure:
        lines = code_map(subject.state, code)
        raise DtpolyError([refused(subject, target, failure, lines)]) from None


def _with_fewer_stages(
    subject: Subject, code: Code, module: ModuleType, launch: Launch, binary: KernelBinary
) -> KernelBinary | None:
    """Return the kernel with as many stages as a block has shared memory for, if there are such."""
    if binary.spilled > MUCH:
        return None
    room, stages = binary.target.limits.block_shared, binary.num_stages
    # Each stage needs about as much as any other.
    first = min(stages * room // binary.shared, stages - 1)
    for fewer in range(first, max(first - TRIES, 0), -1):
        other = replace(launch, num_stages=fewer)
        made = _compiled(subject, code, module, other, binary.target)
        if is_launchable(made):
            return made
    return None
