"""Makes the default schedule of a Program: one kernel a Func, one program, scalar loops."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache

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


# Makes the state before any directive, for the Funcs that are compiled.
Begin = Callable[[Program, tuple[str, ...]], State]


def initial_once(bare: Program) -> Begin:
    """Make the state before any directive once, for all schedules of an algorithm to share."""

    @cache
    def made(compiled: tuple[str, ...]) -> State:
        return initial(replace(bare, returned=compiled), compiled)

    return lambda program, compiled: replace(made(compiled), program=program, sized=program)
