"""Counts what the instances of a scheduled state touch, by looking at each of them.

It shares nothing with the cost model but where an instance is: points of isl sets, one by one.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from dtpoly.algorithm.expressions import Affine, division
from dtpoly.poly.axes import Path, finest, several
from dtpoly.poly.coordinates import int_coordinates
from dtpoly.poly.model import Model, Statement

Element = tuple[int, ...]


@dataclass(frozen=True)
class Counted:
    """The instances of a statement, and the elements that one of its accesses touches."""

    instances: int
    tiles: int
    elements: frozenset[Element]
    of_program: Mapping[tuple[int, ...], frozenset[Element]]
    loaded: int  # elements of each tile, added up


def points(statement: Statement, model: Model, sizes: Mapping[str, int]) -> list[dict[str, int]]:
    """Return every instance at some sizes, by its dims."""
    domain = statement.domain
    for label, param in model.size_of.items():
        position = domain.find_dim_by_name(isl.dim_type.param, param)
        if position >= 0 and label in sizes:
            domain = domain.fix_val(isl.dim_type.param, position, isl.Val(sizes[label]))
    found: list[dict[str, int]] = []

    def add(point: isl.Point) -> None:
        values = (
            point.get_coordinate_val(isl.dim_type.set, at).to_python()
            for at in range(len(statement.dims))
        )
        found.append(dict(zip(statement.dims, values, strict=True)))

    domain.project_out_all_params().foreach_point(add)
    return found


def counted(
    statement: Statement,
    path: Path,
    model: Model,
    sizes: Mapping[str, int],
    indices: tuple[Affine, ...],
    shape: tuple[int, ...],
) -> Counted:
    """Return what an access of a statement touches, computed instance by instance."""
    lanes = {axis.name for axis in path.lanes}
    grid = [axis.name for axis in several(finest(path.grid))]
    of_program = defaultdict[tuple[int, ...], set[Element]](set)
    of_tile = defaultdict[tuple[tuple[str, int], ...], set[Element]](set)
    instances = points(statement, model, sizes)
    for instance in instances:
        at = int_coordinates(path, statement, instance)
        program = tuple(at[name] for name in grid)
        tile = tuple((name, value) for name, value in at.items() if name not in lanes)
        element = tuple(value_at(index, instance) for index in indices)
        inside = all(0 <= one < extent for one, extent in zip(element, shape, strict=True))
        of_program[program] |= {element} if inside else set()
        of_tile[tile] |= {element} if inside else set()
    return Counted(
        len(instances),
        len(of_tile),
        frozenset[Element]().union(*of_program.values()),
        {program: frozenset(found) for program, found in of_program.items()},
        sum(map(len, of_tile.values())),
    )


def value_at(index: Affine, instance: Mapping[str, int]) -> int:
    """Return the value of an index at one instance."""
    total = index.constant
    for term, factor in index.terms:
        if isinstance(term, str):
            total += factor * instance[term]
        else:
            term = division(term)
            quotient, rest = divmod(value_at(term.inner, instance), term.divisor)
            total += factor * (quotient if term.operator == "//" else rest)
    return total
