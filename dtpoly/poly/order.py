"""Finds the dependences that a schedule breaks; if there are none, its order is proved.

A dependence is broken if, at some sizes, its target may run before its source or beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import cache, cached_property
from typing import TypeAlias

from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Path, finest, several
from dtpoly.poly.coordinates import aff_coordinates, at
from dtpoly.poly.dependences import Dependence, DependenceKind
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Model, Statement, by_name
from dtpoly.poly.spaces import affs, computing, set_space, to_multi_aff


class ViolationKind(StrEnum):
    """The ways in which a schedule breaks the algorithm."""

    CROSSES = "crosses program instances"
    LATE = "runs too late"
    RACE = "lanes race"
    RECOMPUTES = "recomputes in a loop"
    LOST = "is not computed exactly once"
    UNWRITTEN = "reads what nothing writes"
    AHEAD = "runs ahead of memory"


# The pairs of coordinates at which a source and its target must not be.
Wrong: TypeAlias = "Mapping[ViolationKind, isl.Map]"
# A function from a statement and some axes to the relation from an instance to its coordinates.
Coordinates: TypeAlias = "Callable[[str, tuple[str, ...]], isl.MultiAff]"


@dataclass(frozen=True, slots=True)
class Broken:
    """A dependence that a schedule does not respect, and the pairs of instances concerned."""

    dependence: Dependence
    kind: ViolationKind
    pairs: isl.Map


@dataclass(frozen=True, slots=True)
class Meeting:
    """The axes that two paths share, and which path comes first where they part (-1, 0, 1)."""

    grid: tuple[str, ...]
    time: tuple[str, ...]
    after: int


@dataclass(frozen=True)
class Move:
    """The coordinates of both ends of a dependence on the axes that they share, by name."""

    relation: isl.Map
    axes: tuple[str, ...]
    source: isl.MultiAff  # from an instance to its coordinates
    target: isl.MultiAff

    @cached_property
    def before(self) -> isl.Map:
        """Return the relation from a source to its coordinates."""
        return isl.Map.from_multi_aff(self.source)

    @cached_property
    def after(self) -> isl.Map:
        """Return the relation from a target to its coordinates."""
        return isl.Map.from_multi_aff(self.target)

    @cached_property
    def places(self) -> isl.Map:
        """Return the dependence as a relation between coordinates."""
        return self.relation.apply_domain(self.before).apply_range(self.after)

    @cached_property
    def still(self) -> tuple[int, ...]:
        """Return the numbers of the axes on which both ends of each pair are seen to be equal.

        Nothing is proved for this, so some such axes may be missing.
        """
        space = self.relation.get_space()
        source = self.source.pullback_multi_aff(isl.MultiAff.domain_map(space))
        target = self.target.pullback_multi_aff(isl.MultiAff.range_map(space))
        way = isl.Map.from_multi_aff(target.sub(source)).intersect_domain(self.relation.wrap())
        fixed = (
            way.plain_get_val_if_fixed(isl.dim_type.out, position)
            for position in range(len(self.axes))
        )
        return tuple(position for position, value in enumerate(fixed) if value.is_zero())


@dataclass(frozen=True, slots=True)
class OrderQuestion:
    """One question: which pairs of a dependence have their ends at places that are `wrong`.

    Without places, every pair is wrong.
    """

    dependence: Dependence
    kind: ViolationKind
    move: Move | None = None
    wrong: isl.Map | None = None

    def pairs(self, context: isl.Set) -> isl.Map:
        """Return the pairs that are broken; if there are any, they are a violation."""
        pairs = self.dependence.relation
        if self.move is not None and self.wrong is not None:
            before, after = self.move.before, self.move.after
            pairs = pairs & before.apply_range(self.wrong).apply_range(after.reverse())
        return pairs.intersect_params(context)


def broken(
    model: Model, paths: Mapping[str, Path], found: Iterable[Dependence]
) -> Iterator[Broken]:
    """Yield every dependence that is broken at some sizes, in the order of the dependences."""
    is_right = cache(_is_right)
    with computing("the order of a schedule"):
        for one in asked(model, paths, found):
            if (  # these tests are quick, and one of them suffices in most cases
                one.move is not None
                and one.wrong is not None
                and (is_right(one.wrong, one.move.still) or _are_apart(one.move.places, one.wrong))
            ):
                continue
            pairs = one.pairs(model.context)
            if not pairs.is_empty():
                yield Broken(one.dependence, one.kind, pairs)


def _are_apart(places: isl.Map, wrong: isl.Map) -> bool:
    """True if two relations have no pair in common; isl sees this more quickly piece by piece."""
    pieces = (piece.to_map() & wrong for piece in places.get_basic_maps())
    return all(piece.is_empty() for piece in pieces)


def _is_right(wrong: isl.Map, still: tuple[int, ...]) -> bool:
    """True if pairs whose ends agree on some axes cannot be at wrong places."""
    for position in still:
        wrong = wrong.equate(isl.dim_type.in_, position, isl.dim_type.out, position)
    return wrong.is_empty()


def asked(
    model: Model, paths: Mapping[str, Path], found: Iterable[Dependence]
) -> Iterator[OrderQuestion]:
    """Yield the questions about each dependence whose source is not launched before its target."""
    statements = by_name(model)
    on = coordinates_of(statements, paths)
    wrong = cache(_wrong)
    for dependence in merged(found):
        source, target = paths.get(dependence.source), paths.get(dependence.target)
        if source is None or target is None:
            continue  # a statement without a path has no instances, or is reported as lost
        if target.is_beside and source.kernel == target.kernel - 1:
            yield OrderQuestion(dependence, ViolationKind.CROSSES)
            continue
        if source.kernel < target.kernel:
            continue
        if source.kernel > target.kernel:
            yield OrderQuestion(dependence, ViolationKind.LATE)
            continue
        if dependence.kind is DependenceKind.REDUCTION and statements[dependence.source].is_atomic:
            continue
        met = meeting(source, target)
        key = (len(met.grid), len(met.time), met.after)
        yield from _asked(dependence, on, met, wrong(*key))


def _asked(
    dependence: Dependence, on: Coordinates, met: Meeting, wrong: Wrong
) -> Iterator[OrderQuestion]:
    """Yield the questions about a dependence within one kernel."""
    is_reduction = dependence.kind is DependenceKind.REDUCTION
    names = met.grid + met.time
    if not names and met.after < 0:
        return
    source, target = on(dependence.source, names), on(dependence.target, names)
    move = Move(dependence.relation, names, source, target)
    # All lanes of a tile are loaded before the first one is stored.
    is_one_tile = (
        dependence.kind is DependenceKind.IN_PLACE and dependence.source == dependence.target
    )
    for kind, relation in wrong.items():
        if is_reduction and kind is not ViolationKind.CROSSES:
            continue
        # A scan of lanes joins those of one tile in their order.
        is_joined = dependence.kind is DependenceKind.SCAN
        if (is_one_tile or is_joined) and kind is ViolationKind.RACE:
            continue
        yield OrderQuestion(dependence, kind, move, relation)


def meeting(one: Path, two: Path) -> Meeting:
    """Return the axes with several values that two paths of one kernel share, and how they part."""
    time: list[str] = []
    after = 0
    for mine, other in zip(one.steps, two.steps, strict=False):
        if isinstance(mine, int) or isinstance(other, int):
            if mine != other:
                assert isinstance(mine, int)
                assert isinstance(other, int)
                after = 1 if mine > other else -1
                break
        elif not mine.is_single:
            time.append(mine.name)
    grid = tuple(axis.name for axis in several(finest(one.grid)))
    return Meeting(grid, tuple(time), after)


def coordinate_map(path: Path, statement: Statement, names: tuple[str, ...]) -> isl.Map:
    """Return the relation from an instance to its coordinates on some axes."""
    on = coordinates_of({statement.name: statement}, {statement.name: path})
    return isl.Map.from_multi_aff(on(statement.name, names))


def coordinates_of(statements: Mapping[str, Statement], paths: Mapping[str, Path]) -> Coordinates:
    """Return a function that gives the coordinates of statements; each is computed once."""

    @cache
    def values(name: str) -> Mapping[str, isl.Aff]:
        of = affs(statements[name].domain.get_space())
        value = aff_coordinates(paths[name], statements[name], of)
        timed = {loop.name: loop.time for loop in paths[name].loops if loop.time is not None}
        known: dict[str | int, isl.Aff] = {n: of[0] for t in timed.values() for n in t.labels}
        known.update(value)
        return value | {n: at(time, of[0], known) for n, time in timed.items() if n in value}

    @cache
    def on(name: str, names: tuple[str, ...]) -> isl.MultiAff:
        space = statements[name].domain.get_space()
        value = values(name)
        return to_multi_aff(space, "", _dims(len(names)), [value[one] for one in names])

    return on


def _dims(count: int) -> list[str]:
    return [f"c{i}" for i in range(count)]


def _wrong(grid: int, time: int, after: int) -> Wrong:
    """Return the pairs of coordinates at which a source and its target must not be."""
    pair = set_space("", _dims(grid + time), ()).map_from_set()
    tied = isl.Map.universe(pair)
    for i in range(grid):
        tied = tied.equate(isl.dim_type.in_, i, isl.dim_type.out, i)
    crosses = isl.Map.universe(pair) - tied
    late = isl.Map.empty(pair)
    for i in range(grid, grid + time):
        late = late | tied.order_gt(isl.dim_type.in_, i, isl.dim_type.out, i)
        tied = tied.equate(isl.dim_type.in_, i, isl.dim_type.out, i)
    wrong = {ViolationKind.CROSSES: crosses} if grid else {}
    if after > 0:
        late = late | tied
    if time or after > 0:
        wrong[ViolationKind.LATE] = late
    if after == 0:
        wrong[ViolationKind.RACE] = tied
    return wrong


def merged(found: Iterable[Dependence]) -> tuple[Dependence, ...]:
    """Join the dependences between two statements, under the first of their kinds.

    Those of reductions and scans, and of what is replaced in place, are kept apart.
    """
    kept: dict[tuple[str, str, DependenceKind | None], Dependence] = {}
    apart = (DependenceKind.REDUCTION, DependenceKind.SCAN, DependenceKind.IN_PLACE)
    for one in found:
        key = (one.source, one.target, one.kind if one.kind in apart else None)
        before = kept.get(key)
        if before is None:
            kept[key] = one
        elif one.relation is before.relation or one.relation.plain_is_equal(before.relation):
            pass  # seen without a proof
        elif not one.relation.is_subset(before.relation):
            kept[key] = replace(before, relation=before.relation | one.relation)
    return tuple(kept.values())
