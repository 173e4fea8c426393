"""Names what a plan speaks of, and says in which dtypes it is stored."""

from collections.abc import Mapping

from dtpoly.algorithm.sizes import used_labels
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import TileKernel
from dtpoly.ir.kinds import Kind, Named
from dtpoly.plan.formula import Formula
from dtpoly.plan.plan import Terms

from .formulas import up
from .names import PYTHON, fresh, plain
from .planned_sizes import Sizing
from .wrapping import Wrapping, label_of, label_with


@dataclass(frozen=True, slots=True)
class Planning:
    """A function, and the names that its tensors have in the plan."""

    wrapping: Wrapping
    sizing: Sizing
    tensors: Mapping[str, str]  # inputs, results, and memory

    def size(self, param: str) -> Formula:
        """A size of the model."""
        return self.sizing.size(label_of(self.wrapping, param))

    def size_with(self, kernel: TileKernel, variable: str) -> Formula:
        """The size that a variable of a kernel holds."""
        return self.sizing.size(label_with(self.wrapping, kernel, variable))

    def blocks(self, kernel: TileKernel, variable: str, step: int) -> Formula:
        """How many blocks of so many indices a size has."""
        return up(self.size_with(kernel, variable), step)

    def extent(self, dim: str) -> Formula:
        """The extent of an array along a label, or how many parts there are."""
        part = self.wrapping.model.parts.get(dim)
        return self.sizing.size(dim) if part is None else up(self.sizing.size(part.of), part.size)


def planning_of(wrapping: Wrapping) -> Planning:
    """Give each tensor of a function a name: no two things of a plan share one."""
    program, names = wrapping.program, wrapping.names
    used = used_labels(program)
    labels = {one.name: names.labels[one.name] for one in program.labels if one.name in used}
    tensors = {**names.inputs, wrapping.func: names.funcs[wrapping.func]}
    taken = {*names.taken}
    for one in wrapping.launched:
        for tensor in one.kernel.tensors:
            if tensor.name not in tensors:
                tensors[tensor.name] = fresh(plain(tensor.name), taken, PYTHON)
                taken.add(tensors[tensor.name])
    return Planning(wrapping, Sizing(program, names.inputs, labels), tensors)


def terms_of(planning: Planning, kind: Kind) -> Terms:
    """List the inputs and the word that the dtype of a kind is promoted from."""
    callers = [planning.wrapping.names.inputs[name] for name in sorted(kind.callers)]
    return (*callers, *([str(kind.dtype)] if kind.dtype is not None else []))


def stored(planning: Planning, array: str) -> Terms | str:
    """The dtype of an array in memory: a Func's own, else that which it is computed in."""
    wrapping = planning.wrapping
    if wrapping.model.arrays[array].func == array and array not in wrapping.storage.scratch:
        return terms_of(planning, wrapping.elements.kinds[array])
    element = wrapping.elements.of(array)
    return element.name if isinstance(element, Named) else (str(element),)


def stored_in_scratch(planning: Planning, array: str) -> Terms | str:
    """The dtype of memory of which each program has a slice."""
    element = planning.wrapping.elements.in_scratch(array)
    return element.name if isinstance(element, Named) else (str(element),)
