"""Finds in which types the values of a Program are computed and stored: known, or the caller's.

An input without a dtype takes any float. What is computed from it has the type `real`: f32, or f64
if some input is f64. What is stored has the promoted type of what it comes from.
"""

from collections.abc import Mapping
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
    children,
)
from dtpoly.algorithm.operations import OPERATION, ResultRule
from dtpoly.algorithm.program import Program, in_typing_order, typed_like
from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class ValueKind:
    """The promoted type of the inputs named in `callers`, all floats, and of a known dtype.

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
    def is_float(self) -> bool:
        """True for floats."""
        return self.category == 2


@dataclass(frozen=True, slots=True)
class Named:
    """A dtype that the runtime passes, by the name of the parameter."""

    name: str


Element = DType | Named
Kinds = Mapping[str, ValueKind]  # of inputs, Funcs and accumulators by name

REAL = Named("real")
STORED = "stored"  # ends the name of a parameter for a type as it is in memory
I64 = ValueKind(DType.I64)


def join(one: ValueKind, two: ValueKind) -> ValueKind:
    """Return the promoted kind of two operands. 8-bit floats meet no others: that was checked."""
    if one.weak != two.weak:
        strong, weak = (two, one) if one.weak else (one, two)
        return strong if weak.category <= strong.category else ValueKind(weak.dtype)
    callers = one.callers | two.callers
    known = [k.dtype for k in (one, two) if k.dtype is not None]
    if callers:
        known = [dtype for dtype in known if is_float(dtype)]
    dtype = known[0] if known else None
    for other in known[1:]:
        dtype = promote(dtype, other) if dtype else other
    return ValueKind(dtype, callers, one.weak)


def kind_of(expr: Expr, kinds: Kinds) -> ValueKind:
    """Return the kind of an expression."""
    match expr:
        case Integer() | Size() | ProgramId():
            return ValueKind(DType.I64, weak=True)
        case Index():
            return I64
        case Float():
            return ValueKind(DType.F32, weak=True)
        case ScalarRead(name=name) | Read(tensor=name):
            return kinds[name]
        case Cast(dtype=dtype):
            return ValueKind(dtype)
        case Reshape(operand=operand):
            return kind_of(operand, kinds)
        case Dot(left=left, right=right):
            return _summed(join(kind_of(left, kinds), kind_of(right, kinds)))
        case Reduce(operation=operation):
            first, *others = (kind_of(one, kinds) for one in children(expr))
            for other in others:
                first = join(first, other)
            return kind_of_reduction(operation, first)
        case Apply(operation=operation, operands=operands):
            return kind_of_operation(operation, [kind_of(e, kinds) for e in operands])
        case _:
            assert_never(expr)


def kind_of_reduction(operation: str, operand: ValueKind) -> ValueKind:
    """Return the kind of a reduction."""
    match operation:
        case "rany" | "rall":
            return ValueKind(DType.BOOL)
        case "rargmax" | "rargmin":
            return I64
        case "rsum" | "rprod" | "raffine":
            return _summed(operand)
        case _:
            return ValueKind(operand.dtype, operand.callers)


def _summed(kind: ValueKind) -> ValueKind:
    if kind.callers or kind.dtype is None:
        return ValueKind(kind.dtype, kind.callers)
    return ValueKind(summed(kind.dtype))


def kind_of_operation(operation: str, operands: list[ValueKind]) -> ValueKind:
    """Return the kind of an elementwise operation."""
    result = OPERATION[operation].result
    if result is ResultRule.BOOL:
        return ValueKind(DType.BOOL, weak=all(kind.weak for kind in operands))
    if result in (ResultRule.LONG, ResultRule.SINGLE):
        return ValueKind(DType(result))
    if result is ResultRule.PLACE:
        return I64
    if result is ResultRule.LISTED:
        return operands[0]
    total = joined(operands[1:] if result is ResultRule.CHOSEN else operands)
    if result is ResultRule.FLOAT and not total.is_float:
        return ValueKind(DType.F32, weak=total.weak)
    return total


def joined(kinds: list[ValueKind]) -> ValueKind:
    """Return the promoted kind of several operands."""
    total = kinds[0]
    for kind in kinds[1:]:
        total = join(total, kind)
    return total


def kinds_of(program: Program) -> dict[str, ValueKind]:
    """Return the kind of every input, and of every Func as stored."""
    kinds: dict[str, ValueKind] = {
        tensor.name: ValueKind(tensor.dtype)
        if tensor.dtype
        else ValueKind(None, frozenset({tensor.name}))
        for tensor in program.tensors
    }
    kinds |= {s.name: ValueKind(s.dtype or DType.F32, weak=True) for s in program.scalars}
    like = typed_like(program)
    for func in in_typing_order(program):
        body = like.get(func.name, func).body
        kind = kinds[func.into.tensor] if func.into else kind_of(body, kinds)
        weak = func.whole != "" and _reduces_weak(body, kinds)
        kinds[func.name] = (
            ValueKind(func.dtype) if func.dtype else ValueKind(kind.dtype, kind.callers, weak)
        )
    return kinds


def _reduces_weak(body: Expr, kinds: Mapping[str, ValueKind]) -> bool:
    """Return whether the parts of a reduction are those of a number that has no type of its own.

    What reads the parts then has the type that it has beside the number.
    """
    return isinstance(body, Reduce) and body.scan is None and kind_of(body.operand, kinds).weak


def widest(program: Program) -> Element:
    """Return the type of numbers: the widest that anything is computed in."""
    if any(tensor.dtype is None for tensor in program.tensors):
        return REAL
    kinds = kinds_of(program)
    names = [tensor.name for tensor in program.tensors] + [func.name for func in program.funcs]
    dtypes = {kinds[name].dtype for name in names}
    return DType.F64 if DType.F64 in dtypes else DType.F32


def computed(kind: ValueKind, numbers: Element) -> Element:
    """Return the type in which values of a kind are computed; `numbers` is that of weak floats."""
    if kind.dtype is DType.F64 and not kind.weak:
        return DType.F64
    if kind.weak and kind.is_float:
        return numbers
    if kind.callers:
        return REAL
    if kind.dtype is None or is_float(kind.dtype):
        return DType.F32
    return kind.dtype


def in_memory(kind: ValueKind) -> Element:
    """Return the type in which values of a kind are stored; named by its inputs if those decide."""
    if kind.callers:
        return Named(f"promoted {' '.join(_members(kind))}")
    return kind.dtype or DType.F32


def stored_parameter(kind: ValueKind) -> str:
    """Return the name of the parameter for the type in which values are stored: `A_B_stored`."""
    return "_".join((*_members(kind), STORED))


def operand_parameter(kind: ValueKind) -> str:
    """Return the name of the parameter for the type in which they are multiplied: `A_B_dtype`."""
    return "_".join((*_members(kind), "dtype"))


def _members(kind: ValueKind) -> list[str]:
    return sorted(kind.callers) + ([str(kind.dtype)] if kind.dtype else [])
