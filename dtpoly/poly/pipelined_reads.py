"""Finds the reads in an innermost loop of a kernel of values that the same loop stores.

A pipelined loop may run its loads before the stores of earlier iterations. That is right only if no
load reads a value that the loop itself stores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import TypeAlias

from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis, Path, finest, several
from dtpoly.poly.dependences import Dependence, DependenceKind
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Model, Statement, by_name
from dtpoly.poly.order import (
    Broken,
    Coordinates,
    ViolationKind,
    coordinate_map,
    coordinates_of,
)
from dtpoly.poly.passing import in_memory
from dtpoly.poly.spaces import computing

# The steps from the kernel down to a loop. Two statements are in one loop if it is on both ways.
Way: TypeAlias = "tuple[Axis | int, ...]"


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop with several iterations, and the statements inside it that have instances."""

    way: Way
    statements: tuple[Statement, ...]


def run_ahead(model: Model, paths: Mapping[str, Path]) -> Iterator[Broken]:
    """Yield the dependences from stores to reads inside one innermost loop of the kernel.

    `paths` has only the statements of this kernel.
    """
    memory = in_memory(model, paths)
    if not memory:
        return
    with computing("what a loop stores and loads"):
        loops = _loops(model, paths)
        ways = [loop.way for loop in loops]
        for loop in loops:
            if any(len(way) > len(loop.way) and _is_in(way, loop.way) for way in ways):
                continue
            for array in memory:
                yield from _stored_and_loaded(model, loop, array, paths)


def _loops(model: Model, paths: Mapping[str, Path]) -> list[_Loop]:
    known = by_name(model)
    alive = [
        known[path.statement]
        for path in paths.values()
        if not known[path.statement].domain.intersect_params(model.context).is_empty()
    ]
    ways: dict[Way, None] = {}
    for statement in alive:
        steps = paths[statement.name].steps
        ends = (i for i, s in enumerate(steps, 1) if isinstance(s, Axis) and not s.is_single)
        ways |= dict.fromkeys(steps[:end] for end in ends)
    loops = [
        _Loop(way, tuple(s for s in alive if _is_in(paths[s.name].steps, way))) for way in ways
    ]
    on = coordinates_of(known, paths)
    return [loop for loop in loops if _is_repeated(model, loop, paths, on)]


def _is_in(steps: Way, way: Way) -> bool:
    return steps[: len(way)] == way


def _is_repeated(model: Model, loop: _Loop, paths: Mapping[str, Path], on: Coordinates) -> bool:
    """True if the loop can have a second iteration.

    Its label may have a single index in every call.
    """
    iterations: list[isl.Map] = []
    for statement in loop.statements:
        names = _names(loop.way, paths[statement.name])
        domain = statement.domain.intersect_params(model.context)
        outer, inner = (
            isl.Map.from_multi_aff(on(statement.name, some)).intersect_domain(domain)
            for some in (names[:-1], names[-1:])
        )
        mine = outer.reverse().apply_range(inner)
        if not mine.is_single_valued():
            return True
        iterations.append(mine)
    return not reduce(isl.Map.union, iterations).is_single_valued()


def _names(way: Way, path: Path) -> tuple[str, ...]:
    """Return the names of the axes down to a loop: those of the grid, then those of the loops."""
    loops = tuple(step for step in way if isinstance(step, Axis))
    return tuple(axis.name for axis in several(finest(path.grid)) + several(loops))


def _stored_and_loaded(
    model: Model, loop: _Loop, array: str, paths: Mapping[str, Path]
) -> Iterator[Broken]:
    """Yield the pairs of instances of which one writes and the other reads the same element.

    Only the pairs that explain the problem best are yielded.
    """
    for writer in loop.statements:
        for reader in loop.statements:
            pairs = _flow(writer, reader, array).intersect_params(model.context)
            if not pairs.is_empty():
                telling = _telling(pairs, loop, writer, reader, paths)
                kind = DependenceKind.REDUCTION if writer is reader else DependenceKind.FLOW
                pair = Dependence(kind, array, writer.name, reader.name, telling)
                yield Broken(pair, ViolationKind.AHEAD, telling)


def _telling(
    pairs: isl.Map, loop: _Loop, writer: Statement, reader: Statement, paths: Mapping[str, Path]
) -> isl.Map:
    """Return the pairs within one execution of the loop, or all pairs if there are none.

    For a statement that reads its own result, they are the pairs in different iterations.
    """

    def together(outer_only: bool) -> isl.Map:
        one, two = (
            coordinate_map(paths[s.name], s, names[:-1] if outer_only else names)
            for s in (writer, reader)
            for names in (_names(loop.way, paths[s.name]),)
        )
        return one.apply_range(two.reverse())

    if writer is reader:
        best = pairs - together(outer_only=False)
    else:
        best = pairs & together(outer_only=True)
    return pairs if best.is_empty() else best


def _flow(writer: Statement, reader: Statement, array: str) -> isl.Map:
    written = writer.writes.relation.intersect_domain(writer.domain)
    space = writer.domain.get_space().map_from_domain_and_range(reader.domain.get_space())
    pairs = isl.Map.empty(space)
    for read in reader.reads:
        if read.array == array == writer.writes.array:
            pairs = pairs | written.apply_range(
                read.relation.intersect_domain(reader.domain).reverse()
            )
    if writer is reader:
        pairs = pairs & isl.Map.lex_lt(writer.domain.get_space())
    return pairs
