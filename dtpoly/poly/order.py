"""Dependences and paths in, the pairs that a schedule breaks out; none: proved for all sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import TypeAlias

from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Path, finest, several
from dtpoly.poly.coordinates import aff_coordinates, at
from dtpoly.poly.dependences import Dependence, DependenceKind
from dtpoly.poly.lazy import isl
from dtpoly.poly.model import Model, Statement, by_name
from dtpoly.poly.spaces import affs, computing, set_space, to_map


class ViolationKind(StrEnum):
    """How a schedule breaks the algorithm."""

    CROSSES = "crosses program instances"
    LATE = "runs too late"
    RACE = "lanes race"
    RECOMPUTES = "recomputes in a loop"
    LOST = "is not computed exactly once"
    UNWRITTEN = "reads what nothing writes"
    AHEAD = "runs ahead of memory"


# Pairs of coordinates at which a source and its target must not be.
Wrong: TypeAlias = "Mapping[ViolationKind, isl.Map]"


@dataclass(frozen=True, slots=True)
class Broken:
    """One dependence that a schedule does not respect, and for which instances."""

    dependence: Dependence
    kind: ViolationKind
    pairs: isl.Map


@dataclass(frozen=True, slots=True)
class Meeting:
    """What two paths share: axes by name, then which comes first where they part (-1, 0, 1)."""

    grid: tuple[str, ...]
    time: tuple[str, ...]
    after: int


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: which pairs of a dependence have their ends at places that are `wrong`.

    `before` and `after` say where source and target are on the axes that they share, by name;
    `moved` is the dependence between such places. Without places, every pair is wrong.
    """

    dependence: Dependence
    kind: ViolationKind
    axes: tuple[str, ...] = ()
    before: isl.Map | None = None
    after: isl.Map | None = None
    moved: isl.Map | None = None
    wrong: isl.Map | None = None

    def pairs(self, context: isl.Set) -> isl.Map:
        """The pairs that are broken: none, or a violation."""
        pairs = self.dependence.relation
        if self.before is not None and self.after is not None and self.wrong is not None:
            pairs = pairs & self.before.apply_range(self.wrong).apply_range(self.after.reverse())
        return pairs.intersect_params(context)


def broken(
    model: Model, paths: Mapping[str, Path], found: tuple[Dependence, ...]
) -> tuple[Broken, ...]:
    """Every dependence that is broken at some sizes."""
    with computing("the order of a schedule"):
        result: list[Broken] = []
        for one in asked(model, paths, found):
            places = None if one.moved is None or one.wrong is None else one.moved & one.wrong
            if places is not None and places.is_empty():  # quick, and the common case
                continue
            pairs = one.pairs(model.context)
            if not pairs.is_empty():
                result.append(Broken(one.dependence, one.kind, pairs))
        return tuple(result)


def asked(
    model: Model, paths: Mapping[str, Path], found: tuple[Dependence, ...]
) -> Iterator[Asked]:
    """What there is to ask of each dependence; nothing of one whose source has its kernel first."""
    statements = by_name(model)
    wrong: dict[tuple[int, int, int], Wrong] = {}
    for dependence in _merged(found):
        source, target = paths.get(dependence.source), paths.get(dependence.target)
        if source is None or target is None:
            continue  # what stands nowhere has no instances, or is reported as lost
        if source.kernel < target.kernel:
            continue
        if source.kernel > target.kernel:
            yield Asked(dependence, ViolationKind.LATE)
            continue
        met = meeting(source, target)
        key = (len(met.grid), len(met.time), met.after)
        if key not in wrong:
            wrong[key] = _wrong(*key)
        yield from _asked(dependence, statements, paths, met, wrong[key])


def _asked(
    dependence: Dependence,
    statements: Mapping[str, Statement],
    paths: Mapping[str, Path],
    met: Meeting,
    wrong: Wrong,
) -> Iterator[Asked]:
    """What there is to ask of a dependence within one kernel."""
    source, target = statements[dependence.source], statements[dependence.target]
    is_reduction = dependence.kind is DependenceKind.REDUCTION
    if is_reduction and source.is_atomic:
        return
    names = met.grid + met.time
    if not names and met.after < 0:
        return
    before = coordinate_map(paths[source.name], source, names)
    after = coordinate_map(paths[target.name], target, names)
    moved = dependence.relation.apply_domain(before).apply_range(after)
    for kind, relation in wrong.items():
        if is_reduction and kind is not ViolationKind.CROSSES:
            continue
        yield Asked(dependence, kind, names, before, after, moved, relation)


def meeting(one: Path, two: Path) -> Meeting:
    """The axes with several values that two paths of one kernel share, and how they part."""
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
    """`instance -> coordinates of some axes`."""
    space = statement.domain.get_space()
    of = affs(space)
    value = aff_coordinates(path, statement, of)
    timed = {loop.name: loop.time for loop in path.loops if loop.time is not None}
    known: dict[str | int, isl.Aff] = {n: of[0] for t in timed.values() for n in t.labels}
    known.update(value)
    values = [at(timed[n], of[0], known) if n in timed else value[n] for n in names]
    return to_map(space, "", _dims(len(names)), values)


def _dims(count: int) -> list[str]:
    return [f"c{i}" for i in range(count)]


def _wrong(grid: int, time: int, after: int) -> Wrong:
    """Pairs of coordinates at which a source and its target must not be."""
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


def _merged(found: tuple[Dependence, ...]) -> tuple[Dependence, ...]:
    """One a pair of statements, under the first of its kinds; reduction pairs apart."""
    merged: dict[tuple[str, str, bool], Dependence] = {}
    for one in found:
        key = (one.source, one.target, one.kind is DependenceKind.REDUCTION)
        before = merged.get(key)
        if before is None:
            merged[key] = one
        elif one.relation.plain_is_equal(before.relation):
            pass  # seen without a proof
        elif not one.relation.is_subset(before.relation):
            merged[key] = replace(before, relation=before.relation | one.relation)
    return tuple(merged.values())
