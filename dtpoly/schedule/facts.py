"""The facts that directives state and other directives build on; kernels are found from them."""

from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.schedule.argument_values import Divided, Name
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Compiled:
    """A Func gets a function."""

    func: str


@dataclass(frozen=True, slots=True)
class Returned:
    """A function that is named after another Func returns this one, too."""

    func: str
    function: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Inlined:
    """A Func's expression stands in for its reads."""

    func: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Fused:
    """A Func is computed inside a loop of a consumer, the one over `label`."""

    func: str
    consumer: str
    label: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ReducedAlong:
    """A Func is reduced in the loop of a consumer's reduction over `label`, which goes on with it.

    So it is fused into the consumer, too.
    """

    func: str
    consumer: str
    label: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Blocked:
    """A label of a Func is cut into blocks, each for a program instance.

    They may have a `name` as the parts of a label that the Func reduces over, or scans along.
    """

    func: str
    label: str
    size: int
    name: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MergeBlocked:
    """A label of a Func is cut into blocks in the kernel that merges the parts of another label.

    `parts` is the name of the label that numbers these parts.
    """

    func: str
    parts: str
    label: str
    size: int
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NewName:
    """A directive (`by`) divides the label `of` and gives what comes of it a name.

    If that is a loop, other directives may name it. Its extent is at most `extent`.
    """

    func: str
    name: str
    of: str
    by: str
    is_loop: bool
    extent: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Numbered:
    """Programs of a Func are numbered as a nest of loops passes their blocks, outermost first.

    A label that is divided stands for groups of its blocks, and the new name for those of a group.
    """

    func: str
    loops: tuple[Name | Divided, ...]


@dataclass(frozen=True, slots=True)
class RowsApart:
    """Groups of warps of a Func's kernel have rows of their own, as the directive `by` says."""

    func: str
    by: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DescribedTensors:
    """Tensors that a Func's kernel loads or stores through descriptors, where it can."""

    func: str
    tensors: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Rounded:
    """The precision with which the kernel of a Func multiplies matrices of 32-bit numbers."""

    func: str
    mode: str


@dataclass(frozen=True, slots=True)
class InvariantRow:
    """The bits of a row of a Func along a label are asked to be the same in each batch."""

    func: str
    label: str


OfLaunch = RowsApart | DescribedTensors | Rounded | InvariantRow  # they say nothing of loops
OfFusion = Inlined | Fused | ReducedAlong
OfBlocks = Blocked | MergeBlocked
Fact = Compiled | Returned | OfFusion | OfBlocks | NewName | Numbered | OfLaunch
