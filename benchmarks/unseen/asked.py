"""Says what a case asks for: its algorithm, and the names of its results."""

from benchmarks.unseen.cases import Case
from dtpoly.algorithm.program import Program
from dtpoly.autoschedule.unscheduled_source import algorithm_of, bare
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import outputs, results_of


def program_of_call(case: Case) -> Program:
    """Return the algorithm of a case, with what it is asked for."""
    return bare(algorithm_of(case.source, DIRECTIVES))


def results(program: Program) -> tuple[str, ...]:
    """Return the names of all results of the one function of a case."""
    (rows,) = results_of(program, outputs(program)).values()
    return tuple(rows)
