"""Implements the option `--func NAME`, which chooses the Func that gets a function to call."""

from dataclasses import replace

import click

from dtpoly.algorithm.program import Directive, Program
from dtpoly.checking import Checked, prove
from dtpoly.diagnostics import DtpolyError, has_errors
from dtpoly.directives.built_in import COMPILING
from dtpoly.generate import outputs
from dtpoly.schedule.static_checks import check_schedule
from dtpoly.suggest import near


def wanted_funcs(program: Program, func: str | None) -> tuple[str, ...]:
    """Return the Func that is named, else those that are compiled. Raises click.BadParameter."""
    if func is None:
        return outputs(program)
    known = [one.name for one in program.funcs]
    if func not in known:
        meant = near(func, known)
        hint = f"did you mean '{meant}'?" if meant else f"it has {', '.join(known)}"
        raise click.BadParameter(f"the program has no Func '{func}'; {hint}", param_hint="--func")
    return (func,)


def with_func(checked: Checked, func: str | None) -> Checked:
    """Return a legal file in which a Func that gets a function also has a kernel.

    A Func that is only computed inside others has no kernel unless it is compiled. So it is
    compiled too, as if the file said so. Raises DtpolyError if that is refused.
    """
    program = checked.program
    if program is None or func is None or func in outputs(program):
        return checked
    compiled = Directive(func, COMPILING[0])
    program = replace(program, directives=(*program.directives, compiled))
    found = tuple(check_schedule(program, checked.primitives))
    if has_errors(found):
        raise DtpolyError(found)
    proved = prove(replace(checked, program=program, diagnostics=found))
    if proved.program is None:
        raise DtpolyError(proved.diagnostics)
    return proved
