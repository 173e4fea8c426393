"""Says how the inputs of a case lie in memory, where that is not as they are written."""

from benchmarks.unseen.cases import TURNED, Case, program_of
from dtpoly.algorithm.program import touched


def orders_of(case: Case) -> dict[str, tuple[int, ...]]:
    """Return the axes of turned inputs, outermost first: the last two are the other way round."""
    program = program_of(case)
    ranks = {one.tensor: len(one.indices) for func in program.funcs for one in touched(func)}
    return {
        name: (*range(ranks[name] - 2), ranks[name] - 1, ranks[name] - 2)
        for name, layout in case.layouts.items()
        if layout == TURNED
    }
