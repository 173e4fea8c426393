"""Names what a plan speaks of, and says in which dtypes it is stored."""

from collections.abc import Mapping

from dtpoly.algorithm.label_sizes import used_labels
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import TileKernel
from dtpoly.ir.kinds import Named, ValueKind
from dtpoly.plan.formula import Formula
from dtpoly.plan.plan import Terms

from .formulas import up
from .plan_parts import FunctionParts, label_of, label_with
from .python_names import PLAN, fresh, plain
from .sizing import Sizing


@dataclass(frozen=True, slots=True)
class Planning:
    """A function, and the names that its tensors have in the plan."""

    function: FunctionParts
    sizing: Sizing
    tensors: Mapping[str, str]  # inputs, results, and memory

    def size(self, param: str) -> Formula:
        """Return a size of the model."""
        return self.sizing.size(label_of(self.function, param))

    def size_with(self, kernel: TileKernel, variable: str) -> Formula:
        """Return the size that a variable of a kernel holds."""
        return self.sizing.size(label_with(self.function, kernel, variable))

    def blocks(self, kernel: TileKernel, variable: str, step: int) -> Formula:
        """Return how many blocks of so many indices a size has."""
        return up(self.size_with(kernel, variable), step)

    def extent(self, dim: str) -> Formula:
        """Return the extent of an array along a label, or how many parts there are."""
        part = self.function.model.parts.get(dim)
        return self.sizing.size(dim) if part is None else up(self.sizing.size(part.of), part.size)


def planning_of(function: FunctionParts) -> Planning:
    """Give each tensor of a function a name: no two things of a plan share one."""
    program, names = function.program, function.names
    used = used_labels(program)
    labels = {one.name: names.labels[one.name] for one in program.labels if one.name in used}
    tensors = {**names.inputs, **{one: names.funcs[one] for one in function.results}}
    taken = {*names.taken}
    for one in function.launched:
        for tensor in one.kernel.tensors:
            if tensor.name not in tensors:
                tensors[tensor.name] = fresh(plain(tensor.name), taken, PLAN)
                taken.add(tensors[tensor.name])
    # What is added to a Func has its memory.
    tensors |= {s: tensors[one] for s, one in program.starts.items() if one in function.results}
    return Planning(function, Sizing(program, names.inputs, labels), tensors)


def terms_of(planning: Planning, kind: ValueKind) -> Terms:
    """List the inputs and the word that the dtype of a kind is promoted from."""
    callers = [planning.function.names.inputs[name] for name in sorted(kind.callers)]
    return (*callers, *([str(kind.dtype)] if kind.dtype is not None else []))


def stored(planning: Planning, array: str) -> Terms | str:
    """Return the dtype of an array in memory: a Func's own, else that which it is computed in."""
    function = planning.function
    known = function.model.arrays[array]
    is_of_part = not function.model.parts.keys().isdisjoint(known.dims)  # it is not rounded
    if known.func == array and array not in function.storage.scratch and not is_of_part:
        return terms_of(planning, function.elements.kinds[array])
    element = function.elements.of(array)
    return element.name if isinstance(element, Named) else (str(element),)


def stored_in_scratch(planning: Planning, array: str) -> Terms | str:
    """Return the dtype of memory of which each program has a slice."""
    element = planning.function.elements.in_scratch(array)
    return element.name if isinstance(element, Named) else (str(element),)
