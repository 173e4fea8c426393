"""Prints a Program as .dt text. Law: parse(show(program)) == program."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import assert_never

from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Bound,
    Cast,
    DataIndex,
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
    ScanOrder,
    Size,
    SizedIndex,
    Term,
    map_children,
)
from dtpoly.algorithm.operations import (
    ATOM,
    BEFORE,
    COMPARISON,
    FROM_LIST,
    OPERATION,
    REVERSE,
    SCAN,
)
from dtpoly.algorithm.program import (
    Argument,
    Directive,
    Func,
    Label,
    LabelRange,
    Program,
    Scalar,
    Split,
    Tensor,
)


def show(program: Program) -> str:
    """Return the text of a whole program: declarations, definitions, directives."""
    sections = (
        _declarations(program),
        [show_definition(func) for func in program.funcs],
        [show_directive(directive) for directive in program.directives],
    )
    return "\n".join("".join(f"{line}\n" for line in section) for section in sections if section)


def _declarations(program: Program) -> list[str]:
    groups: list[tuple[str, list[str]]] = []
    named = (
        *(("Func", f.name, f"{_said(f.dtype)}{_into(f)}") for f in program.funcs),
        *(
            ("In" if isinstance(i, Tensor) else "SIn", i.name, f"{_said(i.dtype)}{_promise(i)}")
            for i in program.inputs
        ),
    )
    items = (
        *((kind, f"{name}{said}") for kind, name, said in named),
        *(("RVar" if label.reducible else "Var", _show_label(label)) for label in program.labels),
    )
    for kind, item in items:
        # Neighbours of one kind share a declaration, which keeps the order.
        if not groups or groups[-1][0] != kind:
            groups.append((kind, []))
        groups[-1][1].append(item)
    return [f"{kind} {', '.join(names)};" for kind, names in groups]


def _said(word: str | None) -> str:
    return "" if word is None else f": {word}"


def _promise(one: Tensor | Scalar) -> str:
    bound = one.within if isinstance(one, Tensor) else None
    return "" if bound is None else f" within {show_bound(bound)}"


def show_bound(bound: Bound) -> str:
    """Return the text of what a promise of range says data to be below."""
    return f"len({bound})" if isinstance(bound, str) else str(bound)


def _into(func: Func) -> str:
    into = func.into
    if into is None:
        return ""
    at = "" if into.at is None else f" at {_place(into.at)}"
    how = f" {into.placing.value}" if into.placing.value else ""
    return f" into {into.tensor}{at}{how}"


def _place(at: Read) -> str:
    return show_expr(replace(at, padding=None)).removeprefix(at.tensor)


def _show_label(label: Label) -> str:
    sized = label.name if label.size is None else f"{label.name}: {label.size}"
    return sized if label.range is None else f"{sized} in {show_range(label.range)}"


def show_range(one: LabelRange) -> str:
    """Return the text of a range, such as `[0, m + 1)`."""
    return f"[{show_sized(one.start)}, {show_sized(one.stop)})"


def show_sized(one: SizedIndex) -> str:
    """Return the text of a sum of labels and sizes, such as `len(x) - m`."""
    sizes = {label: f"len({label})" for label in one.sizes.labels}
    return show_affine(one.over(sizes))


def show_definition(func: Func) -> str:
    """Return the text of a definition, such as `f[x, y] = body;`."""
    return f"{func.name}[{', '.join(func.labels)}] = {show_expr(func.body)};"


def show_directive(directive: Directive) -> str:
    """Return the text of a directive, such as `f.block(x:16);`."""
    arguments = ", ".join(map(show_argument, directive.arguments))
    return f"{directive.func}.{directive.name}({arguments});"


def show_argument(argument: Argument) -> str:
    """Return the text of an argument, such as `x`, `x:16` or `y:yi/8`."""
    match argument.value:
        case None:
            return str(argument.target)
        case Split(name=name, factor=factor):
            return f"{argument.target}:{name}/{factor}"
        case value:
            return f"{argument.target}:{value}"


def show_affine(index: Affine) -> str:
    """Return the text of an index, such as `2 * y + r - 1`."""
    parts: list[str] = []
    for one, coefficient in index.terms:
        size = abs(coefficient)
        term = _show_term(one)
        if not isinstance(one, str) and (size != 1 or (coefficient < 0 and not parts)):
            term = f"({term})"  # a sign and a product come first otherwise
        term = term if size == 1 else f"{size} * {term}"
        if not parts:
            parts.append(f"-{term}" if coefficient < 0 else term)
        else:
            parts.append(f"- {term}" if coefficient < 0 else f"+ {term}")
    if not parts:
        return str(index.constant)
    if index.constant:
        parts.append(f"- {-index.constant}" if index.constant < 0 else f"+ {index.constant}")
    return " ".join(parts)


def _show_term(term: Term) -> str:
    if isinstance(term, str):
        return term
    if isinstance(term, DataIndex):
        return show_expr(_as_written(term.value))
    inner = show_affine(term.inner)
    return f"{inner if term.inner.is_plain else f'({inner})'} {term.operator} {term.divisor}"


def _as_written(expr: Expr) -> Expr:
    """Return the value of an index without the casts of what is added up in it."""
    if isinstance(expr, Cast) and isinstance(expr.operand, Read) and expr.span is None:
        return expr.operand
    return expr if isinstance(expr, Read) else map_children(expr, _as_written)


def show_float(value: float) -> str:
    """Return a float as the language writes it."""
    if math.isnan(value):
        return "nan"
    return "inf" if math.isinf(value) else repr(value)


def _call(name: str, arguments: Iterable[str]) -> str:
    return f"{name}({', '.join(arguments)})"


def show_expr(expr: Expr, context: int = 0) -> str:
    """Return the text of an expression.

    It is in parentheses if its operator does not bind more tightly than the context.
    """
    match expr:
        case Integer(value=value):
            return str(value)
        case Float(value=value):
            return show_float(value)
        case ScalarRead(name=name):
            return name
        case Index(label=label):
            return label
        case Size(label=label):
            return f"len({label})"
        case ProgramId(axis=axis):
            return f"program_id({axis})"
        case Read(tensor=tensor, indices=indices, padding=padding):
            base = tensor
            if padding is not None:
                base = f"pad({tensor}, {show_expr(padding)})"
            return f"{base}[{', '.join(map(show_affine, indices))}]"
        case Cast(operand=operand, dtype=dtype):
            return _call("cast", (show_expr(operand), dtype))
        case Reduce(operation=operation, operand=operand, labels=labels, scan=scan):
            called = (show_expr(operand), *labels)
            if scan is not None:
                factor = () if scan.factor is None else (show_expr(scan.factor),)
                return _call(SCAN[operation], (*factor, *called, *_order(scan)))
            return _call(operation, called)
        case Dot(left=left, right=right, labels=labels):
            return _call("rdot", (show_expr(left), show_expr(right), *labels))
        case Reshape(operand=operand, axes=axes):
            return _call("reshape", (show_expr(operand), *(axis or "1" for axis in axes)))
        case Apply():
            return _show_apply(expr, context)
        case _:
            assert_never(expr)


def _order(scan: ScanOrder) -> Iterator[str]:
    """Yield what a scan has behind its operand and its label."""
    yield scan.at
    if scan.initial is not None:
        yield show_expr(scan.initial)
    if scan.is_before:
        yield BEFORE
    if scan.is_reverse:
        yield REVERSE


def _show_apply(expr: Apply, context: int) -> str:
    operation = OPERATION[expr.operation]
    match expr.operation, expr.operands:
        case ("minimum", (Apply(operation="rargtopk", operands=(Reduce(), _)) as inner, Size())):
            return show_expr(inner)  # what the word itself says
        case (name, (Reduce(operand=operand, labels=labels), place)) if name in FROM_LIST:
            return _call(name, (show_expr(operand), *labels, show_expr(place)))
        case _:
            pass
    if not operation.symbol:
        return _call(operation.name, map(show_expr, expr.operands))
    level = operation.precedence
    if operation.arity == 1:
        space = " " if operation.symbol.isalpha() else ""
        text = f"{operation.symbol}{space}{show_expr(expr.operands[0], level)}"
    else:
        # Operators group to the left, but comparisons do not group at all.
        left, right = expr.operands
        left_context = level + 1 if level == COMPARISON else level
        shown = show_expr(left, left_context), show_expr(right, min(level + 1, ATOM))
        text = f"{shown[0]} {operation.symbol} {shown[1]}"
    return f"({text})" if level < context else text
