"""Makes the default schedule of a Program: one kernel a Func, one program, scalar loops."""

from collections.abc import Iterable

from dtpoly.algorithm.program import Program
from dtpoly.poly.lift import lift
from dtpoly.schedule.nesting import nest
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel


def initial(program: Program, compiled: Iterable[str] = (), sized: Program | None = None) -> State:
    """A kernel for every Func that the compiled ones need (else all), producers first."""
    model = lift(program, tuple(compiled) or None, sized)
    funcs = dict.fromkeys(s.func for s in model.statements)
    sizes = (sized or program).fixed
    kernels = tuple(
        Kernel(func, func, nest(model.of_func(func), program.func(func).labels, sizes=sizes))
        for func in funcs
    )
    return State(program, sized or program, model, model, kernels)
