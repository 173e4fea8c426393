"""Collects what a wrapper is written from, and names the wrapper's variables."""

from collections.abc import Mapping

from dtpoly.algorithm.expressions import Affine, reads
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.sizes import used_labels
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import TileKernel
from dtpoly.ir.kinds import REAL
from dtpoly.poly.model import Model

from .axis_words import PlainAxes
from .elements import Elements
from .names import PYTHON, FileNames, fresh, plain
from .size_text import Sizing
from .storage import Storage
from .together import Together


@dataclass(frozen=True, slots=True)
class Launched:
    """A kernel, the Func that it belongs to, and the options that it is launched with."""

    kernel: TileKernel
    func: str
    num_warps: int | None = None
    num_stages: int | None = None
    is_pitched: bool = False  # rows of the Func begin where memory is aligned
    pair: Together | None = None  # what is launched for it and the one before it
    panel: tuple[str, int] | None = None  # label, and how many are computed at a time


@dataclass(frozen=True, slots=True)
class Wrapping:
    """All that the wrapper of one Func is written from."""

    program: Program
    model: Model
    elements: Elements
    storage: Storage
    launched: tuple[Launched, ...]  # all that the Func needs, in order
    func: str
    names: FileNames
    whole: PlainAxes
    like: str  # what the file calls the function that makes a result without values
    operator: str  # and the wrapper as an operator of torch
    indices: tuple["Index", ...]  # all that is read at, each once

    def is_first(self, one: Launched) -> bool:
        """Whether a kernel is launched with the next one."""
        return any(o.pair is not None and o.pair.parts[0] is one.kernel for o in self.launched)

    @property
    def panel(self) -> tuple[str, int] | None:
        """The label and the number of the panels that the Func is computed in."""
        return next((one.panel for one in self.launched if one.func == self.func), None)

    def is_pitched(self, func: str) -> bool:
        """Whether the rows of a Func begin where memory is aligned."""
        return any(one.func == func and one.is_pitched for one in self.launched)


@dataclass(frozen=True, slots=True)
class Index:
    """An index of a read, and whether a private copy reads there, too."""

    value: Affine
    is_copied: bool


def indices_read(model: Model) -> tuple[Index, ...]:
    """The indices of all reads, each once."""
    found = dict.fromkeys(
        Index(index, bool(statement.copies))
        for statement in model.statements
        if statement.body is not None
        for read in reads(statement.body)
        for index in read.indices
    )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Locals:
    """The names of the wrapper's own variables, none of which is a name of the source."""

    sizes: Mapping[str, str]  # label -> variable
    arrays: Mapping[str, str]  # what kernels leave for others
    elements: Mapping[str, str]  # dtype that kernels are compiled with
    lanes: Mapping[str, str]  # size -> variable of the lanes that hold it
    descriptors: Mapping[tuple[str, str], str]  # kernel and tensor -> its descriptor
    device: str
    dtype: str
    largest: str
    programs: str
    before: str  # programs of a launch that are of the first of two kernels
    after: str
    panel: str  # where one begins
    is_last: str = ""  # whether none comes after it
    indent: int = 4  # of launches


def locals_of(wrapping: Wrapping) -> Locals:
    """Names for all that a wrapper may need, the same for each function that it becomes."""
    taken = {*wrapping.names.taken, wrapping.like, wrapping.operator, "out"}

    def name(wish: str) -> str:
        made = fresh(wish, taken, PYTHON)
        taken.add(made)
        return made

    kernels = [one.kernel for one in wrapping.launched]
    used = used_labels(wrapping.program)
    arrays = dict.fromkeys(
        p.name for k in kernels for p in k.tensors if p.name not in wrapping.names.inputs
    )
    elements = dict.fromkeys((REAL.name, *(n for kernel in kernels for n, _ in kernel.elements)))
    counted = dict.fromkeys(label_with(wrapping, k, size) for k in kernels for _, size in k.counts)
    return Locals(
        sizes={v.name: name(f"{v.name}_size") for v in wrapping.program.labels if v.name in used},
        arrays={array: name(plain(array)) for array in arrays if array != wrapping.func}
        | {wrapping.func: "out"},
        elements={element: name(element) for element in elements},
        lanes={label: name(f"{label}_lanes") for label in counted},
        descriptors={
            (kernel.name, one.tensor): name(f"{plain(one.tensor)}_blocks")
            for kernel in kernels
            for one in kernel.described
        },
        device=name("device") if first_tensor(wrapping) else "device",
        dtype=name("dtype"),
        largest=name("largest"),
        programs=name("programs"),
        before=name("before"),
        after=name("after"),
        panel=name("panel"),
    )


def sizing_of(wrapping: Wrapping, own: Locals) -> Sizing:
    """Collect what the text about sizes is written from."""
    return Sizing(wrapping.program, wrapping.names.inputs, own.sizes, wrapping.names.labels)


def label_with(wrapping: Wrapping, kernel: TileKernel, variable: str) -> str:
    """A label that has the size which a variable of the kernel holds."""
    param = next(param for param, name in kernel.sizes if name == variable)
    return label_of(wrapping, param)


def label_of(wrapping: Wrapping, param: str) -> str:
    """The first of the labels that share a size."""
    return next(label for label, name in wrapping.model.size_of.items() if name == param)


def size_with(wrapping: Wrapping, own: Locals, kernel: TileKernel, variable: str) -> str:
    """The wrapper's variable for a size of the kernel."""
    return own.sizes[label_with(wrapping, kernel, variable)]


def read_tensors(program: Program) -> dict[str, int]:
    """The inputs that some Func reads, in the order declared, and how many axes they have."""
    ranks = {read.tensor: len(read.indices) for func in program.funcs for read in reads(func.body)}
    return {tensor.name: ranks[tensor.name] for tensor in program.tensors if tensor.name in ranks}


def first_tensor(wrapping: Wrapping) -> str:
    """The parameter for the first tensor that is read; empty if none is."""
    name = next(iter(read_tensors(wrapping.program)), None)
    return wrapping.names.inputs[name] if name is not None else ""


def takes_device(program: Program) -> bool:
    """Whether no tensor that is read says where to compute, so that the caller must."""
    return not read_tensors(program)
