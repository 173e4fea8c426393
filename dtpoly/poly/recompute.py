"""Finds instances that several programs compute, or that one program computes several times."""

from __future__ import annotations

from dtpoly.poly.dependences import Dependence, DependenceKind
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Statement
from dtpoly.poly.order import Broken, ViolationKind
from dtpoly.poly.spaces import computing


def repeated_in_loop(statement: Statement, grid: frozenset[str], context: isl.Set) -> Broken | None:
    """Return the pairs of iterations of one program that both compute the same instance."""
    same = told_apart(statement, grid)
    if same is None:
        return None
    with computing("what is computed again"):
        if same.is_injective():
            return None
        pairs = alike(statement, same).intersect_params(context)
        if pairs.is_empty():
            return None
        one = statement.name
        pair = Dependence(DependenceKind.OUTPUT, statement.writes.array, one, one, pairs)
        return Broken(pair, ViolationKind.RECOMPUTES, pairs)


def told_apart(statement: Statement, grid: frozenset[str]) -> isl.Map | None:
    """Return the relation from an instance to its labels and its program.

    Two instances with one image repeat one computation in a loop. A copy that is private only to
    programs has no such pairs, and the result is None.
    """
    if set(statement.copies) <= grid:
        return None
    with computing("what is computed again"):
        kept = frozenset(statement.labels) | grid
        return _without(statement, kept)


def repeated_by_programs(statement: Statement, axis: str) -> bool:
    """True if programs that differ on a grid axis compute the same instance, each for itself."""
    with computing("what several programs compute"):
        labels = frozenset(statement.labels)
        along = _without(statement, labels | {axis}).range()
        position = (*(d for d in statement.dims if d in labels or d == axis),).index(axis)
        return not along.identity().project_out(isl.dim_type.out, position, 1).is_injective()


def _without(statement: Statement, kept: frozenset[str]) -> isl.Map:
    """Return the relation from an instance to those of its dims that are kept."""
    result = statement.domain.identity().reset_tuple_id(isl.dim_type.out)
    for position in reversed(range(len(statement.dims))):
        if statement.dims[position] not in kept:
            result = result.project_out(isl.dim_type.out, position, 1)
    return result


def alike(statement: Statement, same: isl.Map) -> isl.Map:
    """Return the pairs of instances with one image, the earlier iteration first."""
    pairs = same.apply_range(same.reverse())
    return pairs & isl.Map.lex_lt(statement.domain.get_space())
