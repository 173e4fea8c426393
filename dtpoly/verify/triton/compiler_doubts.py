"""Doubts: kernels that Triton's compiler refuses or changes, though its interpreter runs them.

In a compiled kernel, a name that a loop sets must have the same type in each iteration. After a
branch a name must have the same type whichever side was taken, unless the compiler knows which side
that is. A kernel that breaks such a rule gets a doubt: nothing is proved of it, but it is read on,
since it may be wrong in other ways, too.

Triton (3.6 to 3.9) moves a reduction of loaded values out of its loop, behind it. It takes it for
granted that the loop combines the results by the same operation. A kernel for which that is not so
gets a doubt, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import FileFunction, TextValue, TileValue, Unread, Value
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Carried,
    Choose,
    Element,
    Literal,
    Stored,
    Term,
    Total,
)
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.product_axes import shape_of
from dtpoly.verify.triton.typed_operations import UNKNOWN, of_tile

# Operations that a compiler may fold away: they leave a value as it is beside some number, such as
# 1, or if they are done twice.
FOLDED = ("mul", "div", "sub", "maximum", "minimum", "neg", "round", "may")
# Kinds of values that are no tensors yet, and the types that they have in a compiled kernel.
BECOMES = {kinds.NUMBER: "tl.float32", kinds.TRUTH: kinds.BOOL, kinds.SIZE: "tl.int32"}


def check_named(target: ast.Name, value: Value) -> None:
    """Raise Unread if a name is set to a value of which Triton can make no tensor."""
    is_wide = isinstance(value, TileValue) and of_tile(value) == UNKNOWN
    if is_wide or isinstance(value, TextValue | FileFunction):
        raise Unread(target.lineno, f"'{target.id}' is set to what Triton makes no tensor of")


def check_carried(
    state: KernelState,
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    names: Iterable[str],
    line: int,
) -> None:
    """Note a doubt for each name that has another type after an iteration than before the loop.

    A size that a kernel is given must not be set in a loop at all: where it is 1, Triton makes a
    constant of it.
    """
    for one in names:
        first, second = before[one], after[one]
        if first == state.launch.arguments.get(one) and _may_be_one(first):
            what = f"'{one}', of which Triton makes a constant where it is 1, is set in a loop"
            state.doubt(line, what)
        if not _are_alike(state, first, second):
            state.doubt(line, f"'{one}' has another type after an iteration than before")


def check_combined(
    state: KernelState, after: Mapping[str, Value], names: Iterable[str], loop: str, line: int
) -> None:
    """Note a doubt if a loop combines reductions of loaded values by another operation.

    For example, a loop that adds up the maxima of loaded rows: Triton takes both operations for
    one and the same.
    """
    for one in names:
        value = after[one]
        if not isinstance(value, TileValue) or not isinstance(value.item, AppliedOperation):
            continue
        outer, operands = value.item.operation, value.item.operands
        if not any(isinstance(part, Carried) and part.loop == loop for part in operands):
            continue
        for part in operands:
            inner = _reduced_by(state, part)
            if inner not in ("", outer):
                what = f"'{inner}' of what was loaded, put to '{one}' by '{outer}' in a loop"
                why = "Triton takes both for one operation: add 0.0 to what was loaded"
                state.doubt(line, f"{what}: {why}")


def note_reduced(state: KernelState, operation: str, body: Term, lanes: Iterable[str]) -> None:
    """Remember by which operation lanes were reduced, if Triton may see that they were loaded."""
    if _is_loaded(body):
        state.reduced |= dict.fromkeys(lanes, operation)


def _reduced_by(state: KernelState, term: Term) -> str:
    """Return the operation by which loaded lanes were reduced to this term; empty for others."""
    match term:
        case AppliedOperation(operation=operation, operands=(inner,)) if operation.startswith(
            "round "
        ):
            return _reduced_by(state, inner)
        case Total(bound=bound):
            return next((state.reduced[one] for one in bound if one in state.reduced), "")
        case _:
            return ""


def _is_loaded(term: Term) -> bool:
    """Return whether a term is a loaded value, or one that a compiler may reduce to a loaded value.

    Some lanes may hold written numbers instead. A sum with 0 does not count: it makes 0 of -0, so
    the compiler must compute it.
    """
    match term:
        case Element() | Stored():
            return True
        case Choose(yes=yes, no=no) | AppliedOperation(operation="where", operands=(_, yes, no)):
            rest = [one for one in (yes, no) if not isinstance(one, Literal)]
            return bool(rest) and all(map(_is_loaded, rest))
        case AppliedOperation(operation=operation, operands=operands):
            rest = [one for one in operands if not isinstance(one, Literal)]
            is_kept = operation.partition(" ")[0] in FOLDED
            return is_kept and len(rest) == 1 and _is_loaded(rest[0])
        case _:
            return False


def check_sides(
    state: KernelState, yes: Mapping[str, Value], no: Mapping[str, Value], line: int
) -> None:
    """Note a doubt for each name that has another type after one side of a branch than else."""
    for one in yes.keys() & no.keys():
        if not _are_alike(state, yes[one], no[one]):
            state.doubt(line, f"'{one}' has another type in one side of a branch than else")


def _are_alike(state: KernelState, first: Value, second: Value) -> bool:
    """Return whether two values have one type and one shape, as far as that is known."""
    if not isinstance(first, TileValue) or not isinstance(second, TileValue):
        return True  # values other than tiles cannot be read after that
    types = {BECOMES.get(one.kind, one.kind) for one in (first, second)}
    is_known = kinds.LOST not in types
    shapes = {shape_of(state, one.axes) for one in (first, second)}
    return len(shapes) == 1 and (len(types) == 1 or not is_known)


def _may_be_one(value: Value) -> bool:
    """Return whether a value is a size that a kernel is given."""
    return isinstance(value, TileValue) and value.kind == kinds.SIZE
