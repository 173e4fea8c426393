"""Collects what the plan of a function is made from."""

from dtpoly.algorithm.expressions import Affine, reads
from dtpoly.algorithm.program import Program, touched
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import TileKernel
from dtpoly.poly.model import Model

from .axis_words import PlainAxes
from .elements import ElementKinds
from .python_names import FileNames
from .storage import Storage
from .together import Together


@dataclass(frozen=True, slots=True)
class LaunchedKernel:
    """A kernel, the Func that it belongs to, and the options that it is launched with."""

    kernel: TileKernel
    func: str
    num_warps: int | None = None
    num_stages: int | None = None
    is_pitched: bool = False  # rows of the Func begin where memory is aligned
    pair: Together | None = None  # what is launched for it and the one before it
    panel: tuple[str, int] | None = None  # label, and how many are computed at a time


@dataclass(frozen=True, slots=True)
class FunctionParts:
    """All that the plan of a function is made from. It is named after its first result."""

    program: Program
    model: Model
    elements: ElementKinds
    storage: Storage
    launched: tuple[LaunchedKernel, ...]  # all that the results need, in order
    results: tuple[str, ...]
    names: FileNames
    whole: PlainAxes
    plan: str  # what the file calls the plan of the function
    indices: tuple["ReadIndex", ...]  # all that is read at, each once

    @property
    def func(self) -> str:
        """The Func that the function is named after."""
        return self.results[0]

    def is_first(self, one: LaunchedKernel) -> bool:
        """Return whether a kernel is launched with the next one."""
        return any(o.pair is not None and o.pair.parts[0] is one.kernel for o in self.launched)

    @property
    def panel(self) -> tuple[str, int] | None:
        """Return the label and the number of the panels that the Func is computed in."""
        return next((one.panel for one in self.launched if one.func == self.func), None)

    def is_pitched(self, func: str) -> bool:
        """Return whether the rows of a Func begin where memory is aligned."""
        return any(one.func == func and one.is_pitched for one in self.launched)


@dataclass(frozen=True, slots=True)
class ReadIndex:
    """An index of a read, and whether a private copy reads there, too."""

    value: Affine
    is_copied: bool


def indices_read(model: Model) -> tuple[ReadIndex, ...]:
    """Return the indices of all reads, and of all places that elements go to, each once."""
    found = dict.fromkeys(
        ReadIndex(index, bool(statement.copies))
        for statement in model.statements
        if statement.body is not None
        for read in reads(statement.body)
        for index in read.indices
    )
    places = (read for at in model.places.values() for read in reads(at))
    found |= dict.fromkeys(ReadIndex(index, False) for read in places for index in read.indices)
    return tuple(found)


def label_with(function: FunctionParts, kernel: TileKernel, variable: str) -> str:
    """Return a label that has the size which a variable of the kernel holds."""
    param = next(param for param, name in kernel.sizes if name == variable)
    return label_of(function, param)


def label_of(function: FunctionParts, param: str) -> str:
    """Return the first of the labels that share a size."""
    return next(label for label, name in function.model.size_of.items() if name == param)


def read_tensors(program: Program) -> dict[str, int]:
    """Return the inputs that some Func reads, in order, and how many axes each has."""
    ranks = {read.tensor: len(read.indices) for func in program.funcs for read in touched(func)}
    return {tensor.name: ranks[tensor.name] for tensor in program.tensors if tensor.name in ranks}
