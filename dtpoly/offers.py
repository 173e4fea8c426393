"""Directives that could come next, where the code shows which of them change nothing."""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.program import Directive, Program
from dtpoly.algorithm.show import show_directive
from dtpoly.diagnostics import Diagnostic, DtpolyError
from dtpoly.generate import code_of
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.legality import judge
from dtpoly.schedule.menu import Option, menu
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.state import State
from dtpoly.useless_directives import vain


def offers(program: Program, func: str, primitives: Primitives) -> Iterator[Option]:
    """The options of the menu; of some directives only the code says whether they do anything."""
    asked = _that_may_be_vain(primitives)
    for option in menu(program, func, primitives):
        state = option.state
        name = option.directive.partition("(")[0].rpartition(".")[2]
        if state is None or name not in asked:
            yield option
            continue
        try:
            is_vain = next(vain_of(state, option.directive, primitives), None) is not None
        except DtpolyError as error:  # there is no code for such a schedule
            yield replace(option, reason=error.diagnostics[0].title, changes=False)
            continue
        yield replace(option, changes=option.changes and not is_vain)


def vain_added(
    program: Program, directive: Directive, primitives: Primitives
) -> Iterator[Diagnostic]:
    """Report that the last directive of a legal program changes nothing, or leaves no code."""
    if directive.name in _that_may_be_vain(primitives):
        try:
            scheduled = judge(program, primitives).scheduled
            yield from vain_of(scheduled, show_directive(directive), primitives)
        except DtpolyError as error:
            yield from error.diagnostics


def _that_may_be_vain(primitives: Primitives) -> set[str]:
    """Return the names of directives that say when they change nothing."""
    asked = (one for one in primitives if one.changes_nothing is not Primitive.changes_nothing)
    return {word for one in asked for word in (one.name, *one.aliases)}


def vain_of(state: State, directive: str, primitives: Primitives) -> Iterator[Diagnostic]:
    """Report that a directive of a legal schedule changes nothing. Raises DtpolyError."""
    for one in state.program.directives:
        if show_directive(one) == directive:
            changed = replace(state.program, directives=(one,))
            yield from vain(replace(state, program=changed), code_of(state).stages, primitives)
            return
