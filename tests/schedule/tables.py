"""Finds where each instance of a statement is in a scheduled state, by counting."""

from itertools import product

import islpy as isl

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.axes import Path, several
from dtpoly.poly.coordinates import int_coordinates
from dtpoly.poly.model import Statement, by_name
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import bind
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import paths
from tests.schedule.told import read

Instance = tuple[int, ...]
Point = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def scheduled(text: str) -> State:
    program = read(text)
    return resolve(program, bind(program.directives, DIRECTIVES).primitives)


def path_of(state: State, name: str) -> Path:
    (path,) = [path for path in paths(state.kernels) if path.statement == name]
    return path


def instances(state: State, statement: Statement, sizes: dict[str, int]) -> list[Instance]:
    """The points of a domain at some sizes, one by one."""
    domain = statement.domain
    for label, param in state.model.size_of.items():
        position = domain.find_dim_by_name(isl.dim_type.param, param)
        domain = domain.fix_val(isl.dim_type.param, position, sizes[label])
    bounds = [
        range(
            domain.dim_min_val(at).to_python() if not domain.is_empty() else 0,
            domain.dim_max_val(at).to_python() + 1 if not domain.is_empty() else 0,
        )
        for at in range(len(statement.dims))
    ]
    found: list[Instance] = []
    for point in product(*bounds):
        fixed = domain
        for at, value in enumerate(point):
            fixed = fixed.fix_val(isl.dim_type.set, at, value)
        if not fixed.is_empty():
            found.append(point)
    return found


def points(state: State, name: str, sizes: dict[str, int]) -> dict[Instance, Point]:
    """Grid, loops and lanes of every instance; the grid as it is laid out, outermost first."""
    statement, path = by_name(state.model)[name], path_of(state, name)
    found: dict[Instance, Point] = {}
    for instance in instances(state, statement, sizes):
        dims = dict(zip(statement.dims, instance, strict=True))
        at = int_coordinates(path, statement, dims)
        groups = [dims[str(a.index.plain)] // (a.step or 1) * (a.step or 1) for a in path.grid]
        found[instance] = (
            tuple(groups),
            tuple(at[axis.name] for axis in several(path.loops)),
            tuple(at[axis.name] for axis in several(path.lanes)),
        )
    return found


def numbered(found: dict[Instance, Point], part: int) -> dict[Instance, int]:
    """Instances by the number of their program (part 0) or iteration (part 1), in order."""
    ranks = {key: at for at, key in enumerate(sorted({point[part] for point in found.values()}))}
    return {instance: ranks[point[part]] for instance, point in found.items()}


def grid_of(found: dict[Instance, int]) -> list[list[int]]:
    """A table with a row for each x."""
    width = max(y for _, y in found) + 1
    return [[found[x, y] for y in range(width)] for x in range(max(x for x, _ in found) + 1)]
