"""Finds the dependences of a Model by isl's own flow analysis.

It is slow. A test compares its result with that of `dependences`, which is the fast way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

from dtpoly.poly.dependences import Dependence, DependenceKind, once
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Model, Role
from dtpoly.poly.spaces import affs, to_map


def flow_analysis(model: Model) -> tuple[Dependence, ...]:
    """Return all dependences.

    Sources are *may*: a must-source would hide all updates but the last.
    """
    order = _union(_defining_order(model))
    steps = {s.name for s in model.statements if s.role is Role.UPDATE}
    found: list[Dependence] = []
    for array in model.arrays:
        reads = _union(
            read.relation.intersect_domain(s.domain)
            for s in model.statements
            for read in s.reads
            if read.array == array
        )
        writes = _union(
            s.writes.relation.intersect_domain(s.domain)
            for s in model.statements
            if s.writes.array == array
        )
        for kind, sink, source in (
            (DependenceKind.FLOW, reads, writes),
            (DependenceKind.ANTI, writes, reads),
            (DependenceKind.OUTPUT, writes, writes),
        ):
            for relation in _between(sink, source, order):
                one = relation.get_tuple_name(isl.dim_type.in_)
                two = relation.get_tuple_name(isl.dim_type.out)
                is_step = one == two and one in steps
                real = DependenceKind.REDUCTION if is_step else kind
                found.append(Dependence(real, array, one, two, relation))
    return once(found)


def _between(sink: isl.UnionMap, source: isl.UnionMap, order: isl.UnionMap) -> Iterator[isl.Map]:
    info = isl.UnionAccessInfo.from_sink(sink)
    info = info.set_may_source(source).set_schedule_map(order)
    listed = info.compute_flow().get_may_dependence().get_map_list()
    return (listed.get_at(i) for i in range(listed.n_map()))


def _union(maps: Iterable[isl.Map]) -> isl.UnionMap:
    return reduce(
        lambda total, one: total.union(isl.UnionMap.from_map(one)),
        maps,
        isl.UnionMap.empty(isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0)),
    )


def _defining_order(model: Model) -> Iterator[isl.Map]:
    depth = max(len(s.dims) for s in model.statements)
    dims = [f"t{i}" for i in range(depth + 1)]
    for position, statement in enumerate(model.statements):
        space = statement.domain.get_space()
        of = affs(space)
        values = [of[0] + position, *(of[d] for d in statement.dims)]
        values += [of[0]] * (depth + 1 - len(values))
        yield to_map(space, "", dims, values).intersect_domain(statement.domain)
