"""Finds the smallest sizes at which a schedule breaks a dependence, and the first pair there."""

from __future__ import annotations

from collections.abc import Mapping

from dtpoly.frozen import dataclass
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Model
from dtpoly.poly.spaces import affs, computing, set_space

LARGEST_SUM = 1 << 16


@dataclass(frozen=True, slots=True)
class InstancePair:
    """Two instances, by the values of their dims, at some sizes."""

    sizes: Mapping[str, int]  # of each parameter
    source: tuple[int, ...]
    target: tuple[int, ...]


def first_pair(model: Model, pairs: isl.Map) -> InstancePair:
    """Return the pair with the smallest sum of sizes, and among these the lexicographically first.

    Sizes are at least 1 if that is possible, because a size of 0 makes a strange example.
    """
    with computing("a counterexample"):
        wrapped = pairs.wrap()
        sizes = _smallest(wrapped.params(), model.params)
        for name, size in sizes.items():
            position = wrapped.find_dim_by_name(isl.dim_type.param, name)
            wrapped = wrapped.fix_val(isl.dim_type.param, position, isl.Val(size))
        values = _first(wrapped)
        split = pairs.dim(isl.dim_type.in_)
        return InstancePair(sizes, values[:split], values[split:])


def _smallest(params: isl.Set, names: tuple[str, ...]) -> dict[str, int]:
    moved = params.align_params(set_space("", [], names).params())
    moved = isl.Set.from_params(moved).move_dims(
        isl.dim_type.set, 0, isl.dim_type.param, 0, len(names)
    )
    moved = moved.insert_dims(isl.dim_type.set, 0, 1).reset_tuple_id()
    of = affs(set_space("", ["total", *names], ()))
    total = of[0]
    for name in names:
        total = total + of[name]
    found = moved & total.eq_set(of["total"])
    # The search near 0 is faster, and it finds a pair unless indices have large numbers.
    near = found & of["total"].lt_set(of[0] + LARGEST_SUM)
    found = found if near.is_empty() else near
    some = found
    for name in names:
        some = some & of[name].gt_set(of[0])
    values = _first(found if some.is_empty() else some)
    return dict(zip(names, values[1:], strict=True))


def _first(points: isl.Set) -> tuple[int, ...]:
    """Return the lexicographically first point, dim by dim.

    `lexmin` fails on some sets with divisions.
    """
    values: list[int] = []
    local = isl.LocalSpace.from_space(points.get_space())
    for position in range(points.dim(isl.dim_type.set)):
        dim = isl.Aff.var_on_domain(local, isl.dim_type.set, position)
        # isl returns 0 as the minimum of an empty part.
        parts = (part for part in points.get_basic_sets() if not part.is_empty())
        least = min(isl.Set.from_basic_set(p).min_val(dim).to_python() for p in parts)
        points = points.fix_val(isl.dim_type.set, position, isl.Val(least))
        values.append(least)
    return tuple(values)
