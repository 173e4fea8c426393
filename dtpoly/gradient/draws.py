"""Draws random numbers in Funcs of their own, where one number serves several elements.

An algorithm that draws a number for each element that it reads may have a gradient with further
labels, along which the number is the same. That is meant, and so it is written as the language
wants it (DT249): a Func over the labels of the number draws it.
"""

from collections.abc import Callable
from dataclasses import replace

from dtpoly.algorithm.drawn_numbers import drawn_for_several
from dtpoly.algorithm.expressions import Apply, Expr, map_children
from dtpoly.algorithm.program import Func


def with_draws_apart(func: Func, draw: Callable[[Apply], Expr]) -> Func:
    """Return a Func that reads such numbers; `draw` gives the read of what draws one."""
    found = [node for node, _ in drawn_for_several(func)]

    def put(expr: Expr) -> Expr:
        if isinstance(expr, Apply) and any(expr is node for node in found):
            return draw(expr)
        return map_children(expr, put)

    return replace(func, body=put(func.body)) if found else func
