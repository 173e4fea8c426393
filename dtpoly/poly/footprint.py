"""Computes which instances of a Func each iteration of a place needs, as a range for each label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from math import gcd

from dtpoly.algorithm.expressions import Affine, divided
from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis, Path, is_absolute, resolved
from dtpoly.poly.coordinates import aff_coordinates
from dtpoly.poly.index_ranges import Range, Use, covering, may_be_skew
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Role, Statement
from dtpoly.poly.scan_steps import follows, needed_steps
from dtpoly.poly.spaces import (
    affs,
    affs_of_pairs,
    named_dims,
    param_names,
    plainer,
    set_space,
    to_aff,
    to_map,
)


@dataclass(frozen=True, slots=True)
class NeededInstances:
    """For each statement the relation from an iteration to the instances that its readers need.

    The scans that begin once, with the accumulators in `carried`, go on from one iteration of the
    last axis to the next. What they begin with is needed before the first one.
    If reads are skew, these are more than the readers need: a box around them. isl finds no loops
    over exactly those instances in any reasonable time.
    """

    instances: Mapping[str, isl.Map]
    is_boxed: bool
    carried: frozenset[str] = frozenset()


def needed(
    mine: tuple[Statement, ...],
    readers: tuple[tuple[Statement, Path], ...],
    place: tuple[Axis, ...],
    *,
    may_follow: bool = False,
) -> NeededInstances:
    """Find which instances of each statement in `mine` the readers need in an iteration.

    The statements in `mine` are also readers of each other. If they may, scans follow the last axis
    of the place; other ones need all steps that come before.
    """
    own = {s.writes.array for s in mine}
    elements: dict[str, isl.Map] = {}

    def need(array: str, relation: isl.Map) -> None:
        elements[array] = elements[array] | relation if array in elements else relation

    skew = _skew(own, readers, place)
    for reader, path in readers:
        iteration = iteration_map(reader, path, place).reverse()
        for read in reader.reads:
            if read.array in own and read.array not in skew:
                need(read.array, iteration.apply_range(read.relation))
    for array, uses in skew.items():
        need(array, covering(uses, tuple(axis.name for axis in place)))
    found: dict[str, isl.Map] = {}
    carried: set[str] = set()
    for statement in reversed(mine):
        writes = statement.writes.relation.intersect_domain(statement.domain)
        instances = elements[statement.writes.array].apply_range(writes.reverse()).coalesce()
        scan = statement.scan
        if scan is not None and may_follow and not skew and follows(statement, scan, instances):
            carried.add(scan.carry)
        elif scan is not None:
            instances = needed_steps(statement, scan, instances)
        if statement.role is Role.INIT and statement.writes.array in carried:
            instances = instances.project_out(isl.dim_type.in_, len(place) - 1, 1)
        found[statement.name] = instances
        for read in statement.reads:
            if read.array in own and read.array != statement.writes.array:
                need(read.array, instances.apply_range(read.relation))
    is_boxed = bool(skew) or any(reader.is_boxed for reader, _ in readers)
    return NeededInstances(found, is_boxed, frozenset(carried))


def _skew(
    own: Set[str], readers: tuple[tuple[Statement, Path], ...], place: tuple[Axis, ...]
) -> dict[str, list[Use]]:
    """Return all reads of each array that has a skew read.

    Private copies of arrays are left out.
    """
    reads = [(read, *one) for one in readers for read in one[0].reads if read.array in own]
    plain = {r.array for r, *_ in reads if len(r.indices) == r.relation.dim(isl.dim_type.out)}
    skew = {read.array for read, *_ in reads if may_be_skew(read)} & plain
    found: dict[str, list[Use]] = {array: [] for array in skew}
    for read, reader, path in reads:
        if read.array in skew:
            iteration = iteration_map(reader, path, place).reverse()
            domain = iteration.intersect_range(read.relation.domain()).domain()
            span = _ranges(reader.labels, iteration, place, len(reader.copies))
            found[read.array].append(Use(domain, read, span))
    return {array: uses for array, uses in found.items() if any(use.is_skew for use in uses)}


def iteration_map(reader: Statement, path: Path, place: tuple[Axis, ...]) -> isl.Map:
    """Return the relation `instance -> iteration`: the coordinates of the axes of a place."""
    space = reader.domain.get_space()
    value = aff_coordinates(path, reader, affs(space))
    names = [axis.name for axis in place]
    result = to_map(space, "", names, [value[name] for name in names])
    # isl does not find these facts: a multiple of 16 that is more than -16 is not negative.
    target = result.get_space().range()
    of = affs(target)
    inside = isl.Set.universe(target)
    named = path.named
    for axis in place:
        origin = resolved(axis.origin, named)
        # An axis that lies outside the axis that it divides counts from there.
        if axis.index.plain is None or not is_absolute(axis, path):
            continue
        if not set(origin.labels) <= set(names):
            continue
        start = to_aff(origin, of)
        inside = inside & of[axis.name].ge_set(start)
        outer = named.get(origin.plain or "")
        if outer is None or outer.index != axis.index or outer.name in reader.copies:
            continue
        if axis.step and outer.step and outer.step % axis.step:
            # The last tile of a block is short if, say, tiles of 2 divide blocks of 3. This says so
            # without rounding twice.
            step = isl.Val(axis.step)
            offset = of[axis.name] - start
            whole = offset.scale_down_val(step).floor().scale_val(step)
            inside = inside & offset.eq_set(whole) & offset.lt_set(of[0] + outer.step)
            result = result & _tile_around(space, axis, names)
    return plainer(result.intersect_domain(reader.domain).intersect_range(inside))


def _tile_around(space: isl.Space, axis: Axis, names: list[str]) -> isl.Map:
    """Return the relation `instance -> iteration` with the index inside the tile of the axis."""
    at = names.index(axis.name)
    target = set_space("", names, param_names(space)).align_params(space)
    pair = isl.Map.universe(space.map_from_domain_and_range(target)).wrap()
    flat = affs_of_pairs(pair)
    index = flat[0] + axis.index.constant
    for label, coefficient in axis.index.linear:
        position = space.find_dim_by_name(isl.dim_type.set, label)
        index = index + flat[position + 1] * coefficient
    tile = flat[space.dim(isl.dim_type.set) + at + 1]
    inside = index.ge_set(tile) & index.lt_set(tile + (axis.step or 1))
    return inside.unwrap()


def ranges(value: Statement, instances: isl.Map, place: tuple[Axis, ...]) -> dict[str, Range]:
    """Return the range of each label of a Func's value."""
    return _ranges(value.labels, instances, place)


def _ranges(
    labels: tuple[str, ...], instances: isl.Map, place: tuple[Axis, ...], first: int = 0
) -> dict[str, Range]:
    """Return the range of each of these labels; `first` is the dim of the first one."""
    found: dict[str, Range] = {}
    count = instances.dim(isl.dim_type.out)
    for position, label in enumerate(labels, first):
        along = instances.project_out(isl.dim_type.out, position + 1, count - position - 1)
        along = along.project_out(isl.dim_type.out, 0, position).reset_tuple_id(isl.dim_type.out)
        found[label] = _range(along, place)
    return found


def _range(along: isl.Map, place: tuple[Axis, ...]) -> Range:
    """Return the smallest index as an affine function of the iteration, and the largest span."""
    names = tuple(axis.name for axis in place)
    bounds = tuple(dict.fromkeys(_lower_bounds(along, place)))
    # A quotient is a bound where indices are read at one, and where no other bound is known.
    plain = tuple(one for one in bounds if not one.divisions)
    found = _best(along, plain, names) or _best(along, bounds, names)
    return found or Range(Affine(), None)


def _best(along: isl.Map, bounds: tuple[Affine, ...], names: tuple[str, ...]) -> Range | None:
    """Return the range from one of these bounds on, or None if none of them has an end."""
    is_one = along.n_basic_map() == 1  # so that each bound holds for all of it
    for bound in bounds:
        is_needed = _graph(bound, along, names).is_subset(along)
        if is_needed and (is_one or _holds(along, bound, names)):
            return Range(bound, _span(along, bound, names))
    # At the edge of a label the bound lies below the first index. Tiles may start there all the
    # same.
    known = [
        (bound, span)
        for bound in bounds
        if (span := _span(along, bound, names)) is not None and _holds(along, bound, names)
    ]
    best = min(known, key=lambda one: one[1], default=None)
    return Range(*best) if best else None


def _span(along: isl.Map, lowest: Affine, names: tuple[str, ...]) -> int | None:
    flat = named_dims(along.wrap().flatten(), "", (*names, "index"))
    of = affs(flat.get_space())
    span = flat.max_val(of["index"] - to_aff(lowest, of))
    return span.to_python() + 1 if span.is_int() else None


def _holds(along: isl.Map, lowest: Affine, names: tuple[str, ...]) -> bool:
    """True if no index lies below a bound; the bound of one read need not be one of all reads."""
    flat = named_dims(along.wrap().flatten(), "", (*names, "index"))
    of = affs(flat.get_space())
    return (flat & of["index"].lt_set(to_aff(lowest, of))).is_empty()


def _graph(bound: Affine, along: isl.Map, names: tuple[str, ...]) -> isl.Map:
    domain = along.get_space().domain()
    local = isl.LocalSpace.from_space(domain)
    of: Mapping[str | int, isl.Aff] = {0: isl.Aff.zero_on_domain(local)} | {
        name: isl.Aff.var_on_domain(local, isl.dim_type.set, i) for i, name in enumerate(names)
    }
    return isl.Map.from_aff(to_aff(bound, of)).intersect_domain(along.domain())


def _lower_bounds(along: isl.Map, place: tuple[Axis, ...]) -> Iterator[Affine]:
    """Yield the bound of each constraint of the form `index >= affine(iteration)`."""
    for basic in along.get_basic_maps():
        for one in basic.get_constraints():
            scale = one.get_coefficient_val(isl.dim_type.out, 0).to_python()
            if scale == 0 or (scale < 0 and not one.is_equality()):
                continue
            kinds = (isl.dim_type.param, isl.dim_type.div)
            if any(one.dim(kind) and one.involves_dims(kind, 0, one.dim(kind)) for kind in kinds):
                continue
            sign = -1 if scale > 0 else 1
            terms = (
                (name, sign * one.get_coefficient_val(isl.dim_type.in_, i).to_python())
                for i, name in enumerate(axis.name for axis in place)
            )
            constant = sign * one.get_constant_val().to_python()
            # Of an index whose multiple is at least that much, which is rounded up.
            constant += 0 if one.is_equality() else abs(scale) - 1
            bound = Affine(tuple((n, c) for n, c in terms if c))
            yield _quotient(bound, constant, abs(scale), place)


def _quotient(bound: Affine, constant: int, divisor: int, place: tuple[Axis, ...]) -> Affine:
    """Return a quotient with the least constant: `(c + 7) // 16` is `c // 16` of multiples of 8."""
    steps = {axis.name: axis.step or 1 for axis in place if axis.origin == Affine()}
    alike = gcd(divisor, *(c * steps.get(name, 1) for name, c in bound.linear))
    return divided("//", bound + Affine((), constant // alike * alike), divisor)
