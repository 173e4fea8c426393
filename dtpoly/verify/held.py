"""What a name of a wrapper can hold, and the wrapper as far as it is read."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.verify import known
from dtpoly.verify.access import Array, Launch
from dtpoly.verify.asking import Lemma, assume
from dtpoly.verify.helpers import HELPERS
from dtpoly.verify.terms import Given
from dtpoly.verify.unit.unit import Unit
from dtpoly.verify.values import Unread
from dtpoly.verify.whole import Truth, Whole


@dataclass(frozen=True)
class TensorOf:
    """A tensor of the caller, or one that the wrapper makes."""

    array: Array


@dataclass(frozen=True)
class Product:
    """A product of numbers, kept apart: the programs of a launch."""

    factors: tuple[Whole, ...]


@dataclass(frozen=True)
class Bound:
    """What is not less than any of some numbers, products among them."""

    parts: tuple[Held, ...]


@dataclass(frozen=True)
class Kind:
    """An element type (see kinds); one of torch's is none that a kernel may be given."""

    name: str
    is_torch: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Blocks:
    """A descriptor of a tensor for blocks of a shape, or None; a name is 1 where it is there."""

    array: Array
    block: tuple[int, ...]
    there: Truth


@dataclass(frozen=True)
class Opaque:
    """What does not matter to the values: a device, an option."""

    text: str


@dataclass(frozen=True)
class Maybe:
    """A size that a call may pass, or None: what it is then, is said before it is used."""

    label: str
    is_checked: bool = False  # whether it is a whole number that is not below 0


@dataclass(frozen=True)
class Panels:
    """A loop over parts of a size: the axes of tensors that are cut, and where a part begins."""

    lines: tuple[int, int]  # its first and its last one
    size: Whole
    parts: Mapping[str, int]
    start: Whole
    alike: frozenset[str]  # what the size is called: extents of tensors


Plain = Whole | TensorOf | Product | Bound | Kind | Blocks | Opaque | Maybe
Held = Plain | tuple["Held", ...] | Given | Truth


@dataclass
class Wrapper:
    """One reading of a wrapper."""

    file: Unit
    wanted: str
    names: dict[str, Held]
    arrays: dict[str, Array]
    # Declared types of the caller's tensors; those that have none.
    callers: frozenset[str]
    parameters: tuple[str, ...]
    # The types of scalars; nothing for floats, which have the type of what they meet.
    scalars: Mapping[str, str]
    launches: list[Launch] = field(default_factory=list[Launch])
    # What holds of every call that is not refused.
    facts: list[Truth] = field(default_factory=list[Truth])
    # Refusals that were not understood: with them there may be fewer calls than are looked at.
    skipped: list[int] = field(default_factory=list[int])
    # Tensors whose rank and type are looked at, and numbers of which it is seen that they are.
    checked: set[str] = field(default_factory=set[str])
    # Tensors that are returned as they are where they have no elements.
    empty: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    result: str | None = None
    # Whether launches go to the device of the caller's tensors.
    is_there: bool = False
    # The function that says what the result is like, before it is there; nothing if none does.
    like: str = ""
    # What is not as it should be, though it can be read on: with one of these nothing is proved.
    doubts: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    # What the last call of `dt_offset` was told: all of these are below 2^30, or it gives 64 bits.
    largest: tuple[Whole, ...] = ()
    # The strides of the tensors that it was told of: they reach less far than 2^31, or it does.
    reaches: frozenset[str] = frozenset()
    # Tensors whose last element is known to be nearer than 2^31; what products of sizes are
    # below; and whether values are finite.
    near: frozenset[str] = frozenset()
    below: tuple[tuple[Whole, int], ...] = ()
    is_finite: bool = False
    # What makes the result where the caller gives none.
    maker: str = ""
    # Sizes that are refused if they are just below 2^31, by this launch or those before it.
    apart: frozenset[Whole] = frozenset()
    # Names that have been set, also those that stand for other things in a loop over panels.
    is_set: set[str] = field(default_factory=set[str])
    # Where all launches are in a loop over panels; whether it has been read.
    panels: Panels | None = None
    is_over: bool = False
    # What products with numbers are made of.
    factors: dict[Whole, tuple[Whole, ...]] = field(default_factory=dict[Whole, tuple[Whole, ...]])
    # What the caller gives.
    inputs: frozenset[str] = frozenset()
    # By label, the size that it has where a call may pass one and does not.
    left_out: Mapping[str, Whole] = field(default_factory=dict[str, Whole])

    def must_know(self, function: str, line: int) -> None:
        """Refuse a function whose text is not the one that is known."""
        if not known.is_known(self.file, function):
            raise Unread(line, f"'{function}' is not the function that is known by that name")
        assume(Lemma.KNOWN, function, HELPERS[function])

    def must_have_set(self, nodes: Iterable[ast.AST]) -> None:
        """Refuse names in what is not read that nothing set before."""
        for one in (part for node in nodes for part in ast.walk(node)):
            if isinstance(one, ast.Name) and one.id not in {*self.names, *self.is_set}:
                raise Unread(one.lineno, f"'{one.id}' is not known")

    def size(self, held: Held, node: ast.expr) -> Whole:
        """A held value that must be a whole number."""
        if not isinstance(held, Whole):
            raise Unread(node.lineno, f"'{ast.unparse(node)}' is not a whole number")
        return held

    def tensor(self, held: Held | None, node: ast.AST) -> Array:
        """A held value that must be a tensor."""
        if not isinstance(held, TensorOf):
            line = getattr(node, "lineno", 1)
            raise Unread(line, f"'{ast.unparse(node)}' is not a tensor")
        return held.array

    def parts(self, held: Held, node: ast.expr) -> tuple[Held, ...]:
        """A held value that must be a tuple."""
        if not isinstance(held, tuple):
            raise Unread(node.lineno, f"'{ast.unparse(node)}' is not a tuple")
        return held


Arrays = Mapping[str, Array]
