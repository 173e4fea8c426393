"""What a kernel does to memory, in order; and what a launch of it binds its parameters to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.verify.terms import Term
from dtpoly.verify.values import Value
from dtpoly.verify.whole import Truth, Whole


@dataclass(frozen=True, slots=True)
class Access:
    """One load, store or atomic operation, at every lane, iteration and program."""

    kind: str
    tensor: str
    indices: tuple[Whole, ...]
    # Where it happens: conditions around it, and its mask.
    where: Truth
    lanes: tuple[str, ...]
    loops: tuple[str, ...]
    time: tuple[Whole, ...]
    line: int
    # What is stored; of a load its number, which the term that it gives names.
    value: Term | None
    load: int
    # The numbers that its address was added up from.
    parts: tuple[Whole, ...] = ()


@dataclass(frozen=True, slots=True)
class Barrier:
    """All lanes of a program wait for each other."""

    where: Truth
    loops: tuple[str, ...]
    time: tuple[Whole, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Array:
    """A tensor that a kernel is given: one stride for each axis."""

    name: str
    strides: tuple[Whole, ...]
    shape: tuple[Whole, ...]
    # The element type (see kinds).
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel: what its parameters are bound to, and its grid."""

    kernel: str
    arguments: Mapping[str, Value]
    grid: tuple[tuple[Whole, ...], ...]
    # What the blocks that programs take in turn are the product of, if they do that.
    turns: tuple[Whole, ...] | None
    stages: int | None
    line: int
    # What decides how many bits offsets have, if anything does; and sizes that are not just
    # below 2^31, since such are refused.
    largest: tuple[Whole, ...] = ()
    reaches: frozenset[str] = frozenset()  # strides of tensors that decide it, too
    apart: frozenset[Whole] = frozenset()
    # Tensors whose last element is nearer than 2^31; what products are below; are values finite.
    near: frozenset[str] = frozenset()
    below: tuple[tuple[Whole, int], ...] = ()
    is_finite: bool = False
    # Its programs may be placed while launches before it run.
    is_early: bool = False
    # Some of its warps may load for the others.
    is_specialized: bool = False
    # It has only some of the programs; and the parameter that says how many are before its own.
    is_part: bool = False
    before: str = ""
    # What products with numbers, which extents of its grid may be, are made of.
    factors: Mapping[Whole, tuple[Whole, ...]] = field(
        default_factory=dict[Whole, tuple[Whole, ...]], compare=False
    )


@dataclass(frozen=True, slots=True)
class Computed:
    """A whole number that a kernel computes: in which type, and where."""

    value: Whole
    kind: str
    where: Truth
    line: int
    # Something is taken from it, or it from something: it may be larger than what becomes of it.
    is_less: bool = False
    # It had 64 bits: where 32 do not hold it, it wraps, and so may the algorithm's.
    is_cut: bool = False
    # More is done with it than to add it up to an address: where it wrapped, that would be seen.
    is_left: bool = False
    # It is brought to 64 bits, and may be a part of an address after that.
    is_widened: bool = False


@dataclass(frozen=True, slots=True)
class Shift:
    """What lanes are shifted by: where a line begins, its stride, what the shift is below."""

    first: Whole
    stride: str
    unit: int


@dataclass(frozen=True, slots=True)
class Divided:
    """A whole number that may not be negative where it is divided.

    It may be where it is divided by a number, if nothing is left.
    """

    number: Whole
    by: int | None
    where: Truth
    line: int


@dataclass(frozen=True, slots=True)
class Ran:
    """A launch as it runs: its accesses and barriers, and what holds of the names in them."""

    launch: Launch
    accesses: tuple[Access, ...]
    barriers: tuple[Barrier, ...]
    # Ranges of program coordinates; of loops and lanes.
    programs: Mapping[str, Truth]
    ranges: Mapping[str, Truth]
    # Loops that Triton may pipeline, with their lines.
    pipelined: Mapping[str, int]
    # What is divided, by which number, where, in which line; whole numbers and their types.
    divided: tuple[Divided, ...]
    computed: tuple[Computed, ...]
    # Products of extents of the grid.
    divisors: frozenset[Whole]
    # Program ids that are used as numbers; what holds of how many there are.
    numbers: Mapping[str, Truth]
    facts: Truth
    # By how much lines begin behind where memory is aligned.
    shifts: Mapping[str, Shift]
    # Branches that are read as if they were not taken, and may be.
    doubts: tuple[tuple[int, str], ...] = ()
