"""Storage that is too small, copies that lack elements: what no directive makes."""

from dataclasses import replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.program import Program
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.model import Role, Statement, access
from dtpoly.poly.spaces import affs
from dtpoly.schedule.applied_directives import scheduled
from dtpoly.schedule.state import State


def folded(program: Program, func: str, label: str) -> State:
    """The schedule of a Program in which all elements of a Func along a label are one cell.

    f[x, y] is stored in f[0, y].
    """
    state = scheduled(program, DIRECTIVES)
    array = state.model.arrays[func]
    own = [Affine() if dim == label else Affine(((dim, 1),)) for dim in array.dims]
    statements = tuple(
        replace(one, writes=access(one.domain.get_space(), array, tuple(own)))
        if (one.func, one.role) == (func, Role.VALUE)
        else one
        for one in state.model.statements
    )
    return replace(state, model=state.model.with_statements(statements))


def hollow(program: Program, func: str, label: str) -> State:
    """The schedule of a Program in which private copies of a Func begin at 1 along a label."""
    state = scheduled(program, DIRECTIVES)

    def without_first(one: Statement) -> Statement:
        of = affs(one.domain.get_space())
        return replace(one, domain=one.domain & of[label].gt_set(of[0]))

    statements = tuple(
        without_first(one) if (one.func, one.role) == (func, Role.VALUE) and one.copies else one
        for one in state.model.statements
    )
    return replace(state, model=state.model.with_statements(statements))
