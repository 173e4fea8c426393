"""Model `tl.dot`: a product of matrices, added to an accumulator if one is given."""

from __future__ import annotations

from dataclasses import replace

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.casts import brought
from dtpoly.verify.algebra.kernel_values import (
    Item,
    NoneValue,
    TextValue,
    TileValue,
    TypeValue,
    Unread,
    Value,
    as_term,
    scalar,
)
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.residues import leaving
from dtpoly.verify.algebra.term_building import rounded
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
)
from dtpoly.verify.algebra.whole import FALSE, TRUE, Whole, both, compare, number
from dtpoly.verify.triton.broadcast_tiles import aligned
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.operands import Operands
from dtpoly.verify.triton.product_axes import shape_of
from dtpoly.verify.triton.python_operators import in_kind, joined
from dtpoly.verify.triton.reducing import reduced
from dtpoly.verify.triton.typed_operations import meaning, of_tile

PRECISIONS = ("tf32", "tf32x3", "ieee")
# The least number of products that a dot adds up, in each version of Triton. For operands of 8 bits
# it is twice as many.
LEAST_SUM = 16


def dot(given: Operands) -> TileValue:
    """Model `tl.dot`."""
    state, line = given.state, given.line
    left, right = given.tile(0), given.tile(1)
    if len(left.axes) != len(right.axes) or len(left.axes) not in (2, 3):
        raise Unread(line, "a dot of tiles that are not matrices")
    precision = _precision(given)
    if left.kind != right.kind:
        raise Unread(line, "a dot of tiles of two types")
    kind = left.kind
    least = LEAST_SUM * (2 if kinds.may_be_eight(kind) else 1)
    if not _is_at_least(state, shape_of(state, left.axes)[-1], least):
        state.doubt(line, f"a dot of fewer than {least} columns, which Triton does not compile")
    first, second = (_operand(tile, kind, precision, line) for tile in (left, right))
    *batch, m, k = left.axes
    *other_batch, k_too, n = right.axes
    # The right matrix is read as [..., 1, n, k]. Its axes are only names, so this costs nothing.
    axes, (a, b) = aligned(
        state,
        (TileValue((*batch, m, None, k), first), TileValue((*other_batch, None, n, k_too), second)),
        line,
        is_made=False,
    )
    start = given.value_of("acc")
    onto_tile = NoneValue() if start is None else start
    out = _product_kind(given, kind, onto_tile)
    a, b = leaving(a, kind, out, "mul"), leaving(b, kind, out, "mul")
    product = TileValue(axes, joined(state, "mul", a, b, line), out)
    total = reduced(state, product, len(axes) - 1, "add", line)
    if not kinds.holds(out, kind):
        total = replace(total, item=rounded(out, as_term(total.item, line)))
    if not isinstance(onto_tile, TileValue):
        return total
    tile = onto_tile
    result, (old, new) = aligned(state, (tile, total), line)
    if shape_of(state, tile.axes) != shape_of(state, total.axes):
        state.doubt(line, "a dot onto a tile of another shape")
    onto = brought(as_term(old, line), tile.kind, out)
    return TileValue(
        result, in_kind(AppliedOperation("add", (onto, as_term(new, line))), out, "add", line), out
    )


def _precision(given: Operands) -> Value | None:
    """Return the precision of a product of f32; `allow_tf32` is an older way to say it."""
    precision, allowed = given.value_of("input_precision"), given.value_of("allow_tf32")
    if allowed is None:
        return precision
    if precision is not None or allowed not in (scalar(TRUE), scalar(FALSE)):
        raise given.refused()
    return TextValue("tf32" if allowed == scalar(TRUE) else "ieee")


def _is_at_least(state: KernelState, count: Whole, least: int) -> bool:
    """Return whether a number of lanes is at least `least`, in each call.

    A product of numbers of lanes is at least as large as each of its factors.
    """
    if count.constant is not None:
        return count.constant >= least
    match count.terms:
        case ((monomial, times),) if times > 0:
            factors = [Whole((((atom,), times),)) for atom in monomial]
        case _:
            factors = [count]
    enough = (compare(">=", one, number(least)) for one in factors)
    known = [one for one in enough if is_affine(both(state.facts, one))]
    return any(state.run.holds(one, set_of(state.facts)) for one in known)


def _product_kind(given: Operands, kind: str, onto: Value) -> str:
    """Return the type of a product of matrices; if it is added to a tile, that decides the type."""
    state, line = given.state, given.line
    out = meaning("dot", (kind, kind), line).kind
    wanted = given.value_of("out_dtype")
    if wanted is not None:
        if not isinstance(wanted, TypeValue):
            raise Unread(line, "a dot into what is not a type")
        out = meaning("dot as", (kind, wanted.name), line).kind
        if isinstance(onto, TileValue) and wanted.name != onto.kind:
            what = f"a dot into {wanted.name} that is added to {onto.kind}"
            raise Unread(line, f"{what}: Triton refuses it")
    if isinstance(onto, NoneValue):
        return out
    if not isinstance(onto, TileValue):
        raise Unread(line, "a dot onto what is not a tile")
    state.leaves(onto, line)
    return meaning("dot onto", (kind, of_tile(onto)), line).kind


def _operand(tile: TileValue, kind: str, precision: Value | None, line: int) -> Item:
    """Return an operand of a product, rounded as Triton does it.

    Unless it is told otherwise, Triton multiplies f32 as tf32, with only 10 bits of the fraction.
    """
    term = brought(as_term(tile.item, line), tile.kind, kind)
    words = precision.text if isinstance(precision, TextValue) else "" if precision else "tf32"
    if words not in PRECISIONS:
        raise Unread(line, "a dot in a precision that is not known")
    if words == "ieee" or kind in ("tl.float16", "tl.bfloat16", "tl.float64"):
        return term
    return rounded(words, term)
