"""The option `--func NAME`: a word in, the Funcs that get a function out."""

import click

from dtpoly.algorithm.program import Program
from dtpoly.generate import outputs
from dtpoly.suggest import near


def wanted_funcs(program: Program, func: str | None) -> tuple[str, ...]:
    """The one that is named, else those that are compiled. Raises click.BadParameter."""
    if func is None:
        return outputs(program)
    known = [one.name for one in program.funcs]
    if func not in known:
        meant = near(func, known)
        hint = f"did you mean '{meant}'?" if meant else f"it has {', '.join(known)}"
        raise click.BadParameter(f"the program has no Func '{func}'; {hint}", param_hint="--func")
    return (func,)
