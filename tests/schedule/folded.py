"""Storage that is too small: what no directive makes, and what lanes may not share."""

from dataclasses import replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.program import Program
from dtpoly.poly.model import Role, access
from dtpoly.schedule.resolve import scheduled
from dtpoly.schedule.state import State


def folded(program: Program, func: str, label: str) -> State:
    """The schedule of a Program in which all elements of a Func along a label are one cell.

    f[x, y] is stored in f[0, y].
    """
    state = scheduled(program)
    array = state.model.arrays[func]
    own = [Affine() if dim == label else Affine(((dim, 1),)) for dim in array.dims]
    statements = tuple(
        replace(one, writes=access(one.domain.get_space(), array, tuple(own)))
        if (one.func, one.role) == (func, Role.VALUE)
        else one
        for one in state.model.statements
    )
    return replace(state, model=state.model.with_statements(statements))
