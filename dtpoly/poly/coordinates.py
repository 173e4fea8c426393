"""Computes the coordinates of each instance of a statement on every axis of the path to it.

The rule, `origin + step * floor((index - origin) / step)`, is written once. It serves both isl's
affine functions, which the checks use, and the numbers of a single instance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from typing import TypeVar

from dtpoly.algorithm.expressions import Affine, DividedIndex, division
from dtpoly.poly.axes import (
    ZERO,
    Axis,
    Named,
    Path,
    is_absolute,
    several,
)
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Statement
from dtpoly.poly.spaces import Affs

V = TypeVar("V", int, "isl.Aff")


def aff_coordinates(
    path: Path, statement: Statement, of: Affs, given: Affs | None = None
) -> dict[str, isl.Aff]:
    """Return the coordinate of each axis with several values, as a function of the instance.

    If `given` has the coordinates of some axes, the others are computed from these.
    """
    return coordinates(path, statement, of, _aff_tile, given)


def int_coordinates(
    path: Path, statement: Statement, instance: Mapping[str, int]
) -> dict[str, int]:
    """Return the coordinates of one instance, which is given by its dims."""
    of: dict[str | int, int] = {0: 0}
    of.update(instance)
    return coordinates(path, statement, of, _int_tile)


def coordinates(
    path: Path,
    statement: Statement,
    of: Mapping[str | int, V],
    tile: Callable[[V, int], V],
    given: Mapping[str | int, V] | None = None,
) -> dict[str, V]:
    """Return the coordinate of each axis with several values.

    `of` gives the value of each dim, and the zero as 0; `tile` rounds a value down to a step.
    """
    start, value = _places(path, statement, of, tile, given or {})
    result: dict[str, V] = {}
    for axis in path.walked:
        result[axis.name] = value(axis)
        # A user's primitive may have moved an axis after copies were made for each of its values.
        is_relative = axis.name in statement.relative
        if is_absolute(axis, path) is is_relative:
            offset = start(axis.origin)
            shifted = result[axis.name]
            result[axis.name] = shifted + offset if is_relative else shifted - offset
    for axis in several(path.lanes):
        result[axis.name] = value(axis) - start(axis.origin)
    return result


def unreached(path: Path, statement: Statement, of: Affs, given: Set[str]) -> Iterator[isl.Set]:
    """Yield the instances that an axis does not reach: before its origin, or beyond its extent.

    `given` axes do not depend on the statement's own index. An axis is left out if its definition
    shows that it reaches everything.
    """
    start, _ = _places(path, statement, of, _aff_tile, {})
    for axis in path.named.values():
        is_given = axis.name in given or not applies(axis, statement, axis in path.grid)
        if is_given or _reaches_all(axis, path, statement):
            continue
        offset = at(axis.index, of[0], of) - start(axis.origin)
        yield offset.lt_set(of[0])
        if axis.extent is not None:
            yield offset.ge_set(of[0] + axis.extent)


def _reaches_all(axis: Axis, path: Path, statement: Statement) -> bool:
    """True if an axis walks a whole label, or all of a tile of another axis."""
    if axis.origin == ZERO:
        return axis.index.plain is not None and axis.extent is None
    outer = path.named.get(axis.origin.plain or "")
    if outer is None or outer.name in statement.copies or outer.index != axis.index:
        return False
    sizes = [size for size in (outer.step, outer.extent) if size is not None]
    is_wide = axis.extent is None or (bool(sizes) and axis.extent >= min(sizes))
    return is_wide and applies(outer, statement, outer in path.grid)


def _places(
    path: Path,
    statement: Statement,
    of: Mapping[str | int, V],
    tile: Callable[[V, int], V],
    given: Mapping[str | int, V],
) -> tuple[Callable[[Affine], V], Callable[[Axis], V]]:
    """Return two functions: from an origin to its value, and from an axis to its coordinate."""
    named = path.named
    grid = {axis.name for axis in path.grid}
    known: dict[str | int, V] = dict(given)
    known |= {name: of[name] for name in statement.copies}

    def start(origin: Affine) -> V:
        for name in origin.labels:
            if name not in known:
                # A user's primitive may have removed the axis that another one divides.
                known[name] = value(named[name]) if name in named else of[0]
        return at(origin, of[0], known)

    def value(axis: Axis) -> V:
        if axis.name not in known:
            known[axis.name] = tile_of(axis)
        return known[axis.name]

    def tile_of(axis: Axis) -> V:
        # An instance that lacks the label runs once, at the start, whatever other instances need
        # it.
        if axis.is_single or not applies(axis, statement, axis.name in grid):
            return start(axis.origin)
        index = at(axis.index, of[0], of)
        if axis.step is None or axis.step == 1:
            return index
        origin = start(_aligned(axis, named, statement))
        return origin + tile(index - origin, axis.step)

    return start, value


def at(index: Affine, zero: V, values: Mapping[str | int, V]) -> V:
    """Return the value of an index, given the values of its names."""
    # Most indices are one name alone, and then there is nothing to compute.
    total = zero + index.constant if index.constant or not index.terms else None
    for term, coefficient in index.terms:
        value = values[term] if isinstance(term, str) else _divided(division(term), zero, values)
        value = value if coefficient == 1 else value * coefficient
        total = value if total is None else total + value
    return zero if total is None else total


def _divided(term: DividedIndex, zero: V, values: Mapping[str | int, V]) -> V:
    """Return a quotient, rounded down, or a remainder."""
    inner = at(term.inner, zero, values)
    quotient = _quotient(inner, term.divisor)
    return quotient if term.operator == "//" else inner - quotient * term.divisor


def _quotient(value: V, divisor: int) -> V:
    if isinstance(value, int):
        return value // divisor
    return value.scale_down_val(isl.Val(divisor)).floor()


def applies(axis: Axis, statement: Statement, is_grid: bool) -> bool:
    """True if the statement has the labels of the index; a grid axis needs labels of its Func."""
    labels = statement.free if is_grid else statement.labels
    return set(axis.index.labels) <= set(labels)


def _aligned(axis: Axis, named: Named, statement: Statement) -> Affine:
    """Return the outermost origin that gives the same tiles.

    Tiles of 16 within tiles of 128 are just tiles of 16, so one floor suffices instead of two.
    """
    outer = named.get(axis.origin.plain or "")
    if outer is None or outer.name in statement.copies or outer.index != axis.index:
        return axis.origin
    if axis.step is None or outer.step is None or outer.step % axis.step:
        return axis.origin
    return _aligned(outer, named, statement)


def _aff_tile(value: isl.Aff, step: int) -> isl.Aff:
    return value.scale_down_val(isl.Val(step)).floor().scale_val(isl.Val(step))


def _int_tile(value: int, step: int) -> int:
    return value // step * step
