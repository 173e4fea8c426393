"""Compare the symbolic values of a kernel: numbers give formulas, and data gives terms."""

from __future__ import annotations

import ast
import operator
from fractions import Fraction

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.casts import SINGLE
from dtpoly.verify.algebra.kernel_values import (
    Item,
    NoneValue,
    PointerValue,
    TextValue,
    TileValue,
    TypeValue,
    Unread,
    Value,
    as_term,
    is_truth,
    scalar,
)
from dtpoly.verify.algebra.numerals import finite
from dtpoly.verify.algebra.residues import leaving
from dtpoly.verify.algebra.term_building import applied, is_index, rounded
from dtpoly.verify.algebra.terms import AppliedOperation, Literal, Term
from dtpoly.verify.algebra.whole import (
    FALSE,
    TRUE,
    Truth,
    Whole,
    compare,
    names_of,
    negation,
)
from dtpoly.verify.triton.broadcast_tiles import aligned
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.python_operators import (
    counted,
    exact,
    formula,
    in_type,
    is_exact,
    not_in_eight,
)
from dtpoly.verify.triton.typed_operations import meaning, of_operand
from dtpoly.verify.triton.unit.words import TYPES

SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
COMPARED = {
    **{"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
    **{"==": operator.eq, "!=": operator.ne},
}
# f32 holds all whole numbers below this exactly.
MOST_EXACT = 2**SINGLE


def compared(state: KernelState, op: ast.cmpop, left: Value, right: Value, node: ast.expr) -> Value:
    """Return `left op right` as a condition, or as a term if it depends on data."""
    if isinstance(left, TypeValue) and isinstance(right, TypeValue):
        return _same_type(op, left, right, node)
    if isinstance(op, ast.Eq | ast.NotEq) and _are_words(left, right):
        # Both are constants of Python, which compares them while Triton compiles.
        return scalar(TRUE if (left == right) == isinstance(op, ast.Eq) else FALSE)
    word = SIGNS.get(type(op))
    if not isinstance(left, TileValue) or not isinstance(right, TileValue) or word is None:
        raise Unread(node.lineno, f"'{ast.unparse(node)}'")
    state.leaves(left, node.lineno)
    state.leaves(right, node.lineno)
    axes, (a, b) = aligned(state, (left, right), node.lineno)
    if isinstance(a, PointerValue) or isinstance(b, PointerValue):
        raise Unread(node.lineno, "a comparison of addresses")
    found = meaning(COMPARISONS[word], [of_operand(left, a), of_operand(right, b)], node.lineno)
    not_in_eight(found.within, node.lineno)
    a, b = (
        settled_in(item, tile.kind, found.within, node.lineno)
        for item, tile in ((a, left), (b, right))
    )
    if found.within == kinds.WEAK:
        a, b = counted(a), counted(b)
        if (known := _known(word, a, b)) is not None:
            return TileValue(axes, known, found.kind)
    if kinds.is_float(found.within) and found.within != "tl.float64":
        a, b = _in_floats(left, a, b, node.lineno), _in_floats(right, b, a, node.lineno)
    if isinstance(a, Whole) and isinstance(b, Whole):
        if is_exact(left) and is_exact(right):
            exact(state, left, node.lineno)
            exact(state, right, node.lineno)
        else:
            a, b = as_term(a, node.lineno), as_term(b, node.lineno)
    made = comparison(word, a, b, node.lineno)
    are_whole = kinds.is_whole(found.within) or all(map(_is_whole, (left, right)))
    if not state.is_valued and not is_truth(made) and not are_whole:
        # What floats are is never looked at, so their order is not that of whole numbers.
        made = AppliedOperation(f"{word} of floats", (as_term(made, node.lineno),))
    return TileValue(axes, made, found.kind)


def _is_whole(tile: TileValue) -> bool:
    """Return whether a value is a whole number with a sign, of 32 bits or 64, or a constant."""
    is_written = tile.kind == kinds.WEAK and isinstance(tile.item, Whole)
    return tile.kind in ("tl.int32", "tl.int64", kinds.SIZE, kinds.OFFSET) or is_written


def _known(word: str, left: Item, right: Item) -> Truth | None:
    """Compare two numbers as they are written, of which one is a float; None for others."""
    written = [finite(one.text) for one in (left, right) if isinstance(one, Literal)]
    wholes = [one.constant for one in (left, right) if isinstance(one, Whole)]
    if not written or None in (*written, *wholes) or len(written) + len(wholes) < 2:
        return None
    a, b = (
        finite(one.text) if isinstance(one, Literal) else Fraction(one.constant or 0)
        for one in (left, right)
        if isinstance(one, Literal | Whole)
    )
    assert a is not None
    assert b is not None
    return TRUE if COMPARED[word](a, b) else FALSE


def _are_words(left: Value, right: Value) -> bool:
    """Return whether one of two values is a text, and the other is one, too, or None."""
    return isinstance(left, TextValue | NoneValue) and isinstance(right, TextValue | NoneValue)


def _same_type(op: ast.cmpop, left: TypeValue, right: TypeValue, node: ast.expr) -> TileValue:
    """Return whether two types are the same, if both are known; Triton knows it while compiling."""
    known = {f"tl.{one}" for one in TYPES}
    if not isinstance(op, ast.Eq | ast.NotEq) or not {left.name, right.name} <= known:
        raise Unread(node.lineno, "a comparison of types that are not known")
    return scalar(TRUE if (left.name == right.name) == isinstance(op, ast.Eq) else FALSE)


def _in_floats(tile: TileValue, item: Item, other: Item, line: int) -> Item:
    """Round an index or a size to f32 if f32 compares it; that may change it.

    A whole number that is rounded once keeps its order to a number that has few digits, so it can
    stay as it is.
    """
    if not isinstance(item, Whole | Term) or not isinstance(other, Whole | Term):
        return item
    own, beside = as_term(item, line), as_term(other, line)
    if isinstance(own, Literal) or not (is_index(own) and is_index(beside)):
        return item
    limit = finite(beside.text) if isinstance(beside, Literal) else None
    is_far = isinstance(beside, Literal) and "inf" in beside.text
    is_near = limit is not None and abs(limit) < MOST_EXACT
    is_once = isinstance(item, Whole) and not kinds.is_float(tile.kind)
    return item if is_far or (is_near and is_once) else rounded("tl.float32", own)


def settled_in(item: Item, kind: str, within: str, line: int) -> Item:
    """Return an operand of a comparison as one number, in the type in which the operands meet."""
    if is_truth(item) or within == kinds.LOST:
        return leaving(item, kind, kinds.BOOL, "")
    return in_type(leaving(item, kind, kinds.BOOL, ""), kind, within, "", line)


def comparison(word: str, left: Item, right: Item, line: int) -> Item:
    """Compare two values at one lane."""
    if is_truth(left) and isinstance(right, Whole) and right.constant in (0, 1):
        right = TRUE if right.constant else FALSE
    if isinstance(left, Whole) and isinstance(right, Whole):
        if any(".stride(" in one for one in (*names_of(left), *names_of(right))):
            raise Unread(line, "a comparison of what strides are in, which may not fit its type")
        return compare(word, left, right)
    if is_truth(left) and is_truth(right) and word in ("==", "!="):
        apart = formula("xor", left, right)
        return apart if word == "!=" else negation(apart)
    return applied(COMPARISONS[word], (as_term(left, line), as_term(right, line)))
