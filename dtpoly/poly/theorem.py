"""Prints each set that must be empty for a fusion to be legal, as text for isl.

These are the sets that the checker asks about, made of the same relations. So a user can ask isl
without dtpoly.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from enum import StrEnum

from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Path, finest, several
from dtpoly.poly.coverage import doubled, unreached_by
from dtpoly.poly.dependences import Dependence, DependenceKind
from dtpoly.poly.isl_text import plain_text
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Model, Statement, by_name
from dtpoly.poly.order import Broken, ViolationKind, asked, coordinate_map
from dtpoly.poly.pipelined_reads import run_ahead
from dtpoly.poly.recompute import alike, told_apart
from dtpoly.poly.spaces import affs, computing, to_map
from dtpoly.poly.unwritten import reads_of_copies


class SetConstruction(StrEnum):
    """The way in which a set is made from its parts."""

    BROKEN = "broken"  # pairs, the coordinates of both ends, and the places that are wrong
    ALIKE = "alike"  # a relation: the pairs of instances with one image
    UNCOVERED = "uncovered"  # readers, what they read, what is written, and what that is a copy of
    GIVEN = "given"  # the set itself


@dataclass(frozen=True, slots=True)
class FusionClaim:
    """A set that must be empty: what it is about, and its parts as text for isl.

    `found` is the violation that the set contains. If it is None, the claim is proved.
    """

    kind: ViolationKind
    source: str  # the names of statements
    target: str
    made: SetConstruction
    parts: tuple[str, ...]
    dependence: DependenceKind | None = None
    axes: tuple[str, ...] = ()  # the axes by which both ends are told apart
    array: str = ""  # the array that is read
    found: Broken | None = field(default=None, compare=False)


def claims(
    lifted: Model,
    model: Model,
    ways: Mapping[str, Path],
    found: tuple[Dependence, ...],
    copies: Collection[str],
    grid: frozenset[str],
) -> Iterator[FusionClaim]:
    """Yield every question about some copies in a kernel whose programs `grid` tells apart."""
    with computing("what a fusion must not break"):
        yield from _ordered(model, ways, found, copies)
        yield from _covered(lifted, model, copies)
        for name in copies:
            yield from _once(by_name(model)[name], ways, model)
            yield from _again(by_name(model)[name], grid, model)


def _ordered(
    model: Model,
    ways: Mapping[str, Path],
    found: tuple[Dependence, ...],
    copies: Collection[str],
) -> Iterator[FusionClaim]:
    mine = tuple(one for one in found if one.source in copies or one.target in copies)
    for one in asked(model, ways, mine):
        pairs = one.pairs(model.context)
        dependence = one.dependence
        parts = [one.dependence.relation]
        if one.move is not None and one.wrong is not None:
            parts += [one.move.before, one.move.after, one.wrong]
        yield FusionClaim(
            *(one.kind, dependence.source, dependence.target),
            SetConstruction.BROKEN if len(parts) > 1 else SetConstruction.GIVEN,
            _texts(model, parts),
            *(dependence.kind, one.move.axes if one.move else (), dependence.array),
            None if pairs.is_empty() else Broken(dependence, one.kind, pairs),
        )


def _covered(lifted: Model, model: Model, copies: Collection[str]) -> Iterator[FusionClaim]:
    known = by_name(model)
    arrays = {known[name].writes.array for name in copies}
    for one in reads_of_copies(lifted, model):
        if one.array not in arrays:
            continue
        left = one.uncovered(model.context)
        parts: list[isl.Set | isl.Map] = [one.readers, one.read, one.written]
        if one.original is not None and one.defined is not None:
            parts += [one.original, one.defined]
        broken = _itself(ViolationKind.UNWRITTEN, known[one.statement], left.identity(), one.array)
        yield FusionClaim(
            *(ViolationKind.UNWRITTEN, one.statement, one.statement, SetConstruction.UNCOVERED),
            _texts(model, parts),
            array=one.array,
            found=None if left.is_empty() else broken,
        )


def _once(copy: Statement, ways: Mapping[str, Path], model: Model) -> Iterator[FusionClaim]:
    """Yield the claims that no instance of a copy is left out and that no two are in one place."""
    if copy.name not in ways:
        return
    path = ways[copy.name]
    kind, lost = ViolationKind.LOST, unreached_by(copy, path, tuple(ways.values()), model)
    place = doubled(copy, path)
    for made, part, bad in (
        (SetConstruction.GIVEN, lost, lost.identity()),
        (SetConstruction.ALIKE, place, alike(copy, place)),
    ):
        pairs = bad.intersect_params(model.context)
        broken = None if pairs.is_empty() else _itself(kind, copy, pairs, copy.writes.array)
        yield FusionClaim(kind, copy.name, copy.name, made, _texts(model, [part]), found=broken)


def _again(copy: Statement, grid: frozenset[str], model: Model) -> Iterator[FusionClaim]:
    """Yield the claim that no two iterations of one program compute the same instance."""
    same = told_apart(copy, grid)
    if same is None:
        return
    kind = ViolationKind.RECOMPUTES
    pairs = alike(copy, same).intersect_params(model.context)
    broken = None if pairs.is_empty() else _itself(kind, copy, pairs, copy.writes.array)
    yield FusionClaim(
        kind, copy.name, copy.name, SetConstruction.ALIKE, _texts(model, [same]), found=broken
    )


def ahead(model: Model, ways: Mapping[str, Path], copies: Collection[str]) -> Iterator[FusionClaim]:
    """Yield the claims about copies that pass through memory in a loop whose loads run ahead."""
    for one in run_ahead(model, ways):
        if one.dependence.source in copies or one.dependence.target in copies:
            yield FusionClaim(
                *(one.kind, one.dependence.source, one.dependence.target),
                *(SetConstruction.GIVEN, _texts(model, [one.pairs]), one.dependence.kind),
                found=one,
            )


def _itself(kind: ViolationKind, one: Statement, pairs: isl.Map, array: str) -> Broken:
    dependence = Dependence(DependenceKind.OUTPUT, array, one.name, one.name, pairs)
    return Broken(dependence, kind, pairs)


def _texts(model: Model, parts: Iterable[isl.Set | isl.Map]) -> tuple[str, ...]:
    return tuple(plain_text(part.gist_params(model.context)) for part in parts)


def needed_text(copy: Statement, model: Model) -> str:
    """Print the relation from an iteration to the instances that it computes."""
    with computing("what an iteration needs"):
        domain = copy.domain.gist_params(model.context)
        pairs = isl.Map.from_range(domain.reset_tuple_id())
        pairs = pairs.move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, len(copy.copies))
        return plain_text(pairs.set_tuple_name(isl.dim_type.out, copy.name))


def domain_text(statement: Statement, model: Model) -> str:
    """Print the instances of a statement."""
    with computing("the instances of a statement"):
        return plain_text(statement.domain.gist_params(model.context))


def relation_text(one: Dependence, model: Model) -> str:
    """Print the pairs of a dependence."""
    with computing("a dependence"):
        return plain_text(one.relation.gist_params(model.context))


def schedule_text(path: Path, statement: Statement, model: Model) -> tuple[tuple[str, ...], str]:
    """Print the names of a statement's coordinates, and the place of each of its instances."""
    with computing("the place of a statement"):
        axes = (*several(finest(path.grid)), *several(path.loops), *several(path.lanes))
        names = tuple(axis.name for axis in axes)
        on_axes = coordinate_map(path, statement, names).intersect_domain(statement.domain)
        of = affs(on_axes.get_space().range())
        at = {name: of[f"c{position}"] for position, name in enumerate(names)}
        what, values = ["kernel"], [of[0] + path.kernel]
        for word, some in (
            ("block of", several(finest(path.grid))),
            ("loop", path.steps),
            ("lane", several(path.lanes)),
        ):
            for axis in some:
                if isinstance(axis, int):
                    what.append("position")
                    values.append(of[0] + axis)
                elif not axis.is_single:
                    what.append(f"{word} {axis.label}")
                    values.append(at[axis.name])
        dims = [f"t{position}" for position in range(len(values))]
        layout = to_map(on_axes.get_space().range(), "", dims, values)
        place = on_axes.apply_range(layout)
        return tuple(what), plain_text(place.gist_params(model.context))
