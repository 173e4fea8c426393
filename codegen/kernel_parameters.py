"""Lists the parameters of a kernel, in the order of its signature."""

from dtpoly.algorithm.dtypes import DType
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import (
    BEFORE,
    EARLY,
    FOURS,
    OFFSET,
    PANEL,
    SPECIALIZED,
    Pointer,
    TileKernel,
)

from .breaking import WIDTH
from .line import About, Head, KernelLine, OfInput, OfTensor, indented
from .operation_spelling import is_float_element
from .python_names import pointer, strides
from .value_text import dtype

CONSTANT = "tl.constexpr"


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """A parameter: its name, its type if the text says one, and what it is about."""

    name: str
    type: str = ""
    about: About | None = None

    @property
    def text(self) -> str:
        """Return the parameter as it is printed in the signature."""
        return f"{self.name}: {self.type}" if self.type else self.name


Group = tuple[KernelParameter, ...]  # which share a line


def parameters(kernel: TileKernel) -> list[Group]:
    """Return the parameters: a group for each tensor, then sizes, then compile-time ones."""
    found: list[Group] = [_of_tensor(one) for one in kernel.tensors]
    for _, variable, element in kernel.scalars:
        wide = DType.F64 if is_float_element(element) else element
        found.append((KernelParameter(variable, dtype(wide), OfInput(variable)),))
    found.append(tuple(KernelParameter(variable) for _, variable in kernel.sizes))
    found.append(tuple(KernelParameter(variable) for *_, variable in kernel.shapes))
    if kernel.is_beside:
        found.append((KernelParameter(BEFORE, about=Head.BESIDE),))
    if kernel.is_first_of_panel:
        found.append((KernelParameter(PANEL, about=Head.PANELS),))
    found.append(tuple(KernelParameter(one.name) for one in kernel.described))
    known = [name for name, _ in kernel.counts]
    known += dict.fromkeys(flag.name for flag in kernel.flags)
    known += [name for name, _ in kernel.elements]
    found += [(KernelParameter(name, CONSTANT),) for name in known]
    if kernel.is_early:
        found.append((KernelParameter(EARLY, CONSTANT, Head.WAITS),))
    if kernel.own:
        found.append((KernelParameter(SPECIALIZED, CONSTANT, Head.LOADS),))
    if kernel.fours:
        found.append((KernelParameter(FOURS, CONSTANT),))
    found.append((KernelParameter(OFFSET, CONSTANT),))
    return [group for group in found if group]


def _of_tensor(tensor: Pointer) -> Group:
    first = KernelParameter(pointer(tensor), about=OfTensor(tensor.name))
    return (first, *map(KernelParameter, strides(tensor)))


def names(kernel: TileKernel) -> list[str]:
    """Return the names of all parameters, in order."""
    return [one.name for group in parameters(kernel) for one in group]


def head_lines(kernel: TileKernel) -> list[KernelLine]:
    """Return its name and parameters."""
    lines = [KernelLine("@triton.jit"), KernelLine(f"def {kernel.name}_kernel(")]
    for group in parameters(kernel):
        lines += indented(_group_lines(group))
    # A formatter would give each parameter a line; here those of a tensor share one.
    return [*lines, KernelLine("):  # fmt: skip")]


def _group_lines(group: Group) -> list[KernelLine]:
    """Parameters in one line, or in one line each where they do not fit."""
    text = ", ".join(one.text for one in group)
    if len(text) + len("    ,") <= WIDTH:
        return [KernelLine(f"{text},", about=group[0].about)]
    return [KernelLine(f"{one.text},", about=one.about) for one in group]
