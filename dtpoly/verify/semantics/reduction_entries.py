"""Make the table's entries of reductions and products of matrices.

An entry says to which type the values are brought first, and in which type each step is done.
"""

from __future__ import annotations

from dtpoly.verify.semantics.cast_entries import cast
from dtpoly.verify.semantics.row import NO, OperationRow, done, element
from dtpoly.verify.semantics.types import (
    EIGHTS,
    bits,
    is_float,
    is_signed,
    is_whole,
)


def summed(of: str) -> str:
    """Return the type in which `tl.sum` adds.

    Whole numbers have at least 32 bits there; floats keep their own type.
    """
    if is_float(of) or bits(of) >= 32:
        return of
    return "tl.int32" if is_signed(of) else "tl.uint32"


def widened(of: str) -> str:
    """Return the type in which `tl.max` and `tl.min` compare.

    It has at least 32 bits: narrower whole numbers become i32, with or without a sign, and narrower
    floats become f32.
    """
    if bits(of) >= 32:
        return of
    return "tl.float32" if is_float(of) else "tl.int32"


def reduction(name: str, of: str, to: str | None = None) -> OperationRow:
    """Return the entry of a reduction. Each step is rounded to the type that it is done in."""
    match name:
        case "sum" | "cumsum":
            return _added(summed(of))
        case "sum as":
            assert to is not None
            return NO if cast(of, to).is_refused else _added(to)
        case "reduce":
            return _added(of)
        case "max" | "min":
            within = widened(of)
            if is_float(within):
                return done(within, within, f"arith.{name}numf")
            return done(within, within, f"arith.{name}{'s' if is_signed(within) else 'u'}i")
        case "xor_sum":
            return done(of, of, "arith.xori") if is_whole(of) else NO
        case "argmax" | "argmin":
            return OperationRow("tl.int32", of, "arith.select i32")
        case _:
            # The value beside an index is not computed but chosen, so it keeps its
            # type.
            return OperationRow(of, of, "arith.select i32")


def _added(within: str) -> OperationRow:
    return done(within, within, "arith.addf" if is_float(within) else "arith.addi")


DOTS = ("tl.float16", "tl.bfloat16", "tl.float32", "tl.float64")


def dot(left: str, right: str, out: str | None = None) -> OperationRow:
    """Return the entry of a product of matrices; its type decides where its sums are rounded."""
    both_eight = left in EIGHTS and right in EIGHTS
    if not both_eight and (left != right or left not in (*DOTS, "tl.int8")):
        return NO
    if left == "tl.int8":
        return OperationRow("tl.int32", "tl.int32", "tt.dot i8 i32")
    if out == "tl.bfloat16":
        return NO
    if left in ("tl.float32", "tl.bfloat16"):
        result = "tl.float32"
    elif left == "tl.float64":
        result = "tl.float64"
    else:
        result = out or "tl.float32"
        if result in ("tl.float64", "tl.int32"):
            return NO
    types = dict.fromkeys((element(left), element(right), element(result)))
    return OperationRow(result, result, " ".join(("tt.dot", *types)))


def onto(left: str, acc: str) -> OperationRow:
    """Return the entry of a product added to a tile, which must have the product's type."""
    row = dot(left, left, acc if left not in ("tl.int8",) else None)
    return row if row.result == acc else NO
