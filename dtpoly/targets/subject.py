"""Pairs each kernel of generated code with the types of its parameters, for a call."""

from collections.abc import Mapping
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.inference import check_types
from dtpoly.algorithm.label_sizes import Sizes
from dtpoly.algorithm.program import Program, Tensor
from dtpoly.codegen.module import Generated, with_indices
from dtpoly.diagnostics import DtpolyError, has_errors
from dtpoly.directives.built_in import COMPILING
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import TileKernel
from dtpoly.origins import Origin, find_option, origin_of
from dtpoly.poly.model import Model
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel
from dtpoly.source import Span
from dtpoly.targets.argument import ParameterType
from dtpoly.targets.parameter_types import SizedCall, arguments

# Sizes that are assumed where none are given: of labels that a kernel has as many lanes as, and
# of all others.
AT_ONCE, USUAL = 128, 1024


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel of a call: what it is in the schedule, and what its parameters are."""

    state: State
    node: Kernel
    call: SizedCall
    kernel: TileKernel
    arguments: Mapping[str, ParameterType]

    def origin(self, name: str) -> Origin:
        """Return what in the source made a statement or an axis of the kernel."""
        return origin_of(self.state, self.node, name)

    def place(self, origin: Origin) -> Span | None:
        """Return where to point: at the directive, the kernel's launch, or its Func."""
        launched = find_option(self.state, self.node, *COMPILING)
        func = self.state.program.func(self.node.func)
        return origin.part or launched.part or origin.source or func.span


def subjects(
    state: State, made: Generated, sizes: Sizes | None = None, dtype: DType = DType.F32
) -> tuple[Subject, ...]:
    """Return the kernels of a call. Raises DtpolyError where inputs cannot have the dtype."""
    check_dtype(state.sized, dtype)
    known = filled(state.sized, sizes or {}, assumed(state.model, made))
    call = SizedCall(state.sized, with_indices(state.model), made, known, dtype)
    return tuple(
        of_kernel(Subject(state, node, call, kernel, {}), kernel)
        for node, kernel in zip(state.kernels, made.kernels, strict=True)
    )


def of_kernel(subject: Subject, kernel: TileKernel) -> Subject:
    """Return the same of another kernel of the call."""
    known = {one.name: one for one in arguments(subject.call, kernel)}
    return replace(subject, kernel=kernel, arguments=known)


def assumed(model: Model, made: Generated) -> dict[str, int]:
    """Choose a size for each label: small if a tile has all of it, or would be too large."""
    at_once = {
        param
        for kernel in made.kernels
        for _, size in kernel.counts
        for param, variable in kernel.sizes
        if variable == size
    }
    return {label: AT_ONCE if param in at_once else USUAL for label, param in model.size_of.items()}


def check_dtype(program: Program, dtype: DType) -> None:
    """Raise what is wrong with a Program whose inputs have this dtype."""
    # A scalar that declares none is a number, of which only the category counts.
    inputs = tuple(
        replace(one, dtype=one.dtype or (dtype if isinstance(one, Tensor) else DType.F32))
        for one in program.inputs
    )
    found = check_types(replace(program, inputs=inputs))
    if has_errors(found):
        raise DtpolyError(found)
