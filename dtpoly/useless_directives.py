"""Finds directives that change nothing: without them the code is the same.

Such a directive is right, and the author is told (DT198). Each directive says itself when that is
so, in its `changes_nothing`.
"""

from collections.abc import Iterator
from functools import partial

from dtpoly.codegen.module import Generated
from dtpoly.diagnostics import Diagnostic
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.foreign import checked
from dtpoly.schedule.made_kernels import Made
from dtpoly.schedule.state import State


def vain(state: State, made: Generated, primitives: Primitives) -> Iterator[Diagnostic]:
    """Report the directives of a right schedule without which the code would be the same."""
    for one in bind(state.program.directives, primitives).primitives:
        func = state.program.find_func(one.func)
        if func is None:  # it is inlined, and has no code of its own
            continue
        both = zip(state.kernels, made.kernels, strict=True)
        own = [(node, kernel) for node, kernel in both if node.func == one.func]
        nodes, kernels = tuple(node for node, _ in own), tuple(kernel for _, kernel in own)
        seen = Made(one.directive(), func, nodes, kernels)
        yield from checked(one, partial(one.changes_nothing, seen))
