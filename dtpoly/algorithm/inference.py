"""Infers the dtype of every expression by torch's promotion, as far as the text decides it."""

from collections.abc import Iterator, Mapping
from typing import assert_never

from dtpoly.algorithm.dtypes import (
    EIGHT_BIT_FLOATS,
    DType,
    category,
    is_float,
    promote,
    summed,
)
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
from dtpoly.algorithm.operations import OPERATION, REDUCTION, Result
from dtpoly.algorithm.program import Func, Program, in_order
from dtpoly.algorithm.show import show_expr
from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Type:
    """A dtype, or None where the caller decides it.

    The type of a number is weak: beside a tensor only its category (bool, whole, float) counts.
    """

    dtype: DType | None
    weak: bool = False


UNKNOWN = Type(None)
LARGEST = {
    DType.U8: 2**8 - 1,
    DType.I8: 2**7 - 1,
    DType.I16: 2**15 - 1,
    DType.I32: 2**31 - 1,
    DType.I64: 2**63 - 1,
}
Types = Mapping[str, Type]  # of inputs and Funcs by name


def combine(left: Type, right: Type) -> Type | None:
    """Return the promoted type of two operands, or None if they cannot be promoted."""
    if left.weak != right.weak:
        strong, weak = (right, left) if left.weak else (left, right)
        return _with_number(strong, weak)
    if left.dtype is None or right.dtype is None:
        return Type(None, left.weak)
    promoted = promote(left.dtype, right.dtype)
    return None if promoted is None else Type(promoted, left.weak)


def _with_number(strong: Type, weak: Type) -> Type:
    if strong.dtype is None:
        return UNKNOWN
    if weak.dtype is None:
        # A number whose category is unknown never changes a float.
        return strong if is_float(strong.dtype) else UNKNOWN
    return strong if category(weak.dtype) <= category(strong.dtype) else Type(weak.dtype)


def as_float(operand: Type) -> Type:
    """Return the type of a function that is only defined on floats."""
    if operand.dtype is None or is_float(operand.dtype):
        return operand
    return Type(DType.F32, operand.weak)


def type_of(expr: Expr, types: Types) -> Type:
    """Return the type of an expression, or UNKNOWN if it cannot be promoted."""
    match expr:
        case Integer() | Size() | ProgramId():
            return Type(DType.I64, weak=True)
        case Index():
            return Type(DType.I64)  # a whole tensor of indices
        case Float():
            return Type(DType.F32, weak=True)
        case ScalarRead(name=name):
            return types[name]
        case Read(tensor=tensor):
            return types.get(tensor, UNKNOWN)  # a Func with an error has no type
        case Cast(dtype=dtype):
            return Type(dtype)
        case Reshape(operand=operand):
            return type_of(operand, types)
        case Dot(left=left, right=right):
            both = combine(type_of(left, types), type_of(right, types)) or UNKNOWN
            return Type(summed(both.dtype) if both.dtype else None)
        case Reduce(operation=operation, operand=operand):
            return _type_of_reduction(operation, type_of(operand, types))
        case Apply(operation=operation, operands=operands):
            return type_of_operation(operation, [type_of(e, types) for e in operands])
        case _:
            assert_never(expr)


def _type_of_reduction(operation: str, operand: Type) -> Type:
    match operation:
        case "rany" | "rall":
            return Type(DType.BOOL)
        case "rargmax" | "rargmin":
            return Type(DType.I64)
        case "rsum" | "rprod":
            return Type(summed(operand.dtype) if operand.dtype else None)
        case _:
            return Type(operand.dtype)


def type_of_operation(operation: str, operands: list[Type]) -> Type:
    """Return the type of an elementwise operation on operands of these types."""
    result = OPERATION[operation].result
    if result is Result.BOOL:
        return Type(DType.BOOL, weak=all(t.weak for t in operands))
    counted = operands[1:] if result is Result.CHOSEN else operands
    total = counted[0]
    for operand in counted[1:]:
        total = combine(total, operand) or UNKNOWN
    return as_float(total) if result is Result.FLOAT else total


def types_of(program: Program) -> dict[str, Type]:
    """Return the type of every input and of every Func as it is stored."""
    types: dict[str, Type] = {t.name: Type(t.dtype) for t in program.tensors}
    types |= {s.name: Type(s.dtype, weak=True) for s in program.scalars}
    for func in in_order(program):
        types[func.name] = Type(func.dtype) if func.dtype else _stored(func, types)
    return types


def _stored(func: Func, types: Types) -> Type:
    return Type(type_of(func.body, types).dtype)


def check_types(program: Program) -> list[Diagnostic]:
    """Report every mistake in dtypes that does not depend on the caller."""
    types = types_of(program)
    found: list[Diagnostic] = []
    for func in program.funcs:
        found.extend(_check(func.body, types))
        found.extend(_check_stored(func, type_of(func.body, types)))
    return found


def _check(expr: Expr, types: Types) -> Iterator[Diagnostic]:
    for child in children(expr):
        yield from _check(child, types)
    match expr:
        case Apply(operation=operation, operands=operands):
            yield from _check_apply(expr, operation, operands, types)
        case Reduce(operation=operation, operand=operand):
            if REDUCTION[operation].operands_are_bool:
                yield from _check_bool(operation, operand, types)
        case Dot(left=left, right=right):
            yield from _check_promotes((left, right), types)
        case Read(tensor=tensor, padding=padding) if padding is not None:
            yield from _check_padding(tensor, padding, types)
        case _:
            pass


def _check_apply(
    expr: Apply, operation: str, operands: tuple[Expr, ...], types: Types
) -> Iterator[Diagnostic]:
    info = OPERATION[operation]
    if info.operands_are_bool:
        for operand in operands:
            yield from _check_bool(info.symbol, operand, types)
    elif info.result is Result.CHOSEN:
        yield from _check_bool(operation, operands[0], types)
        yield from _check_promotes(operands[1:], types)
    else:
        yield from _check_promotes(operands, types)
        if operation in ("neg", "sub") and all(
            type_of(operand, types).dtype is DType.BOOL for operand in operands
        ):
            yield Diagnostic(
                "DT162",
                Severity.ERROR,
                f"'{info.symbol}' has no meaning on booleans",
                expr.span,
                "of bool",
                hint="'not' negates a condition; to count with one, cast it: "
                f"{show_expr(Cast(operands[0], DType.I32))}",
                edits=_wrap_in_cast(operands[0], DType.I32),
            )


def _check_bool(user: str, operand: Expr, types: Types) -> Iterator[Diagnostic]:
    dtype = type_of(operand, types).dtype
    if dtype is not None and dtype is not DType.BOOL:
        yield Diagnostic(
            "DT160",
            Severity.ERROR,
            f"'{user}' needs a condition",
            operand.span,
            f"is {dtype}, not bool",
            hint=f"compare it: {show_expr(Apply('ne', (operand, Integer(0))))}",
            edits=_compared_with_zero(operand),
        )


def _compared_with_zero(operand: Expr) -> tuple[Edit, ...]:
    if operand.span is None:
        return ()
    return (Edit(Span(operand.span.source, operand.span.end, operand.span.end), " != 0"),)


def _check_promotes(operands: tuple[Expr, ...], types: Types) -> Iterator[Diagnostic]:
    total, first = type_of(operands[0], types), operands[0]
    for operand in operands[1:]:
        mine = type_of(operand, types)
        combined = combine(total, mine)
        if combined is None:
            small, wide = (first, mine) if total.dtype in EIGHT_BIT_FLOATS else (operand, total)
            meant = wide.dtype
            if meant is None or not is_float(meant):
                meant = DType.F32
            yield Diagnostic(
                "DT161",
                Severity.ERROR,
                f"{total.dtype} and {mine.dtype} have no common type",
                operand.span,
                f"is {mine.dtype}",
                (Note(f"this is {total.dtype}", first.span),),
                "8-bit floats do not promote; say which type is meant: "
                f"{show_expr(Cast(small, meant))}",
                _wrap_in_cast(small, meant),
            )
            return
        total = combined


def _check_stored(func: Func, value: Type) -> Iterator[Diagnostic]:
    if func.dtype is None or value.dtype is None:
        return
    if category(func.dtype) < category(value.dtype):
        yield Diagnostic(
            "DT163",
            Severity.ERROR,
            f"'{func.name}' is declared {func.dtype} but its value is {value.dtype}",
            func.body.span,
            f"is {value.dtype}",
            hint=f"say that the loss is meant: cast(..., {func.dtype})",
            edits=_wrap_in_cast(func.body, func.dtype),
        )


def _check_padding(tensor: str, padding: Expr, types: Types) -> Iterator[Diagnostic]:
    """Report a padding whose value the dtype of the tensor cannot hold."""
    mine, read = type_of(padding, types).dtype, types.get(tensor, UNKNOWN).dtype
    if mine is None or read is None:
        return
    if category(mine) > category(read) or not _holds(read, padding):
        yield Diagnostic(
            "DT165",
            Severity.ERROR,
            f"the padding of '{tensor}' is no value of {read}",
            padding.span,
            f"is {mine}" if category(mine) > category(read) else f"does not fit {read}",
            hint=f"pad with a value that {read} holds; or say what the tensor is to be: "
            f"a Func of cast({tensor}[...], ...) can be padded instead",
        )


def _holds(dtype: DType, number: Expr) -> bool:
    """False if a whole number is written that does not fit the type.

    The value of any other expression is not known here, so the result is True for it.
    """
    match number:
        case Integer(value=value):
            return value <= LARGEST.get(dtype, value)
        case Apply(operation="neg", operands=(Integer(value=value),)) if dtype is DType.U8:
            return value == 0
        case Apply(operation="neg", operands=(Integer(value=value),)):
            return value <= LARGEST.get(dtype, value) + 1
        case _:
            return True


def _wrap_in_cast(expr: Expr, dtype: DType | None) -> tuple[Edit, ...]:
    if expr.span is None or dtype is None:
        return ()
    return (Edit(expr.span, f"cast({expr.span.text}, {dtype})"),)
