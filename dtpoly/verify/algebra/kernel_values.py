"""Define the values that a name of a kernel can hold while the verifier runs the kernel.

Most of them are tiles of whole numbers, conditions, pointers or terms. `Unread` is also defined
here; it is raised for anything in a file that the verifier does not understand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TypeGuard

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import terms
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.term_building import place
from dtpoly.verify.algebra.terms import Term, of_truth
from dtpoly.verify.algebra.whole import (
    TRUE,
    All,
    Not,
    Put,
    Sign,
    Some,
    Truth,
    Whole,
    put_truth,
    put_whole,
)

# The separator between the names of an axis that has several.
TOGETHER = " "
# Triton makes no tile with more lanes than this.
MOST_LANES = 2**20


class Unread(Exception):
    """Raised for something in the text that the verifier does not understand: where, and what.

    `way` says what the user can do about it, if that is known.
    """

    def __init__(self, line: int, what: str, way: str = "") -> None:
        super().__init__(f"line {line}: {what}")
        self.line = line
        self.what = what
        self.way = way


@dataclass(frozen=True, slots=True)
class PointerValue:
    """An address: a tensor and the distance from its first element, in elements.

    `parts` are the numbers that were added up, each in its own type; addresses have 64 bits. `data`
    are terms that were added up besides, which depend on data (see data_indices).
    """

    tensor: str
    offset: Whole
    parts: tuple[Whole, ...] = ()
    data: tuple[Term, ...] = ()

    def plus(self, by: Whole) -> PointerValue:
        """Return the address that many elements further."""
        return PointerValue(self.tensor, self.offset + by, (*self.parts, by), self.data)


@dataclass(frozen=True, slots=True)
class Radix:
    """A program id that has not yet been taken apart; it is below the product of the extents."""

    name: str
    extents: tuple[Whole, ...]


@dataclass(frozen=True, slots=True)
class TypeValue:
    """An element type of Triton, or the name under which a launch passes one."""

    name: str


@dataclass(frozen=True, slots=True)
class TextValue:
    """A piece of text, given as an option of a call."""

    text: str


@dataclass(frozen=True, slots=True)
class TupleValue:
    """A tuple of values."""

    parts: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class LostValue:
    """The value of a name whose value a loop or a branch leaves open; `why` says how."""

    why: str


@dataclass(frozen=True, slots=True)
class NoneValue:
    """The value None."""


@dataclass(frozen=True, slots=True)
class FileFunction:
    """A function of the file, by name."""

    name: str


Item = Whole | Truth | Term | PointerValue | Radix


@dataclass(frozen=True, slots=True)
class TileValue:
    """A value at each lane.

    An axis is the name of its lanes, or None if it has only one lane. If several names together
    number the lanes of an axis, the axis has all of these names as its own.
    """

    axes: tuple[str | None, ...]
    item: Item
    # The element type (see kinds); it is empty for a written number.
    kind: str = ""
    # Whether it is a whole number that was cut to 32 bits, or was made of such a number. Used
    # as a value, it is what the algorithm says in 32 bits. Where the number itself counts, as
    # in an index, it must have fitted into 32 bits before.
    is_cut: bool = False
    # Whether it is the counter of a loop; in Triton's interpreter that is a number of Python.
    is_counter: bool = False
    # Whether it is made of a tensor, so that it is one, also where its type is that of a size.
    is_tensor: bool = field(default=False, compare=False)

    @property
    def is_number_of_python(self) -> bool:
        """Return whether it may be a number of Python, as a size, a truth of sizes or a counter."""
        is_plain = self.is_counter or (self.kind in kinds.PYTHONS and not self.is_tensor)
        return is_plain and not self.axes


@dataclass(frozen=True, slots=True)
class DescriptorValue:
    """A tensor descriptor, through which blocks are loaded and stored.

    Elements outside of its shape are loaded as 0, and are not stored.
    """

    pointer: TileValue
    shape: tuple[Whole, ...]
    strides: tuple[Whole, ...]
    block: tuple[int, ...]
    # The condition under which there is such a descriptor at all.
    there: Truth = TRUE


@dataclass(frozen=True, slots=True)
class BlockPointerValue:
    """A block pointer: a tensor, a shape and strides, and the index at which the block begins.

    A name has its offsets apart, as names of their own (see `offset_names`).
    """

    pointer: TileValue
    shape: tuple[Whole, ...]
    strides: tuple[Whole, ...]
    block: tuple[Whole, ...]
    offsets: tuple[TileValue, ...] = ()


def offset_names(one: str, value: BlockPointerValue) -> tuple[str, ...]:
    """Return the names of the offsets of a block pointer with a name, which no text can have."""
    return tuple(f"{one}:{axis}" for axis in range(len(value.block)))


Value = (
    TileValue
    | TypeValue
    | TextValue
    | TupleValue
    | LostValue
    | NoneValue
    | FileFunction
    | DescriptorValue
    | BlockPointerValue
)


def scalar(item: Item, kind: str = "") -> TileValue:
    """Return a value without lanes."""
    return TileValue((), item, kind)


def is_truth(item: object) -> TypeGuard[Truth]:
    """True for a formula."""
    return isinstance(item, Sign | All | Some | Not)


def as_term(item: Item, line: int) -> Term:
    """Return the value as a term; refuse an address or a program id. Raises Unread."""
    match item:
        case Whole():
            return place(item)
        case Sign() | All() | Some() | Not():
            return of_truth(item)
        case PointerValue() | Radix():
            raise Unread(line, "an address or a program id is used as a value")
        case _:
            return item


def put_item(run: ProofRun, item: Item, values: Put) -> Item:
    """Return the item with numbers put in the place of names."""
    match item:
        case Whole():
            return put_whole(item, values)
        case Sign() | All() | Some() | Not():
            return put_truth(item, values)
        case PointerValue(tensor=tensor, offset=offset, parts=parts, data=data):
            moved = tuple(put_whole(part, values) for part in parts)
            taken = tuple(terms.put(run, one, values) for one in data)
            return PointerValue(tensor, put_whole(offset, values), moved, taken)
        case Radix():
            return item
        case _:
            return terms.put(run, item, values)


def lanes_of(axes: Sequence[str | None]) -> tuple[str, ...]:
    """Return the names of the lanes of those axes that have more than one lane."""
    return tuple(part for axis in axes if axis is not None for part in axis.split(TOGETHER))
