"""Makes the default schedule of a Program: one kernel a Func, one program, scalar loops."""

from collections.abc import Iterable, Mapping

from dtpoly.algorithm.program import NOTHING, Program, nested_labels
from dtpoly.poly.lift import lift
from dtpoly.schedule.hosts import readers_first
from dtpoly.schedule.nesting import nest
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel


def initial(
    program: Program,
    compiled: Iterable[str] = (),
    sized: Program | None = None,
    more: Mapping[str, tuple[str, ...]] = NOTHING,
) -> State:
    """Return a kernel for every Func that the compiled ones need (else all), producers first.

    `more` has what Funcs need besides what they read.
    """
    wanted = tuple(compiled) or None
    model = lift(program, wanted, sized, readers_first(program, wanted, more))
    funcs = dict.fromkeys(s.func for s in model.statements)
    sizes = (sized or program).fixed
    kernels = tuple(
        Kernel(
            func, func, nest(model.of_func(func), nested_labels(program.func(func)), sizes=sizes)
        )
        for func in funcs
    )
    return State(program, sized or program, model, model, kernels)
