"""The arguments of a call of Triton, as the rule of its operation reads them.

An argument is read when its rule asks for it: reading notes what the argument computes, and that
must stand in the order in which the rule needs it. A rule also says how it reads: a `tile` leaves
the parts of addresses, so products in it must not wrap, unless it only changes its shape.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    NoneValue,
    TileValue,
    TupleValue,
    TypeValue,
    Unread,
    Value,
)
from dtpoly.verify.algebra.whole import Whole
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.product_axes import axis_of
from dtpoly.verify.triton.reader import Reader

Axes = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Operands:
    """A call of an operation: its word, its arguments, and what reads them."""

    read: Reader
    word: str
    args: list[ast.expr]  # those that are given by place
    by_name: Mapping[str, ast.expr]  # those that have names, given by place or by name
    node: ast.Call

    @property
    def state(self) -> KernelState:
        """Return the state of the kernel's run."""
        return self.read.state

    @property
    def line(self) -> int:
        """Return the line of the call."""
        return self.node.lineno

    @property
    def text(self) -> str:
        """Return the call as it is written, between quotes."""
        return f"'{ast.unparse(self.node)}'"

    def refused(self, why: str = "") -> Unread:
        """Return the error for this call, which shows its text."""
        return Unread(self.line, f"{self.text}{why}")

    def tile(self, at: int, *, stays: bool = False) -> TileValue:
        """Read an argument that must be a tile; `stays` if only its shape is changed."""
        return self.read.tile(self.args[at], stays=stays)

    def tiles(self) -> list[TileValue]:
        """Read all arguments by place as tiles."""
        return [self.read.tile(one) for one in self.args]

    def tile_of(self, name: str) -> TileValue | None:
        """Read an argument that has a name as a tile; None if it is not given, or is None."""
        node = self.by_name.get(name)
        is_none = node is None or _is_none(self.state, node)
        return None if node is None or is_none else self.read.tile(node)

    def value(self, at: int) -> Value:
        """Read an argument."""
        return self.read.value(self.args[at])

    def value_of(self, name: str) -> Value | None:
        """Read an argument that has a name; None if it is not given."""
        return self.read.value(self.by_name[name]) if name in self.by_name else None

    def whole(self, at: int) -> Whole:
        """Read an argument that must be a whole number."""
        return self.read.whole(self.args[at])

    def constant(self, node: ast.expr) -> int | None:
        """Read a number that Triton must know while it compiles; None if it does not.

        A name that is set to a number holds a tensor.
        """
        match self.read.value(node):
            case TileValue(axes=(), kind=kinds.WEAK, item=Whole() as found):
                return found.constant
            case _:
                return None

    def type_in(self, node: ast.expr) -> str:
        """Read an expression that must be a type."""
        kind = self.read.value(node)
        if not isinstance(kind, TypeValue):
            raise Unread(node.lineno, f"'{ast.unparse(node)}' is not a type")
        return kind.name

    def axes_of(self, shape: Value) -> Axes:
        """Make the axes of a shape, which must be constants of the kernel."""
        parts = shape.parts if isinstance(shape, TupleValue) else (shape,)
        axes: list[str | None] = []
        for part in parts:
            is_size = isinstance(part, TileValue) and part.kind == kinds.WEAK and not part.axes
            if not isinstance(part, TileValue) or not isinstance(part.item, Whole) or not is_size:
                raise Unread(self.line, f"a shape in '{ast.unparse(self.node)}'")
            axes.append(axis_of(self.state, part.item))
        return tuple(axes)


def _is_none(state: KernelState, node: ast.expr) -> bool:
    """Return whether an argument is None, as it is written or by a name."""
    match node:
        case ast.Constant(value=None):
            return True
        case ast.Name(id=name):
            return isinstance(state.names.get(name), NoneValue)
        case _:
            return False
