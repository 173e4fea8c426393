"""Turns reductions of random Programs into lists of the largest."""

from collections.abc import Collection
from dataclasses import replace
from random import Random

from dtpoly.algorithm.expressions import Apply, Expr, Index, Reduce, Size, map_children, walk
from dtpoly.algorithm.operations import LIST
from dtpoly.algorithm.program import Program


def with_lists(
    random: Random, program: Program, places: Collection[str], count: int
) -> Program | None:
    """Return the Program with some reductions as lists of so many places; None if it has none.

    The places are indices of labels of the Func, or of a reduction around. These labels get their
    size from the file.
    """

    def changed(expr: Expr, scope: tuple[str, ...]) -> Expr:
        inner = (*scope, *expr.labels) if isinstance(expr, Reduce) else scope
        expr = map_children(expr, lambda child: changed(child, inner))
        known = [label for label in scope if label in places]
        if not isinstance(expr, Reduce) or len(expr.labels) > 1 or not known:
            return expr
        if random.random() < 0.25:
            return expr
        label = next(iter(expr.labels))
        largest = replace(expr, operation=LIST, count=count)
        place = Index(random.choice(known))
        if random.random() < 0.5:
            return Apply("rtopk", (largest, place))
        return Apply("minimum", (Apply("rargtopk", (largest, place)), Size(label)))

    funcs = tuple(replace(func, body=changed(func.body, func.labels)) for func in program.funcs)
    labels = tuple(
        replace(label, size=count if label.name in places else None) for label in program.labels
    )
    made = replace(program, funcs=funcs, labels=labels)
    return made if any(has_list(func.body) for func in made.funcs) else None


def has_list(expr: Expr) -> bool:
    """True if a list is made in an expression."""
    return any(isinstance(node, Reduce) and node.operation == LIST for node in walk(expr))
