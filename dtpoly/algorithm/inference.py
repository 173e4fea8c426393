"""Infers the dtype of every expression by torch's promotion, as far as the text decides it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import assert_never

from dtpoly.algorithm.dtypes import (
    EIGHT_BIT_FLOATS,
    INTEGERS,
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
    data_of,
    reads,
    walk,
)
from dtpoly.algorithm.operations import FROM_LIST, OPERATION, REDUCTION, Operation, ResultRule
from dtpoly.algorithm.program import Func, Program, in_typing_order, typed_like
from dtpoly.algorithm.show import show_expr
from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class InferredType:
    """A dtype, or None where the caller decides it.

    The type of a number is weak: beside a tensor only its category (bool, whole, float) counts.
    """

    dtype: DType | None
    weak: bool = False


UNKNOWN = InferredType(None)
# How many bits a whole number has.
WIDTHS = {DType.U8: 8, DType.I8: 8, DType.I16: 16, DType.I32: 32, DType.I64: 64}
LARGEST = {
    DType.U8: 2**8 - 1,
    DType.I8: 2**7 - 1,
    DType.I16: 2**15 - 1,
    DType.I32: 2**31 - 1,
    DType.I64: 2**63 - 1,
}
Types = Mapping[str, InferredType]  # of inputs and Funcs by name


def combine(left: InferredType, right: InferredType) -> InferredType | None:
    """Return the promoted type of two operands, or None if they cannot be promoted."""
    if left.weak != right.weak:
        strong, weak = (right, left) if left.weak else (left, right)
        return _with_number(strong, weak)
    if left.dtype is None or right.dtype is None:
        return InferredType(None, left.weak)
    promoted = promote(left.dtype, right.dtype)
    return None if promoted is None else InferredType(promoted, left.weak)


def _with_number(strong: InferredType, weak: InferredType) -> InferredType:
    if strong.dtype is None:
        return UNKNOWN
    if weak.dtype is None:
        # A number whose category is unknown never changes a float.
        return strong if is_float(strong.dtype) else UNKNOWN
    return strong if category(weak.dtype) <= category(strong.dtype) else InferredType(weak.dtype)


def as_float(operand: InferredType) -> InferredType:
    """Return the type of a function that is only defined on floats."""
    if operand.dtype is None or is_float(operand.dtype):
        return operand
    return InferredType(DType.F32, operand.weak)


def type_of(expr: Expr, types: Types) -> InferredType:
    """Return the type of an expression, or UNKNOWN if it cannot be promoted."""
    match expr:
        case Integer() | Size() | ProgramId():
            return InferredType(DType.I64, weak=True)
        case Index():
            return InferredType(DType.I64)  # a whole tensor of indices
        case Float():
            return InferredType(DType.F32, weak=True)
        case ScalarRead(name=name):
            return types[name]
        case Read(tensor=tensor):
            return types.get(tensor, UNKNOWN)  # a Func with an error has no type
        case Cast(dtype=dtype):
            return InferredType(dtype)
        case Reshape(operand=operand):
            return type_of(operand, types)
        case Dot(left=left, right=right):
            both = combine(type_of(left, types), type_of(right, types)) or UNKNOWN
            return InferredType(summed(both.dtype) if both.dtype else None)
        case Reduce(operation=operation):
            return _type_of_reduction(operation, _met(children(expr), types))
        case Apply(operation=operation, operands=operands):
            return type_of_operation(operation, [type_of(e, types) for e in operands])
        case _:
            assert_never(expr)


def _met(operands: tuple[Expr, ...], types: Types) -> InferredType:
    """Return the type that the operands of a reduction meet in; most have one operand."""
    total = type_of(operands[0], types)
    for operand in operands[1:]:
        total = combine(total, type_of(operand, types)) or UNKNOWN
    return total


def _type_of_reduction(operation: str, operand: InferredType) -> InferredType:
    match operation:
        case "rany" | "rall":
            return InferredType(DType.BOOL)
        case "rargmax" | "rargmin":
            return InferredType(DType.I64)
        case "rsum" | "rprod" | "raffine":
            return InferredType(summed(operand.dtype) if operand.dtype else None)
        case _:
            return InferredType(operand.dtype)


def type_of_operation(operation: str, operands: list[InferredType]) -> InferredType:
    """Return the type of an elementwise operation on operands of these types."""
    result = OPERATION[operation].result
    if result is ResultRule.BOOL:
        return InferredType(DType.BOOL, weak=all(t.weak for t in operands))
    if result in (ResultRule.LONG, ResultRule.SINGLE):
        return InferredType(DType(result))
    if result is ResultRule.PLACE:
        return InferredType(DType.I64)
    if result is ResultRule.LISTED:
        return operands[0]
    counted = operands[1:] if result is ResultRule.CHOSEN else operands
    total = counted[0]
    for operand in counted[1:]:
        total = combine(total, operand) or UNKNOWN
    return as_float(total) if result is ResultRule.FLOAT else total


def types_of(program: Program) -> dict[str, InferredType]:
    """Return the type of every input and of every Func as it is stored."""
    types: dict[str, InferredType] = {t.name: InferredType(t.dtype) for t in program.tensors}
    types |= {s.name: InferredType(s.dtype, weak=True) for s in program.scalars}
    like = typed_like(program)
    for func in in_typing_order(program):
        types[func.name] = _stored(like.get(func.name, func), func, types)
    return types


def _stored(like: Func, func: Func, types: Types) -> InferredType:
    """Return the type of a Func in memory; if it declares none, `like` is the one that decides."""
    if func.dtype is not None:
        return InferredType(func.dtype)
    if func.into is not None:
        return types.get(func.into.tensor, UNKNOWN)
    body = like.body
    # A part of a number that has no type of its own has none either.
    weak = False
    if like.whole and isinstance(body, Reduce) and body.scan is None:
        weak = type_of(body.operand, types).weak
    return InferredType(type_of(body, types).dtype, weak)


def check_types(program: Program) -> list[Diagnostic]:
    """Report every mistake in dtypes that does not depend on the caller."""
    types, starts = types_of(program), program.starts
    found: list[Diagnostic] = []
    for func in program.funcs:
        found.extend(_check(func.body, types))
        own, said = func, f"declared {func.dtype}"
        if func.dtype is None and func.name in starts:
            # What sums begin with has the type of what is added.
            own = replace(func, dtype=types[func.name].dtype)
            said = f"{own.dtype}, as what is added to it,"
        found.extend(_check_stored(own, type_of(func.body, types), said))
        if func.into is not None and func.into.at is not None:
            found.extend(_check(replace(func.into.at, padding=None), types))
    return found


def _check(expr: Expr, types: Types) -> Iterator[Diagnostic]:
    for child in children(expr):
        yield from _check(child, types)
    match expr:
        case Apply(operation=operation, operands=operands):
            yield from _check_apply(expr, operation, operands, types)
        case Reduce(operation="raffine"):
            yield from _check_promotes(children(expr), types)
        case Reduce(operation=operation, operand=operand):
            if REDUCTION[operation].operands_are_bool:
                yield from _check_bool(operation, operand, types)
        case Dot(left=left, right=right):
            yield from _check_promotes((left, right), types)
        case Read(tensor=tensor, padding=padding):
            for one in data_of(expr):
                yield from _check_data(one, types)
            if padding is not None:
                yield from _check_padding(tensor, padding, types)
        case _:
            pass


def _check_apply(
    expr: Apply, operation: str, operands: tuple[Expr, ...], types: Types
) -> Iterator[Diagnostic]:
    info = OPERATION[operation]
    if operation in FROM_LIST:
        yield from _check_listed(expr, operands[0], types)
    elif info.operands_are_bool:
        for operand in operands:
            yield from _check_bool(info.symbol, operand, types)
    elif info.result is ResultRule.CHOSEN:
        yield from _check_bool(operation, operands[0], types)
        yield from _check_promotes(operands[1:], types)
    else:
        yield from _check_promotes(operands, types)
        if info.operands_are_whole:
            yield from _check_whole(info, operands, types)
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


def _check_listed(expr: Apply, largest: Expr, types: Types) -> Iterator[Diagnostic]:
    """Report a list of conditions, in which nearly all values would be equal."""
    (operand,) = children(largest)
    if type_of(operand, types).dtype is DType.BOOL:
        yield Diagnostic(
            "DT236",
            Severity.ERROR,
            f"'{expr.operation}' of conditions has no order",
            operand.span,
            "is bool",
            hint="cast it to have true before false: "
            f"{show_expr(Cast(operand, DType.I32))}; whether any is true says 'rany'",
            edits=_wrap_in_cast(operand, DType.I32),
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


# What computes the same of floats, or what is most likely meant, for messages.
OF_FLOATS = {
    "quotient": "the quotient of floats, rounded down, is floor(div_rn(a, b))",
    "shl": "the product with a power of 2 is a * pow(2, n)",
    "shr": "the quotient by a power of 2 is a / pow(2, n)",
    "bitxor": "a power is pow(a, n)",
}
OF_BOOLS = "cast the condition to a whole number, which is 0 or 1"


def _check_whole(info: Operation, operands: tuple[Expr, ...], types: Types) -> Iterator[Diagnostic]:
    """Report the operands of an operation on whole numbers that are none."""
    own = [type_of(operand, types).dtype for operand in operands]
    for operand, dtype in zip(operands, own, strict=True):
        if dtype is not None and is_float(dtype):
            way = OF_FLOATS.get(info.name, "cast it, which says which whole number is meant")
            yield _no_whole_number(info, operand, dtype, way)
    if not info.takes_bools and all(dtype is DType.BOOL for dtype in own):
        yield _no_whole_number(info, operands[0], DType.BOOL, OF_BOOLS)
    if info.name in ("shl", "shr"):
        yield from _check_shift(info, operands, types)


def _check_shift(info: Operation, operands: tuple[Expr, ...], types: Types) -> Iterator[Diagnostic]:
    """Report a shift by a written number that is no place of a bit."""
    match operands[1]:
        case Integer(value=value):
            by = value
        case Apply("neg", (Integer(value=value),)):
            by = -value
        case _:
            return
    both = combine(*(type_of(operand, types) for operand in operands))
    width = WIDTHS.get(both.dtype) if both is not None and both.dtype is not None else None
    if width is not None and not 0 <= by < width:
        yield Diagnostic(
            "DT231",
            Severity.ERROR,
            f"a shift by {by} leaves no bit of a number",
            operands[1].span,
            f"is no place in the {width} bits of {both.dtype}" if both is not None else "",
            hint=f"write a number from 0 to {width - 1}, or cast what is shifted to a wider type",
        )


def _no_whole_number(info: Operation, operand: Expr, dtype: DType, way: str) -> Diagnostic:
    has_bools = " or bools" if info.takes_bools else ""
    return Diagnostic(
        "DT230",
        Severity.ERROR,
        f"'{info.symbol or info.name}' needs whole numbers{has_bools}",
        operand.span,
        f"is {dtype}",
        hint=way,
    )


def check_declared(program: Program) -> list[Diagnostic]:
    """Report operands of whole numbers that have no dtype: kernels take these for floats."""
    types = types_of(program)
    return [
        _undeclared(program, OPERATION[node.operation], operand, types)
        for func in program.funcs
        for node in walk(func.body)
        if isinstance(node, Apply) and OPERATION[node.operation].operands_are_whole
        for operand in node.operands
        if type_of(operand, types).dtype is None and not _is_of_wholes(operand)
    ]


def _is_of_wholes(expr: Expr) -> bool:
    return isinstance(expr, Apply) and OPERATION[expr.operation].operands_are_whole


def _undeclared(program: Program, info: Operation, operand: Expr, types: Types) -> Diagnostic:
    word, name = next(_without_dtype(program, operand, types))
    has_bools = " or bools" if info.takes_bools else ""
    return Diagnostic(
        "DT230",
        Severity.ERROR,
        f"'{info.symbol or info.name}' needs whole numbers{has_bools}",
        operand.span,
        f"is a float in a kernel, since '{name}' has no dtype",
        hint=f"declare one, as in: {word} {name}: {'i64' if word == 'SIn' else 'i32'}",
    )


def _without_dtype(program: Program, expr: Expr, types: Types) -> Iterator[tuple[str, str]]:
    """Yield the inputs without a dtype that an expression reads, and how each is declared."""
    for node in walk(expr):
        match node:
            case ScalarRead(name=name) if types[name].dtype is None:
                yield "SIn", name
            case Read(tensor=tensor) if types[tensor].dtype is None:
                func = program.find_func(tensor)
                if func is None:
                    yield "In", tensor
                else:
                    yield from _without_dtype(program, func.body, types)
            case _:
                pass


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


def _check_stored(func: Func, value: InferredType, said: str) -> Iterator[Diagnostic]:
    if func.dtype is None or value.dtype is None:
        return
    if category(func.dtype) < category(value.dtype):
        yield Diagnostic(
            "DT163",
            Severity.ERROR,
            f"'{func.name}' is {said} but its value is {value.dtype}",
            func.body.span,
            f"is {value.dtype}",
            hint=f"say that the loss is meant: cast(..., {func.dtype})",
            edits=_wrap_in_cast(func.body, func.dtype),
        )


def _check_data(value: Expr, types: Types) -> Iterator[Diagnostic]:
    """Report an index that is data, and not known to be a whole number."""
    # What is added up is cast, and a number that is no whole one must not lose its fraction so.
    for one in walk(value):
        if isinstance(one, Cast) and one.span is None and isinstance(one.operand, Read):
            yield from _check_data(one.operand, types)
    dtype = type_of(value, types).dtype
    if dtype in INTEGERS:
        return
    shown = show_expr(value)
    way = f"index with a tensor of whole numbers, or cast it: cast({shown}, i64)"
    for read in reads(value):
        if dtype is None and types.get(read.tensor, UNKNOWN).dtype is None:
            way = f"declare '{read.tensor}' with a dtype of whole numbers, such as i64"
    yield Diagnostic(
        "DT232",
        Severity.ERROR,
        f"the index {shown} is no whole number",
        value.span,
        "may be any float" if dtype is None else f"is {dtype}",
        hint=way,
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
