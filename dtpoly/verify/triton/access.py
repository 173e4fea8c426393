"""The data that the symbolic execution of a kernel takes and gives.

A plan is read into `Launch`es (which kernel, with which arguments and grid). `running` runs
each of them and gives a `Ran`: the loads, stores and barriers of the kernel in their order, and
what holds of the names in them. The layers of the proof look at these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Value
from dtpoly.verify.algebra.terms import Index, Term
from dtpoly.verify.algebra.whole import Truth, Whole

# The atomic operations, which never race with each other.
ATOMICS = tuple(f"atomic_{one}" for one in ("add", "max", "min", "and", "or", "xor", "xchg", "cas"))


@dataclass(frozen=True, slots=True)
class ScatteredStore:
    """Describes a store whose address is made of data: by the data itself, beside names for it.

    `indices` has the data as terms. The store happens where the formula `where` holds and all
    `tests` on data do, and `names` are the names that stand for data in the access.
    """

    indices: tuple[Index, ...]
    where: Truth
    tests: tuple[Term, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KernelAccess:
    """One load, store or atomic operation, at every lane, iteration and program."""

    kind: str
    tensor: str
    indices: tuple[Whole, ...]
    # The condition under which it happens: the branches around it and its mask.
    where: Truth
    lanes: tuple[str, ...]
    loops: tuple[str, ...]
    time: tuple[Whole, ...]
    line: int
    # The value that is stored, None for a load. A load has a number instead (other accesses have
    # 0): the Element term that stands for the loaded value carries it.
    value: Term | None
    load: int
    # The numbers whose sum is its address.
    parts: tuple[Whole, ...] = ()
    scattered: ScatteredStore | None = None
    # How many lanes its tile has along each axis.
    shape: tuple[Whole, ...] = ()
    # It stands in a branch that depends on data: there may be no call for which it happens.
    may_never_be: bool = False
    # The names of data on which it depends, where no values are compared (see data_names).
    data: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelBarrier:
    """A place where all lanes of a program wait for each other."""

    where: Truth
    loops: tuple[str, ...]
    time: tuple[Whole, ...]
    line: int


@dataclass(frozen=True, slots=True)
class KernelTensor:
    """A tensor that a kernel is given, with a stride and an extent for each axis."""

    name: str
    strides: tuple[Whole, ...]
    shape: tuple[Whole, ...]
    # The element type (see kinds).
    kind: str = ""
    # What the caller promises its elements to be below; they are then at least 0, too.
    below: Whole | None = None
    # What else callers promise: signs and numbers with which each element compares; that no two
    # elements are equal; and that none is less than one before it.
    promises: tuple[tuple[str, Whole], ...] = ()
    is_distinct: bool = False
    is_ascending: bool = False
    # The axis along which no two elements are equal; those with other indices besides may be.
    distinct_axis: int | None = None
    # Whether callers need only some elements of a result; the others keep what they had.
    is_partly: bool = False

    @property
    def is_promised(self) -> bool:
        """Return whether a file promises something of the elements themselves."""
        is_said = self.is_distinct or self.is_ascending or self.distinct_axis is not None
        return bool(self.promises) or is_said


@dataclass(frozen=True, slots=True)
class NamedDatum:
    """A datum that has a name, where no values are compared (see data_names).

    It is a function of the `names` in it, and where it is `is_free` of the program and the
    iterations, too. None of its names are known if `names` is None. `tensors` are those that it was
    loaded from.
    """

    names: frozenset[str] | None
    is_free: bool = False
    tensors: frozenset[str] = frozenset()
    # Of an element of a tensor of which callers promise that its elements differ, or ascend: the
    # tensor, the index of each axis, and the condition under which it was loaded, and lies inside.
    tensor: str = ""
    indices: tuple[Whole, ...] | None = None
    where: Truth | None = None
    is_distinct: bool = False
    is_ascending: bool = False
    distinct_axis: int | None = None


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """One launch of a kernel: what its parameters are bound to, and its grid."""

    kernel: str
    arguments: Mapping[str, Value]
    grid: tuple[tuple[Whole, ...], ...]
    # If programs take blocks in turn (a persistent kernel): the factors of the number of blocks.
    turns: tuple[Whole, ...] | None
    stages: int | None
    line: int
    # The numbers that decide how many bits offsets have, if any do; the strides of tensors that
    # decide it, too; and sizes that are not just below 2^31, since the runtime refuses such sizes.
    largest: tuple[Whole, ...] = ()
    reaches: frozenset[str] = frozenset()
    apart: frozenset[Whole] = frozenset()
    # Tensors whose last element has an offset below 2^31; products of sizes, each with the number
    # that it is below; and whether values are promised to be finite.
    near: frozenset[str] = frozenset()
    below: tuple[tuple[Whole, int], ...] = ()
    is_finite: bool = False
    # Sizes that callers promise to be powers of two.
    powers: frozenset[str] = frozenset()
    # Whether its programs may start while the launches before it still run (see early).
    is_early: bool = False
    # How many warps run a program, if the file says it.
    warps: int | None = None
    # Whether some of its warps may load for the others (see specialized).
    is_specialized: bool = False
    # Whether it has only some of the programs of the launch that the file writes; and the
    # parameter that says how many programs come before its own.
    is_part: bool = False
    before: str = ""
    # The factors of products with numbers, such as `2 * blocks`; extents of its grid may be such.
    factors: Mapping[Whole, tuple[Whole, ...]] = field(
        default_factory=dict[Whole, tuple[Whole, ...]], compare=False
    )


@dataclass(frozen=True, slots=True)
class Computed:
    """A whole number that a kernel computes, its type, and the condition under which it does so."""

    value: Whole
    kind: str
    where: Truth
    line: int
    # It is an operand of a subtraction, so it may be larger than the result.
    is_less: bool = False
    # It had 64 bits and keeps 32. It wraps if they do not hold it, and so may the algorithm's.
    is_cut: bool = False
    # It is used for more than a sum that becomes an address, so the result would show a wrap.
    is_left: bool = False
    # It is brought to 64 bits, and may be a part of an address after that.
    is_widened: bool = False
    # It stands in a branch that depends on data, or gets 64 bits only from a size that has so many:
    # there may be no call for which it is computed, or shows.
    may_never_be: bool = False
    # It is computed from data for one address, and is nothing else than a part of that: the tensor,
    # and what is added to its address (see data_names).
    tensor: str = ""
    added: Whole | None = None


@dataclass(frozen=True, slots=True)
class Shift:
    """A number by which lanes are shifted.

    `first` says where a line begins, `stride` is the stride of lines, and the shift is below
    `unit`.
    """

    first: Whole
    stride: str
    unit: int


@dataclass(frozen=True, slots=True)
class OverPrograms:
    """A loop over programs: the id it starts at, the number of accesses in it, and its line."""

    program: str
    accesses: int
    line: int


@dataclass(frozen=True, slots=True)
class Dividend:
    """A whole number that a kernel divides, or one of another use: it must not be negative.

    There is one exception: a negative number may be divided by a constant (`by`) if there is no
    remainder. `what` says in messages what the kernel does.
    """

    number: Whole
    by: int | None
    where: Truth
    line: int
    what: str = "divides what may be negative"


@dataclass(frozen=True, slots=True)
class Ran:
    """One launch after its symbolic run: its accesses and barriers, and the ranges of all names."""

    launch: KernelLaunch
    accesses: tuple[KernelAccess, ...]
    barriers: tuple[KernelBarrier, ...]
    # The ranges of program coordinates, and those of loops and lanes.
    programs: Mapping[str, Truth]
    ranges: Mapping[str, Truth]
    # Loops that Triton may pipeline, with their lines.
    pipelined: Mapping[str, int]
    # The divisions of the kernel, and the whole numbers that it computes, with their types.
    divided: tuple[Dividend, ...]
    computed: tuple[Computed, ...]
    # Products of extents of the grid.
    divisors: frozenset[Whole]
    # The ranges of program ids that are used as numbers; and facts, such as that there are
    # programs at all and that no tile is larger than Triton makes it.
    numbers: Mapping[str, Truth]
    facts: Truth
    # By name: how far a line begins behind an aligned address.
    shifts: Mapping[str, Shift]
    # Lines and reasons why nothing is proved of this kernel though it could be read: Triton may not
    # compile it, or a branch was read as if it were not taken.
    doubts: tuple[tuple[int, str], ...] = ()
    # Tensors that it loads or stores through descriptors.
    described: frozenset[str] = frozenset()
    # Whether it numbers no lanes of a tile anew, as by `tl.reshape`.
    keeps_lanes: bool = False
    # The names in the text of the kernel: no other parameter has a part in what it computes.
    mentioned: frozenset[str] = frozenset()
    # By line: the names from which a number there may be computed. Lines of which nobody knows are
    # missing.
    sources: Mapping[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]])
    # The data that have names, where no values are compared.
    data: Mapping[str, NamedDatum] = field(default_factory=dict[str, NamedDatum])
