"""Warns where one random number serves several elements, because its counter lacks a label."""

from collections.abc import Iterator

from dtpoly.algorithm.expressions import Apply, Dot, Expr, Reduce, children, free_labels
from dtpoly.algorithm.operations import DRAWN
from dtpoly.algorithm.program import Func, Program
from dtpoly.diagnostics import Diagnostic, Severity


def check_drawn(program: Program) -> list[Diagnostic]:
    """Return a warning for each number that is drawn for all indices of some label at once."""
    return [
        _lacking(func, node, missing)
        for func in program.funcs
        for node, missing in drawn_for_several(func)
    ]


def drawn_for_several(func: Func) -> Iterator[tuple[Apply, list[str]]]:
    """Yield what is drawn in a Func for several elements at once, with the labels that it lacks."""
    for node, around in _drawn(func.body, func.labels):
        if missing := [label for label in around if label not in free_labels(node)]:
            yield node, missing


def _drawn(expr: Expr, around: tuple[str, ...]) -> Iterator[tuple[Apply, tuple[str, ...]]]:
    """Yield what is drawn, with the labels of the Func and of the reductions around it.

    A number that is drawn as a seed of another one is a part of that.
    """
    if isinstance(expr, Apply) and expr.operation in DRAWN:
        yield expr, around
        return
    inside = around
    if isinstance(expr, Reduce | Dot):
        inside = tuple(dict.fromkeys((*around, *expr.labels)))
    for child in children(expr):
        yield from _drawn(child, inside)


def _lacking(func: Func, node: Apply, missing: list[str]) -> Diagnostic:
    names = " and ".join(f"'{label}'" for label in missing)
    return Diagnostic(
        "DT249",
        Severity.WARNING,
        f"one number is drawn for all indices of {names}",
        node.span,
        f"is the same for each of them in '{func.name}'",
        hint=f"add {', '.join(missing)} to its arguments; if one number is meant, draw it in a "
        "Func over the other labels, and read that",
    )
