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
from .functions import is_float_element
from .line import About, Head, Line, OfInput, OfTensor, indented
from .names import pointer, strides
from .value_text import dtype

CONSTANT = "tl.constexpr"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: its name, its type if the text says one, and what it is about."""

    name: str
    type: str = ""
    about: About | None = None

    @property
    def text(self) -> str:
        """As it stands in the signature."""
        return f"{self.name}: {self.type}" if self.type else self.name


Group = tuple[Parameter, ...]  # which share a line


def parameters(kernel: TileKernel) -> list[Group]:
    """The parameters, a group for each tensor, then sizes, then what is known at compile time."""
    found: list[Group] = [_of_tensor(one) for one in kernel.tensors]
    for _, variable, element in kernel.scalars:
        wide = DType.F64 if is_float_element(element) else element
        found.append((Parameter(variable, dtype(wide), OfInput(variable)),))
    found.append(tuple(Parameter(variable) for _, variable in kernel.sizes))
    found.append(tuple(Parameter(variable) for *_, variable in kernel.shapes))
    if kernel.is_beside:
        found.append((Parameter(BEFORE, about=Head.BESIDE),))
    if kernel.is_first_of_panel:
        found.append((Parameter(PANEL, about=Head.PANELS),))
    found.append(tuple(Parameter(one.name) for one in kernel.described))
    known = [name for name, _ in kernel.counts]
    known += dict.fromkeys(flag.name for flag in kernel.flags)
    known += [name for name, _ in kernel.elements]
    found += [(Parameter(name, CONSTANT),) for name in known]
    if kernel.is_early:
        found.append((Parameter(EARLY, CONSTANT, Head.WAITS),))
    if kernel.own:
        found.append((Parameter(SPECIALIZED, CONSTANT, Head.LOADS),))
    if kernel.fours:
        found.append((Parameter(FOURS, CONSTANT),))
    found.append((Parameter(OFFSET, CONSTANT),))
    return [group for group in found if group]


def _of_tensor(tensor: Pointer) -> Group:
    first = Parameter(pointer(tensor), about=OfTensor(tensor.name))
    return (first, *map(Parameter, strides(tensor)))


def names(kernel: TileKernel) -> list[str]:
    """The names of all parameters, in order."""
    return [one.name for group in parameters(kernel) for one in group]


def head_lines(kernel: TileKernel) -> list[Line]:
    """Its name and parameters."""
    lines = [Line("@triton.jit"), Line(f"def {kernel.name}_kernel(")]
    for group in parameters(kernel):
        lines += indented(_group_lines(group))
    # A formatter would give each parameter a line; here those of a tensor share one.
    return [*lines, Line("):  # fmt: skip")]


def _group_lines(group: Group) -> list[Line]:
    """Parameters in one line, or in one line each where they do not fit."""
    text = ", ".join(one.text for one in group)
    if len(text) + len("    ,") <= WIDTH:
        return [Line(f"{text},", about=group[0].about)]
    return [Line(f"{one.text},", about=one.about) for one in group]
