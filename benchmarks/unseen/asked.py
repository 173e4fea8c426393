"""Says what a case asks for: the names of its results.

That needs no isl, which a machine with a GPU may lack.
"""

from dtpoly.algorithm.program import Program


def results(program: Program) -> tuple[str, ...]:
    """Return the names of all results of the one function of a case, in their order.

    That is what the algorithm says, else its last Func, with all that is written in place and all
    sums at places.
    """
    for one in program.directives:
        return (one.func, *(str(each.target) for each in one.arguments))
    last = program.funcs[-1].name
    others = (*program.into.values(), *program.starts.values())
    return tuple(dict.fromkeys((last, *others)))
