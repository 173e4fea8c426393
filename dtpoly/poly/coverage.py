"""Model and paths in, statements that a tree does not compute exactly once out.

A tree that only known primitives made always does; one that a user's primitive made may not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dtpoly.poly.axes import Path, axes_by_name, is_absolute, resolved, several, walked
from dtpoly.poly.dependences import Dependence, DependenceKind
from dtpoly.poly.lazy import isl
from dtpoly.poly.model import Model, Statement
from dtpoly.poly.order import Broken, ViolationKind, coordinate_map
from dtpoly.poly.spaces import computing


def not_once(model: Model, paths: Iterable[Path]) -> Iterator[Broken]:
    """Statements that stand nowhere or twice, and pairs of instances that are in one place."""
    with computing("what a tree computes"):
        found: dict[str, list[Path]] = {}
        for path in paths:
            found.setdefault(path.statement, []).append(path)
        for statement in model.statements:
            ways = found.get(statement.name, [])
            if len(ways) != 1:
                yield _broken(statement, statement.domain.identity(), model.context)
                continue
            pairs = _in_one_place(statement, ways[0])
            if pairs is not None and not pairs.intersect_params(model.context).is_empty():
                yield _broken(statement, pairs, model.context)


def _in_one_place(statement: Statement, path: Path) -> isl.Map | None:
    names = tuple(axis.name for axis in (*walked(path), *several(path.lanes)))
    # The common case, without isl: every label is an axis that goes in steps of one.
    named = axes_by_name(path)
    absolute = {
        axis.name: axis
        for axis in path.loops
        if is_absolute(axis, path)
        and (not axis.is_single or set(resolved(axis.origin, named).labels) <= set(names))
    }
    in_order = several(tuple(absolute.values()))
    exact = {axis.index.plain for axis in in_order if axis.step == 1 and axis.time is None}
    exact |= {
        lane.index.plain
        for lane in path.lanes
        if lane.step == 1
        and lane.origin.plain in absolute
        and absolute[lane.origin.plain].time is None
    }
    if set(statement.labels) <= exact:
        return None
    place = coordinate_map(path, statement, names).intersect_domain(statement.domain)
    if place.is_injective():
        return None
    same = place.apply_range(place.reverse())
    return same & isl.Map.lex_lt(statement.domain.get_space())


def _broken(statement: Statement, pairs: isl.Map, context: isl.Set) -> Broken:
    name, array = statement.name, statement.writes.array
    pairs = pairs.intersect_params(context)
    pair = Dependence(DependenceKind.OUTPUT, array, name, name, pairs)
    return Broken(pair, ViolationKind.LOST, pairs)
