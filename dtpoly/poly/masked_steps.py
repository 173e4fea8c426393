"""Turns masks into ranges: `rmax(where(k <= m, e, -inf), k)` takes the steps with k <= m alone.

`dtpoly.algorithm.found_ranges` finds which steps a mask leaves out. They change nothing, so they
are no instances.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dtpoly.algorithm.affine_conditions import Clause, labels_of_clauses
from dtpoly.algorithm.expressions import Dot, Expr, Reduce, map_children
from dtpoly.algorithm.found_ranges import has_conditions, searched
from dtpoly.algorithm.inference import Types, types_of
from dtpoly.algorithm.program import Func, Program
from dtpoly.algorithm.range_search import RangeSearch, Reduction, clauses_of
from dtpoly.algorithm.unmasked import masked_value, single, unmasked
from dtpoly.frozen import dataclass
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.spaces import affs, in_box, set_space, to_aff


@dataclass(frozen=True, slots=True)
class RangedBodies:
    """The bodies of Funcs in which ranges stand for masks; there is no search without masks."""

    types: Types
    search: RangeSearch | None

    def of(self, func: Func) -> tuple[Expr, tuple[Clause, ...]]:
        """Return the body of a Func, and the clauses outside of which it is a written number."""
        if self.search is None:
            return func.body, ()
        body = self._ranged(func.body)
        masked = None if func.when else masked_value(body, self.types)
        if masked is None:
            return body, ()
        return masked.whole, masked.clauses

    def _ranged(self, expr: Expr) -> Expr:
        """Return an expression with the ranges of its reductions."""
        made = map_children(expr, self._ranged)
        if not isinstance(expr, Reduce | Dot) or not isinstance(made, Reduce | Dot):
            return made
        assert self.search is not None
        found = self.search.range_of(expr)
        clauses = found.every
        if not clauses:
            return made
        when = tuple(dict.fromkeys((*made.when, *single(clauses))))
        known = clauses_of(when)
        if isinstance(made, Reduce):
            return replace(made, operand=unmasked(made.operand, known, self.types), when=when)
        left, right = (unmasked(side, known, self.types) for side in (made.left, made.right))
        hides = found.needs_zero and not expr.when
        return replace(made, left=left, right=right, when=when, hides=hides)


def ranged_bodies(
    program: Program, sizes: Mapping[str, str], facts: Callable[[], isl.Set]
) -> RangedBodies:
    """Return the bodies of a program with ranges; `sizes` are parameters, of which facts hold."""
    types = types_of(program)
    if not has_conditions(program):
        return RangedBodies(types, None)

    def is_filled(node: Reduction, clauses: tuple[Clause, ...]) -> bool:
        return has_an_index(node, clauses, sizes, facts())

    return RangedBodies(types, searched(program, is_filled))


def has_an_index(
    node: Reduction, clauses: tuple[Clause, ...], sizes: Mapping[str, str], facts: isl.Set
) -> bool:
    """Return whether clauses leave an index of a reduction for all indices of other labels.

    That is asked for sizes that are not 0.
    """
    outer = tuple(one for one in labels_of_clauses(clauses) if one not in node.labels)
    params = tuple(dict.fromkeys(sizes.values()))
    space = set_space("", (*outer, *node.labels), params)
    some = in_box(space, (*outer, *node.labels), sizes) & where_all(space, clauses, sizes)
    some = some.project_out(isl.dim_type.set, len(outer), len(node.labels))
    every = in_box(set_space("", outer, params), outer, sizes)
    of = affs(every.get_space())
    for label in node.labels:
        every = every & of[sizes[label]].gt_set(of[0])
    return (every - some).intersect_params(facts).is_empty()


def where_all(space: isl.Space, clauses: tuple[Clause, ...], sizes: Mapping[str, str]) -> isl.Set:
    """Return the set of a space in which all clauses hold."""
    of = affs(space)
    result = isl.Set.universe(space)
    for clause in clauses:
        either = isl.Set.empty(space)
        for one in clause:
            either = either | to_aff(one.over(sizes), of).ge_set(of[0])
        result = result & either
    return result
