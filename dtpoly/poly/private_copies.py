"""Computes which part of a private copy one iteration computes, and which part repeats.

`explain` shows both to the user.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from dtpoly.algorithm.expressions import Affine, division
from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis, Path
from dtpoly.poly.footprint import ranges
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Model, Statement
from dtpoly.poly.recompute import repeated_by_programs
from dtpoly.poly.spaces import affs, computing, dim_name, named_dims


@dataclass(frozen=True, slots=True)
class NeededCount:
    """The number of indices of a label that one iteration computes: all, or at most `count`.

    `advance` is how far these indices move from one iteration to the next of the axes in
    `moves_with`. It is None if they do not move, or in no regular way.
    """

    label: str
    is_whole: bool
    count: int | None
    advance: int | None
    moves_with: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CopyRegion:
    """The part of a copy that one iteration computes.

    `is_box` is true if the part is a box: a range for each label, with all combinations of these.
    """

    needed: tuple[NeededCount, ...]
    is_box: bool


class Repetition(StrEnum):
    """The number of instances that iterations which differ on one axis have in common."""

    NONE = "none"
    SOME = "some"
    ALL = "all"


def has_place(copy: Statement, path: Path) -> bool:
    """True if the path to a copy goes through all axes to which the copy is private."""
    return set(copy.copies) <= path.named.keys()


def region(copy: Statement, axes: Mapping[str, Axis], model: Model) -> CopyRegion:
    """Return the part of a copy that one iteration computes; `axes` are those on the way to it."""
    with computing("what an iteration computes"):
        domain = copy.domain.intersect_params(model.context)
        start, count = len(copy.copies), len(copy.labels)
        place = tuple(axes[name] for name in copy.copies)
        instances = isl.Map.from_range(domain.reset_tuple_id()).move_dims(
            isl.dim_type.in_, 0, isl.dim_type.out, 0, start
        )
        span = ranges(copy, instances, place)
        anything = _freed(domain, start, count)
        box, needed = anything, list[NeededCount]()
        of = affs(domain.get_space())
        for at, label in enumerate(copy.labels):
            along = _freed(_freed(domain, start, at), start + at + 1, count - at - 1)
            box = box & _filled(along, start + at)
            size = of[0] if label in model.parts else of[model.size_of[label]]
            whole = anything & of[label].ge_set(of[0]) & of[label].lt_set(size)
            is_whole = label not in model.parts and whole.is_subset(along)
            origin, extent = span[label].origin, span[label].extent
            advance, moves_with = _advance(origin, axes), frozenset(origin.labels)
            needed.append(NeededCount(label, is_whole, extent, advance, moves_with))
        return CopyRegion(tuple(needed), box.is_equal(domain))


def _advance(origin: Affine, axes: Mapping[str, Axis]) -> int | None:
    """Return the least distance by which an origin moves, if it moves and that is regular."""
    moves: list[int] = []
    for term, coefficient in origin.terms:
        if isinstance(term, str):
            moves.append(abs(coefficient) * (axes[term].step or 1))
            continue
        quotient = division(term)
        inner = _advance(quotient.inner, axes)
        if inner is None or inner % quotient.divisor or quotient.operator == "%":
            return None
        moves.append(abs(coefficient) * inner // quotient.divisor)
    return min(moves, default=None)


def repetition(copy: Statement, axes: Collection[str]) -> Repetition:
    """Return how some axes, all those over one label, repeat a copy."""
    if not any(repeated_by_programs(copy, axis) for axis in axes):
        return Repetition.NONE
    with computing("what is computed again"):
        alike = copy.domain
        for axis in axes:
            alike = _freed(alike, copy.dims.index(axis), 1)
        places = _freed(copy.domain, len(copy.copies), len(copy.labels))
        if not (alike & places).is_equal(copy.domain):
            return Repetition.SOME
        # An axis that follows from other axes repeats nothing by itself.
        others = [dim for dim in copy.dims if dim not in axes]
        is_told = _projected(copy.domain, others).is_injective()
        return Repetition.SOME if is_told else Repetition.ALL


def _projected(domain: isl.Set, kept: Collection[str]) -> isl.Map:
    """Return the relation from an instance to those of its dims that are kept."""
    result = domain.identity()
    space = domain.get_space()
    for position in reversed(range(domain.dim(isl.dim_type.set))):
        if dim_name(space, isl.dim_type.set, position) not in kept:
            result = result.project_out(isl.dim_type.out, position, 1)
    return result


def _filled(of: isl.Set, position: int) -> isl.Set:
    """Return the set with all points between two of its points along a dim."""
    space = of.get_space().map_from_set()
    beside = isl.Map.universe(space)
    for other in range(of.dim(isl.dim_type.set)):
        if other != position:
            beside = beside.equate(isl.dim_type.in_, other, isl.dim_type.out, other)
    up = beside.order_le(isl.dim_type.in_, position, isl.dim_type.out, position)
    return of.apply(up) & of.apply(up.reverse())


def _freed(of: isl.Set, first: int, count: int) -> isl.Set:
    """Return the set with any value for some of its dims."""
    space = of.get_space()
    names = [dim_name(space, isl.dim_type.set, i) for i in range(of.dim(isl.dim_type.set))]
    name = of.get_tuple_name() or ""
    of = of.project_out(isl.dim_type.set, first, count)
    return named_dims(of.insert_dims(isl.dim_type.set, first, count), name, names)
