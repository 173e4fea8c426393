"""Checks that the labels on which the range of a label depends are there where it is used."""

from collections.abc import Iterator

from dtpoly.algorithm.expressions import Conditions, Dot, Expr, Reduce, children
from dtpoly.algorithm.program import Func, Program
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.source import Span


def check_ranges(program: Program, func: Func) -> list[Diagnostic]:
    """Report each use of a label with a range where a label that the range names is not known."""
    scope = frozenset(func.labels)
    return [
        *_missing(program, func.when, func.labels, scope, func.span),
        *_inside(program, func.body, scope),
    ]


def _inside(program: Program, expr: Expr, scope: frozenset[str]) -> Iterator[Diagnostic]:
    if isinstance(expr, Reduce | Dot):
        scope = scope | frozenset(expr.labels)
        yield from _missing(program, expr.when, expr.labels, scope, expr.span)
    for child in children(expr):
        yield from _inside(program, child, scope)


def _missing(
    program: Program,
    when: Conditions,
    labels: tuple[str, ...],
    scope: frozenset[str],
    span: Span | None,
) -> Iterator[Diagnostic]:
    wanted = {label for one in when for label in one.labels} - scope
    for label in labels:
        ends = program.ranges.get(label)
        if ends is None:
            continue
        for other in dict.fromkeys((*ends.start.labels, *ends.stop.labels)):
            if other in wanted:
                wanted.remove(other)
                yield _not_there(program, label, other, span)


def _not_there(program: Program, label: str, other: str, span: Span | None) -> Diagnostic:
    declared = next(one.span for one in program.labels if one.name == label)
    return Diagnostic(
        "DT215",
        Severity.ERROR,
        f"the range of '{label}' depends on '{other}', which has no index here",
        span,
        f"uses '{label}', but not inside of anything over '{other}'",
        (Note(f"'{label}' is declared with its range here", declared),),
        f"put '{other}' on the left side, or into a reduction around this one; "
        f"or use a label without a range in the place of '{label}'",
    )
