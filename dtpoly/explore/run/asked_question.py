"""Makes the question that each schedule of a space is asked, of what a user says of it."""

from collections.abc import Mapping, Sequence

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.explore.space.space_schedules import Schedules
from dtpoly.explore.store.measured_question import UserQuestion, with_plugins_named

COMPILE = ("compile", "compile_to_kernel")


def asked_question(
    space: Schedules,
    name: str,
    sizes: Mapping[str, int],
    dtype: str,
    seed: int,
    plugins: Sequence[str] = (),
) -> UserQuestion:
    """Return the question; the program of the space has a Func, and all sizes are known."""
    program = space.space.program
    # Every point computes the same. The directives of one point tell which Func is called.
    first = space.at(0) if space.count else None
    func = compiled_last(program if first is None else space.program_of(first))
    text = with_plugins_named(show(program), plugins)
    return UserQuestion(name, text, func, sizes, dtype, seed)


def compiled_last(program: Program) -> str:
    """Return the Func that is compiled last.

    This file may not need isl, which may not be installed.
    """
    named = [d.func for d in program.directives if d.name in COMPILE]
    return [*dict.fromkeys(named)][-1] if named else program.funcs[-1].name
