"""Read expressions and statements of a kernel, for whoever needs their values while it runs.

`running` makes a `Reader` out of its own functions and hands it to loops, calls and descriptors.
So these can read arguments and run bodies, and need not import what imports them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    PointerValue,
    Radix,
    TextValue,
    TileValue,
    TypeValue,
    Unread,
    Value,
    as_term,
    is_truth,
)
from dtpoly.verify.algebra.residues import settled
from dtpoly.verify.algebra.whole import Truth, Whole, compare, number
from dtpoly.verify.triton.data_names import COUNTED, ROUNDED, DataReading
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.python_operators import exact, restored


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader of a kernel: the state of the run, and how parts of the text are read."""

    state: KernelState
    evaluate: Evaluate
    execute: Execute

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Run statements in order."""
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Run one statement."""
        self.state.line = node.lineno
        try:
            self.execute(self, node)
        except Unread as error:
            # Functions that build terms know no lines, so the line of the statement is added here.
            raise error if error.line else Unread(node.lineno, error.what) from error

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        return self.evaluate(self, node)

    def tile(self, node: ast.expr, *, stays: bool = False) -> TileValue:
        """Return the value of an expression that must be a tile of numbers.

        `stays` says that only its shape is changed, not its values.
        """
        value = self.value(node)
        if not isinstance(value, TileValue):
            raise Unread(node.lineno, f"'{ast.unparse(node)}' is not a number")
        if not stays:
            self.state.leaves(value, node.lineno)
        return value

    def whole(self, node: ast.expr) -> Whole:
        """Return the value of an expression that must be one whole number."""
        value = self.value(node)
        value = restored(value) if isinstance(value, TileValue) else value
        if isinstance(value, TileValue) and isinstance(value.item, Whole) and not value.axes:
            exact(self.state, value, node.lineno)
            self.state.leaves(value, node.lineno)
            return value.item
        if not self.state.is_valued and isinstance(value, TileValue) and _may_count(value):
            item = as_term(value.item, node.lineno)
            held = value.kind if value.kind in ROUNDED else "tl.int32"
            reading = DataReading(self.state, self.state.where, node.lineno)
            return reading.number(settled(held, item), held)
        what = f"'{ast.unparse(node)}' is not one whole number of indices and sizes"
        raise Unread(node.lineno, what)

    def constant(self, node: ast.expr) -> Value:
        """Return the value of an expression that must be a constant for Triton by itself."""
        found = self.value(node)
        is_number = isinstance(found, TileValue) and not found.axes and found.kind == kinds.WEAK
        if not is_number and not isinstance(found, TypeValue | TextValue):
            raise Unread(node.lineno, f"'{ast.unparse(node)}', which is no constant")
        return found

    def truth(self, node: ast.expr) -> Truth:
        """Return the value of a condition, which must be about sizes and indices alone."""
        return condition(self.state, self.value(node), node)


Evaluate = Callable[[Reader, ast.expr], Value]
Execute = Callable[[Reader, ast.stmt], None]


def _may_count(value: TileValue) -> bool:
    """Return whether a value may be data that is one whole number of a type of bounds."""
    is_address = isinstance(value.item, PointerValue | Radix)
    return not value.axes and value.kind in COUNTED and not is_address


def condition(state: KernelState, value: Value, node: ast.expr) -> Truth:
    """Return a value as a condition. Raises Unread if it is none."""
    if isinstance(value, TileValue) and not value.axes:
        item = value.item
        if isinstance(item, Whole):
            exact(state, value, node.lineno)
            state.leaves(value, node.lineno)
            return compare("!=", item, number(0))
        if is_truth(item):
            return item
        is_truth_of_data = value.kind in (kinds.BOOL, kinds.TRUTH)
        if not state.is_valued and (kinds.is_whole(value.kind) or is_truth_of_data):
            term = as_term(item, node.lineno)
            reading = DataReading(state, state.where, node.lineno)
            if is_truth_of_data:
                return reading.truth(term)
            held = value.kind if value.kind in kinds.LEAST else "tl.int32"
            return compare("!=", reading.number(settled(held, term), held), number(0))
    raise Unread(node.lineno, f"a branch on '{ast.unparse(node)}'")
