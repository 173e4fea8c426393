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
)
from dtpoly.algorithm.operations import OPERATION, Result
from dtpoly.algorithm.program import Program, in_order
from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
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
    """A dtype that the wrapper passes, by the name of the parameter."""

    name: str


Element = DType | Named
Kinds = Mapping[str, Kind]  # of inputs, Funcs and accumulators by name

REAL = Named("real")
STORED = "stored"  # ends the name of a parameter for a type as it is in memory
I64 = Kind(DType.I64)


def join(one: Kind, two: Kind) -> Kind:
    """The promoted kind of two operands. 8-bit floats meet no others: that was checked."""
    if one.weak != two.weak:
        strong, weak = (two, one) if one.weak else (one, two)
        return strong if weak.category <= strong.category else Kind(weak.dtype)
    callers = one.callers | two.callers
    known = [k.dtype for k in (one, two) if k.dtype is not None]
    if callers:
        known = [dtype for dtype in known if is_float(dtype)]
    dtype = known[0] if known else None
    for other in known[1:]:
        dtype = promote(dtype, other) if dtype else other
    return Kind(dtype, callers, one.weak)


def kind_of(expr: Expr, kinds: Kinds) -> Kind:
    """The kind of an expression."""
    match expr:
        case Integer() | Size() | ProgramId():
            return Kind(DType.I64, weak=True)
        case Index():
            return I64
        case Float():
            return Kind(DType.F32, weak=True)
        case ScalarRead(name=name) | Read(tensor=name):
            return kinds[name]
        case Cast(dtype=dtype):
            return Kind(dtype)
        case Reshape(operand=operand):
            return kind_of(operand, kinds)
        case Dot(left=left, right=right):
            return _summed(join(kind_of(left, kinds), kind_of(right, kinds)))
        case Reduce(operation=operation, operand=operand):
            return kind_of_reduction(operation, kind_of(operand, kinds))
        case Apply(operation=operation, operands=operands):
            return kind_of_operation(operation, [kind_of(e, kinds) for e in operands])
        case _:
            assert_never(expr)


def kind_of_reduction(operation: str, operand: Kind) -> Kind:
    """The kind of a reduction."""
    match operation:
        case "rany" | "rall":
            return Kind(DType.BOOL)
        case "rargmax" | "rargmin":
            return I64
        case "rsum" | "rprod":
            return _summed(operand)
        case _:
            return Kind(operand.dtype, operand.callers)


def _summed(kind: Kind) -> Kind:
    if kind.callers or kind.dtype is None:
        return Kind(kind.dtype, kind.callers)
    return Kind(summed(kind.dtype))


def kind_of_operation(operation: str, operands: list[Kind]) -> Kind:
    """The kind of an elementwise operation."""
    result = OPERATION[operation].result
    if result is Result.BOOL:
        return Kind(DType.BOOL, weak=all(kind.weak for kind in operands))
    total = joined(operands[1:] if result is Result.CHOSEN else operands)
    if result is Result.FLOAT and not total.is_float:
        return Kind(DType.F32, weak=total.weak)
    return total


def joined(kinds: list[Kind]) -> Kind:
    """The promoted kind of several operands."""
    total = kinds[0]
    for kind in kinds[1:]:
        total = join(total, kind)
    return total


def kinds_of(program: Program) -> dict[str, Kind]:
    """The kind of every input, and of every Func as stored."""
    kinds: dict[str, Kind] = {
        tensor.name: Kind(tensor.dtype) if tensor.dtype else Kind(None, frozenset({tensor.name}))
        for tensor in program.tensors
    }
    kinds |= {s.name: Kind(s.dtype or DType.F32, weak=True) for s in program.scalars}
    for func in in_order(program):
        kind = kind_of(func.body, kinds)
        kinds[func.name] = Kind(func.dtype) if func.dtype else Kind(kind.dtype, kind.callers)
    return kinds


def widest(program: Program) -> Element:
    """The type of numbers: the widest that anything is computed in."""
    if any(tensor.dtype is None for tensor in program.tensors):
        return REAL
    kinds = kinds_of(program)
    names = [tensor.name for tensor in program.tensors] + [func.name for func in program.funcs]
    dtypes = {kinds[name].dtype for name in names}
    return DType.F64 if DType.F64 in dtypes else DType.F32


def computed(kind: Kind, numbers: Element) -> Element:
    """The type in which values of a kind are computed; `numbers` is that of weak floats."""
    if kind.dtype is DType.F64 and not kind.weak:
        return DType.F64
    if kind.weak and kind.is_float:
        return numbers
    if kind.callers:
        return REAL
    if kind.dtype is None or is_float(kind.dtype):
        return DType.F32
    return kind.dtype


def in_memory(kind: Kind) -> Element:
    """The type in which values of a kind are stored; named by its inputs if those decide."""
    if kind.callers:
        return Named(f"promoted {' '.join(_members(kind))}")
    return kind.dtype or DType.F32


def stored_parameter(kind: Kind) -> str:
    """The name of the parameter for the type in which values are stored: `A_B_stored`."""
    return "_".join((*_members(kind), STORED))


def operand_parameter(kind: Kind) -> str:
    """The name of the parameter for the type in which they are multiplied: `A_B_dtype`."""
    return "_".join((*_members(kind), "dtype"))


def _members(kind: Kind) -> list[str]:
    return sorted(kind.callers) + ([str(kind.dtype)] if kind.dtype else [])
