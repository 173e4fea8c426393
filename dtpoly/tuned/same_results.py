"""Checks that tuned schedules compute what the algorithm computes without them."""

from collections.abc import Sequence
from dataclasses import replace

from dtpoly.algorithm.program import Program
from dtpoly.generate import outputs, results_of
from dtpoly.tuned.tuned_file import Tuned


def check_results(tuned: Tuned, path: str, program: Program, name: str) -> None:
    """Raise ValueError if a schedule is for another algorithm, or compiles other Funcs.

    Else a call would be answered with another Func than without the tuned schedule.
    """
    if tuned.program != replace(program, directives=()):
        raise ValueError(f"the schedules of '{path}' are for another algorithm than '{name}'")
    for one in tuned.entries:
        other = replace(tuned.program, directives=one.directives)
        made, mine = (results_of(x, outputs(x)) for x in (other, program))
        if made != mine:
            theirs, ours = (", ".join(map(_named, all_of.values())) for all_of in (made, mine))
            raise ValueError(
                f"of '{path}' the schedule for {one.where} compiles {theirs}, where '{name}' "
                f"compiles {ours}: let both compile the same"
            )


def _named(results: Sequence[str]) -> str:
    """Name the results of a function: `y`, or `y (with h)`."""
    func, *more = results
    return f"{func} (with {', '.join(more)})" if more else func
