"""Finds the statements that a tree of loops does not compute exactly once.

An instance is computed if each axis on the way to it reaches its index. A tree that only built-in
primitives made computes every instance once; a tree that a user's primitive made may not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from functools import reduce

from dtpoly.poly.axes import Path, finest, is_absolute, resolved, several
from dtpoly.poly.coordinates import unreached
from dtpoly.poly.dependences import Dependence, DependenceKind
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Model, Statement, by_name
from dtpoly.poly.order import Broken, ViolationKind, coordinate_map
from dtpoly.poly.spaces import affs, computing


def not_once(model: Model, paths: Iterable[Path]) -> Iterator[Broken]:
    """Find statements that stand nowhere or twice, and pairs of instances in one place."""
    with computing("what a tree computes"):
        found: dict[str, list[Path]] = {}
        inside: set[tuple[int, str, str]] = set()
        known = by_name(model)
        for path in paths:
            found.setdefault(path.statement, []).append(path)
            func = known[path.statement].func
            inside.update((path.kernel, axis.name, func) for axis in (*path.grid, *path.loops))
        for statement in model.statements:
            ways = found.get(statement.name, [])
            if len(ways) != 1:
                yield from _broken(statement, statement.domain.identity(), model.context)
                continue
            (way,) = ways
            given = _given(statement, way, inside)
            for pairs in (_nowhere(statement, way, given), _in_one_place(statement, way)):
                if pairs is not None:
                    yield from _broken(statement, pairs, model.context)


def unlaunched(model: Model, paths: Iterable[Path]) -> Iterator[Broken]:
    """Find statements that wait for the first block of a label that has no block: its size is 0."""
    with computing("what a tree computes"):
        known = by_name(model)
        for path in paths:
            statement = known[path.statement]
            axes = [
                axis for axis in several(finest(path.grid)) if axis.name not in statement.copies
            ]
            labels = [axis.index.plain for axis in axes]
            of = affs(statement.domain.get_space())
            for label in dict.fromkeys(labels):
                if label is not None and label not in statement.labels:
                    # A part of a label has no blocks where the label has none.
                    whole = model.parts[label].of if label in model.parts else label
                    none = statement.domain & of[model.size_of[whole]].eq_set(of[0])
                    yield from _broken(statement, none.identity(), model.context)


def unreached_by(statement: Statement, path: Path, paths: Iterable[Path], model: Model) -> isl.Set:
    """Return the instances that some axis on the path does not reach."""
    known = by_name(model)
    owners = {
        (one.kernel, axis.name, known[one.statement].func)
        for one in paths
        for axis in (*one.grid, *one.loops)
    }
    missing = _nowhere(statement, path, _given(statement, path, owners))
    return isl.Set.empty(statement.domain.get_space()) if missing is None else missing.domain()


def doubled(statement: Statement, path: Path) -> isl.Map:
    """Return the relation from an instance to its place, with the lanes.

    Two instances with one image are in one place.
    """
    names = tuple(axis.name for axis in (*path.walked, *several(path.lanes)))
    return coordinate_map(path, statement, names).intersect_domain(statement.domain)


def _given(statement: Statement, path: Path, inside: Set[tuple[int, str, str]]) -> Set[str]:
    """Return the axes whose value does not depend on the statement's own index.

    They are the axes for which the statement has a private copy, and the single axes of the Funcs
    that read it, which have only one tile.
    """
    owned = zip((*path.grid, *path.loops), path.owners, strict=True)
    return set(statement.copies) | {
        axis.name
        for axis, func in owned
        if axis.is_single and func != statement.func and (path.kernel, axis.name, func) in inside
    }


def _nowhere(statement: Statement, path: Path, given: Set[str]) -> isl.Map | None:
    """Return the instances that some axis does not reach, each paired with itself."""
    of = affs(statement.domain.get_space())
    found = [statement.domain & beyond for beyond in unreached(path, statement, of, given)]
    missing = [one for one in found if not one.is_empty()]
    return reduce(isl.Set.union, missing).identity() if missing else None


def _in_one_place(statement: Statement, path: Path) -> isl.Map | None:
    names = tuple(axis.name for axis in (*path.walked, *several(path.lanes)))
    # In most cases isl is not needed: every label has an axis with steps of one.
    named = path.named
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


def _broken(statement: Statement, pairs: isl.Map, context: isl.Set) -> Iterator[Broken]:
    name, array = statement.name, statement.writes.array
    pairs = pairs.intersect_params(context)
    if not pairs.is_empty():
        pair = Dependence(DependenceKind.OUTPUT, array, name, name, pairs)
        yield Broken(pair, ViolationKind.LOST, pairs)
