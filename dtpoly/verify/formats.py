"""An expression of the algorithm in; the type of its values, as the language says, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from dtpoly.algorithm.dtypes import DType, category, is_float, promote, summed
from dtpoly.algorithm.expressions import (
    Apply,
    Cast,
    Dot,
    Expr,
    Float,
    Index,
    Integer,
    ProgramId,
    Read,
    Reduce,
    Reshape,
    ScalarRead,
    Size,
)
from dtpoly.algorithm.operations import OPERATION, Result
from dtpoly.algorithm.program import Program, in_order
from dtpoly.verify import kinds

TYPES = {
    DType.BOOL: "tl.int1",
    DType.U8: "tl.uint8",
    DType.I8: "tl.int8",
    DType.I16: "tl.int16",
    DType.I32: "tl.int32",
    DType.I64: "tl.int64",
    DType.F8E4M3: "tl.float8e4nv",
    DType.F8E5M2: "tl.float8e5",
    DType.F16: "tl.float16",
    DType.BF16: "tl.bfloat16",
    DType.F32: "tl.float32",
    DType.F64: "tl.float64",
}


@dataclass(frozen=True, slots=True)
class Format:
    """The promoted type of the callers' inputs, all floats, and of a known type.

    Weak is the type of a number: beside a tensor only its category counts.
    """

    dtype: DType | None
    callers: frozenset[str] = frozenset()
    weak: bool = False

    @property
    def category(self) -> int:
        """0 for bool, 1 for whole numbers, 2 for floats."""
        return 2 if self.callers or self.dtype is None else category(self.dtype)

    @property
    def kind(self) -> str:
        """Its name (see kinds)."""
        if self.weak:
            return kinds.BOOL if self.category == 0 else kinds.WEAK
        if not self.callers:
            return TYPES[self.dtype or DType.F32]
        own = () if self.dtype is None else (TYPES[self.dtype],)
        return kinds.stored(self.callers.union(own))


Formats = Mapping[str, Format]


def formats_of(program: Program) -> dict[str, Format]:
    """The type of every input, and of every Func as it is stored."""
    formats = {
        tensor.name: Format(tensor.dtype)
        if tensor.dtype
        else Format(None, frozenset({tensor.name}))
        for tensor in program.tensors
    }
    formats |= {s.name: Format(s.dtype or DType.F32, weak=True) for s in program.scalars}
    for func in in_order(program):
        found = format_of(func.body, formats)
        own = Format(found.dtype, found.callers)
        formats[func.name] = Format(func.dtype) if func.dtype else own
    return formats


def format_of(expr: Expr, formats: Formats) -> Format:
    """The type of an expression."""
    match expr:
        case Integer() | Size() | ProgramId():
            return Format(DType.I64, weak=True)
        case Index():
            return Format(DType.I64)
        case Float():
            return Format(DType.F32, weak=True)
        case ScalarRead(name=one) | Read(tensor=one):
            return formats[one]
        case Cast(dtype=dtype):
            return Format(dtype)
        case Reshape(operand=operand):
            return format_of(operand, formats)
        case Dot(left=left, right=right):
            return _summed(_met(format_of(left, formats), format_of(right, formats)))
        case Reduce(operation=operation, operand=operand):
            return _of_reduction(operation, format_of(operand, formats))
        case Apply(operation=operation, operands=operands):
            return _of_operation(operation, [format_of(one, formats) for one in operands])
        case _:
            assert_never(expr)


def _met(one: Format, two: Format) -> Format:
    if one.weak != two.weak:
        strong, weak = (two, one) if one.weak else (one, two)
        return strong if weak.category <= strong.category else Format(weak.dtype)
    callers = one.callers | two.callers
    known = [f.dtype for f in (one, two) if f.dtype is not None]
    if callers:
        known = [dtype for dtype in known if is_float(dtype)]
    total = known[0] if known else None
    for other in known[1:]:
        total = promote(total, other) if total else other
    return Format(total, callers, one.weak)


def joined(formats: Sequence[Format]) -> Format:
    """The type of several values together."""
    total = formats[0]
    for one in formats[1:]:
        total = _met(total, one)
    return total


def _summed(of: Format) -> Format:
    if of.callers or of.dtype is None:
        return Format(of.dtype, of.callers)
    return Format(summed(of.dtype))


def _of_reduction(operation: str, operand: Format) -> Format:
    match operation:
        case "rany" | "rall":
            return Format(DType.BOOL)
        case "rargmax" | "rargmin":
            return Format(DType.I64)
        case "rsum" | "rprod":
            return _summed(operand)
        case _:
            return Format(operand.dtype, operand.callers)


def _of_operation(operation: str, operands: Sequence[Format]) -> Format:
    result = OPERATION[operation].result
    if result is Result.BOOL:
        return Format(DType.BOOL, weak=all(one.weak for one in operands))
    total = joined(operands[1:] if result is Result.CHOSEN else operands)
    if result is Result.FLOAT and total.category < 2:
        return Format(DType.F32, weak=total.weak)
    return total
