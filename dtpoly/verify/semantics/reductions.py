"""Entries of what puts lanes together: to which type values come first, and that of each step."""

from __future__ import annotations

from dtpoly.verify.semantics.casts import cast
from dtpoly.verify.semantics.row import NO, Row, done, element
from dtpoly.verify.semantics.types import (
    EIGHTS,
    bits,
    is_float,
    is_signed,
    is_whole,
)


def summed(of: str) -> str:
    """The type in which `tl.sum` adds: whole numbers have 32 bits at least, floats their own."""
    if is_float(of) or bits(of) >= 32:
        return of
    return "tl.int32" if is_signed(of) else "tl.uint32"


def widened(of: str) -> str:
    """The type in which `tl.max` and `tl.min` compare: of 32 bits at least, i32 of whole ones."""
    if bits(of) >= 32:
        return of
    return "tl.float32" if is_float(of) else "tl.int32"


def reduction(name: str, of: str, to: str | None = None) -> Row:
    """The entry of a reduction. Each step is rounded to the type that it is done in."""
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
            return Row("tl.int32", of, "arith.select i32")
        case _:
            # The value beside an index is chosen, not computed: it keeps its type.
            return Row(of, of, "arith.select i32")


def _added(within: str) -> Row:
    return done(within, within, "arith.addf" if is_float(within) else "arith.addi")


DOTS = ("tl.float16", "tl.bfloat16", "tl.float32", "tl.float64")


def dot(left: str, right: str, out: str | None = None) -> Row:
    """The entry of a product of matrices, whose type decides where its sums are rounded."""
    both_eight = left in EIGHTS and right in EIGHTS
    if not both_eight and (left != right or left not in (*DOTS, "tl.int8")):
        return NO
    if left == "tl.int8":
        return Row("tl.int32", "tl.int32", "tt.dot i8 i32")
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
    return Row(result, result, " ".join(("tt.dot", *types)))


def onto(left: str, acc: str) -> Row:
    """A product that is added to a tile: that has the type of the result, or it is refused."""
    row = dot(left, left, acc if left not in ("tl.int8",) else None)
    return row if row.result == acc else NO
