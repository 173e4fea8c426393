"""The values that names of a wrapper can hold, and `Wrapper`: all that was read of one so far.

`wrapper` fills a `Wrapper` as it goes through the statements of a generated file; `binding` makes
one from the lines of a hand-written file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.proof_run import Lemma, ProofRun
from dtpoly.verify.algebra.terms import Given
from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.algebra.whole import Truth, Whole
from dtpoly.verify.triton import known
from dtpoly.verify.triton.access import Array, Launch
from dtpoly.verify.triton.helpers import HELPERS
from dtpoly.verify.triton.unit.unit import Unit


@dataclass(frozen=True)
class TensorOf:
    """A tensor of the caller, or one that the wrapper makes."""

    array: Array


@dataclass(frozen=True)
class Product:
    """A product whose factors are kept apart, such as the number of programs of a launch."""

    factors: tuple[Whole, ...]


@dataclass(frozen=True)
class Bound:
    """A number of which only this is known: it is not less than any of the parts."""

    parts: tuple[Held, ...]


@dataclass(frozen=True)
class Kind:
    """An element type (see kinds). A type of torch must not be passed to a kernel."""

    name: str
    is_torch: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Blocks:
    """A descriptor of a tensor for blocks of a shape, or None.

    It is there if the condition `there` holds, which says that a name for this descriptor is 1.
    """

    array: Array
    block: tuple[int, ...]
    there: Truth


@dataclass(frozen=True)
class Opaque:
    """Something that does not matter to the computed values: a device, an option."""

    text: str


@dataclass(frozen=True)
class Maybe:
    """A size that may be None, since a call may leave it out.

    The wrapper must give it a value before it uses it (see left_out).
    """

    label: str
    is_checked: bool = False  # whether it is a whole number that is not below 0


@dataclass(frozen=True)
class Panels:
    """A loop of the wrapper over parts of a size, each of which has launches of its own.

    `parts` are the axes of tensors that are cut, and `start` is where a part begins.
    """

    lines: tuple[int, int]  # its first and its last one
    size: Whole
    parts: Mapping[str, int]
    start: Whole
    alike: frozenset[str]  # what the size is called: extents of tensors


Plain = Whole | TensorOf | Product | Bound | Kind | Blocks | Opaque | Maybe
Held = Plain | tuple["Held", ...] | Given | Truth


@dataclass
class Wrapper:
    """One wrapper, as far as it has been read: its names, launches and facts."""

    run: ProofRun
    file: Unit
    wanted: str
    names: dict[str, Held]
    arrays: dict[str, Array]
    # The caller's tensors without a declared type.
    callers: frozenset[str]
    parameters: tuple[str, ...]
    # The types of scalars; empty for floats, which take the type of the values that they meet.
    scalars: Mapping[str, str]
    launches: list[Launch] = field(default_factory=list[Launch])
    # Facts that hold for every call that the wrapper does not refuse.
    facts: list[Truth] = field(default_factory=list[Truth])
    # The lines of refusals that were not understood. Because of them the wrapper may accept fewer
    # calls than the proof looks at.
    skipped: list[int] = field(default_factory=list[int])
    # Tensors whose rank and type the wrapper checks, and numbers whose types it checks.
    checked: set[str] = field(default_factory=set[str])
    # Tensors that are returned as they are where they have no elements.
    empty: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    result: str | None = None
    # Whether launches go to the device of the caller's tensors.
    is_there: bool = False
    # The function that says what the result is like, before it is there; empty if there is none.
    like: str = ""
    # Lines and reasons why nothing is proved, although the wrapper can be read on.
    doubts: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    # The numbers that the last call of `dt_offset` was given: unless all of them are below 2^30, it
    # returns a type of 64 bits.
    largest: tuple[Whole, ...] = ()
    # The strides of the tensors that it was given: if these reach to 2^31 or beyond, it returns a
    # type of 64 bits, too.
    reaches: frozenset[str] = frozenset()
    # Tensors whose last element is known to have an offset below 2^31; products of sizes, each with
    # the number that it is below; and whether values are promised to be finite.
    near: frozenset[str] = frozenset()
    below: tuple[tuple[Whole, int], ...] = ()
    is_finite: bool = False
    # The function that makes the result if the caller gives none.
    maker: str = ""
    # Sizes that are refused if they are just below 2^31, before this launch or earlier ones.
    apart: frozenset[Whole] = frozenset()
    # Names that have been set, also those that mean something else in a loop over panels.
    is_set: set[str] = field(default_factory=set[str])
    # The loop over panels, if all launches are in one; and whether the loop has been read.
    panels: Panels | None = None
    is_over: bool = False
    # The factors of products with constants.
    factors: dict[Whole, tuple[Whole, ...]] = field(default_factory=dict[Whole, tuple[Whole, ...]])
    # The inputs that the caller gives.
    inputs: frozenset[str] = frozenset()
    # By label: the size that it has if a call could pass one and does not.
    left_out: Mapping[str, Whole] = field(default_factory=dict[str, Whole])

    def must_know(self, function: str, line: int) -> None:
        """Raise Unread if the text of a function is not the known one; note the assumption."""
        if not known.is_known(self.file, function):
            raise Unread(line, f"'{function}' is not the function that is known by that name")
        self.run.assume(Lemma.KNOWN, function, HELPERS[function])

    def must_have_set(self, nodes: Iterable[ast.AST]) -> None:
        """Raise Unread if expressions that are not read use a name that nothing has set before."""
        for one in (part for node in nodes for part in ast.walk(node)):
            if isinstance(one, ast.Name) and one.id not in {*self.names, *self.is_set}:
                raise Unread(one.lineno, f"'{one.id}' is not known")

    def size(self, held: Held, node: ast.expr) -> Whole:
        """Return a held value that must be a whole number. Raises Unread if it is not."""
        if not isinstance(held, Whole):
            raise Unread(node.lineno, f"'{ast.unparse(node)}' is not a whole number")
        return held

    def tensor(self, held: Held | None, node: ast.AST) -> Array:
        """Return the tensor of a held value. Raises Unread if it is no tensor."""
        if not isinstance(held, TensorOf):
            line = getattr(node, "lineno", 1)
            raise Unread(line, f"'{ast.unparse(node)}' is not a tensor")
        return held.array

    def parts(self, held: Held, node: ast.expr) -> tuple[Held, ...]:
        """Return a held value that must be a tuple. Raises Unread if it is not."""
        if not isinstance(held, tuple):
            raise Unread(node.lineno, f"'{ast.unparse(node)}' is not a tuple")
        return held


Arrays = Mapping[str, Array]
