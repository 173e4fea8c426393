"""The plan of a function: what a call must be like, and what is launched for it.

Code generation makes one plan for each function of a generated file. The file has it as a literal
(see `plan_data`), which the runtime carries out and the verifier reads. docs/plan.md explains each
part.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from dtpoly.frozen import dataclass
from dtpoly.plan.formula import Formula, Truth

# Inputs by the names of their parameters, and words for dtypes: `("A", "B", "f32")`. The dtype is
# the one to which all of these promote.
Terms = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TensorInput:
    """A tensor of the caller: its dtype, or "float" for any float, and how many axes it has."""

    dtype: str
    rank: int


@dataclass(frozen=True, slots=True)
class NumberInput:
    """A number of the caller; a whole one has limits."""

    kind: Literal["float", "int", "bool"]
    least: int = 0
    most: int = 0


@dataclass(frozen=True, slots=True)
class UnreadInput:
    """A tensor that no Func reads: whatever is passed is not looked at."""


PlannedInput = TensorInput | NumberInput | UnreadInput


@dataclass(frozen=True, slots=True)
class PlannedSize:
    """The size of a label: what it is computed from; a call must pass it if that is nothing.

    A call may also pass a size that can be computed. Where it does not, the sizes of the labels
    `instead` must be passed, because they are needed to compute it.
    """

    label: str
    formula: Formula | None
    is_passed: bool = False
    instead: tuple[str, ...] = ()
    most: int | None = None  # a larger size is refused
    shown: str = ""  # where it comes from, for messages; empty if the formula tells


@dataclass(frozen=True, slots=True)
class SameShape:
    """An input must have this shape."""

    tensor: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SameSize:
    """The size of a label must also be this; `seen` says where, for a message."""

    label: str
    formula: Formula
    seen: str


@dataclass(frozen=True, slots=True)
class StaysInside:
    """An index must stay inside of an axis, unless one of these labels has the size 0.

    An end is left out if it cannot be outside. The last text names the sizes, for a message.
    """

    tensor: str
    axis: int
    extent: Formula
    index: str
    low: Formula | None
    high: Formula | None
    labels: tuple[str, ...] = ()
    sizes: str = ""


@dataclass(frozen=True, slots=True)
class HasSome:
    """A reduction that has no value for nothing: the size of its label must not be 0."""

    reduction: str
    label: str


Demand = SameShape | SameSize | StaysInside | HasSome


@dataclass(frozen=True, slots=True)
class CanAdd:
    """A kernel adds to memory there: a GPU must be able to do that in this dtype."""

    func: str
    reduction: str
    dtype: Terms


@dataclass(frozen=True, slots=True)
class PlannedType:
    """A type that kernels are compiled with, by the name of their parameter.

    `real` is the type in which floats are computed, `operand` the one in which the sides of a
    product meet, and `stored` the one in memory; f32 and f64 are known before the call.
    """

    name: str
    kind: Literal["f32", "f64", "real", "operand", "stored"]
    terms: Terms = ()


@dataclass(frozen=True, slots=True)
class PlannedTensor:
    """A tensor that the call makes: a result, memory between kernels, or memory of programs.

    Its dtype is what the terms promote to, or else that of a type of kernels. If it is pitched, its
    rows begin where memory is aligned. Memory of programs has a first axis more, for programs.
    """

    name: str
    shape: tuple[Formula, ...]
    dtype: Terms | str
    is_pitched: bool = False
    into: str = ""  # the input whose memory a result takes


@dataclass(frozen=True, slots=True)
class PlannedDescriptor:
    """A parameter that is a descriptor: of which tensor, its block, and the order of its axes.

    Where a step is given, blocks start at its multiples along the last axis.
    """

    name: str
    tensor: str
    block: tuple[int, ...]
    axes: tuple[int, ...]
    step: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedTile:
    """The number of elements of a Func's largest tile, and the directive that makes it smaller."""

    func: str
    elements: Formula
    advice: str


@dataclass(frozen=True, slots=True)
class PlannedLaunch:
    """The launch of a kernel: how many programs, and what the kernel is given, in this order.

    `before` are the programs of a first kernel, where one launch computes two. Of tensors a kernel
    is given the address and all strides. `axes` has a word for each axis: the parameter that has
    its length, `_` if nothing is known of it, or `-` if its lines may begin anywhere.
    """

    kernel: str
    func: str
    programs: tuple[Formula, ...] | None  # factors; None: a single program, and no axis
    before: tuple[Formula, ...] | None = None
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    scratch: tuple[PlannedTensor, ...] = ()
    numbers: Mapping[str, Formula] = field(default_factory=dict[str, Formula])
    descriptors: tuple[PlannedDescriptor, ...] = ()
    lanes: Mapping[str, Formula] = field(default_factory=dict[str, Formula])
    flags: Mapping[str, Truth] = field(default_factory=dict[str, Truth])
    types: tuple[str, ...] = ()
    fours: tuple[Formula, ...] = ()  # multiples of four in one variant of the kernel
    counts: tuple[Formula, ...] = ()  # numbers that must fit the type of offsets, beside indices
    near: tuple[Formula, ...] = ()  # sizes that must not be just below 2**31, beside those
    tiles: tuple[PlannedTile, ...] = ()
    num_warps: int | None = None
    num_stages: int | None = None
    turns: int = 0  # programs of each multiprocessor, which take blocks in turn
    panel: Literal["", "first", "last"] = ""  # of each panel, where both may run at once
    is_early: bool = False
    # The most bytes of an element that a product may have, and descriptors, sides of it first.
    specialized: tuple[int, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class PlannedPanels:
    """The launches are done for so many indices of labels at a time; all have one size.

    In launches, the labels mean the part, and a tensor that is cut along an axis means its part.
    """

    labels: tuple[str, ...]
    size: int
    cut: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """The description of a function. Its fields stand in the order in which they refuse a call."""

    function: str
    names: Mapping[str, str]  # what the source calls a parameter or a label, where that differs
    inputs: Mapping[str, PlannedInput]
    sizes: tuple[PlannedSize, ...]  # in an order in which they can be computed
    demands: tuple[Demand, ...]
    meet: tuple[Terms, ...]  # dtypes that must have one that holds all of their values
    types: tuple[PlannedType, ...]
    adds: tuple[CanAdd, ...]
    results: tuple[PlannedTensor, ...]
    between: tuple[PlannedTensor, ...]
    indices: tuple[Formula, ...]  # how large indices may become
    launches: tuple[PlannedLaunch, ...]
    panels: PlannedPanels | None = None
