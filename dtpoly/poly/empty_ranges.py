"""Finds reductions without an identity over a range that may have no index."""

from __future__ import annotations

from collections.abc import Iterator

from dtpoly.algorithm.expressions import Conditions, Dot, Expr, Reduce, children
from dtpoly.algorithm.operations import WITHOUT_IDENTITY
from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.size_parameters import size_facts, size_parameters
from dtpoly.poly.spaces import affs, computing, dim_name, in_box, not_negative, point, set_space


@dataclass(frozen=True, slots=True)
class EmptyChoice:
    """A reduction that has nothing to choose from, with sizes and indices where that is so."""

    expr: Reduce
    sizes: dict[str, int]
    indices: dict[str, int]


def empty_choices(program: Program) -> Iterator[EmptyChoice]:
    """Yield each reduction without an identity whose range may be empty although sizes are not."""
    if not program.ranges:
        return
    with computing("whether ranges are empty"):
        sizes = size_parameters(program)
        facts = size_facts(program, sizes)
        for func in program.funcs:
            yield from _inside(func.body, func.labels, func.when, sizes, facts)


def _inside(
    expr: Expr, scope: tuple[str, ...], when: Conditions, sizes: dict[str, str], facts: isl.Set
) -> Iterator[EmptyChoice]:
    """Look at an expression whose value is used for the indices of the scope that are in range."""
    if isinstance(expr, Reduce | Dot):
        outer = tuple(label for label in scope if label not in expr.labels)
        # What is known of a label says nothing of the label that a reduction binds again.
        known = tuple(one for one in when if set(one.labels) <= set(outer))
        if isinstance(expr, Reduce) and expr.when and expr.operation in WITHOUT_IDENTITY:
            found = _empty(expr, outer, known, sizes, facts)
            if found is not None:
                yield found
        scope, when = (*outer, *expr.labels), (*known, *expr.when)
    for child in children(expr):
        yield from _inside(child, scope, when, sizes, facts)


def _empty(
    expr: Reduce, outer: tuple[str, ...], known: Conditions, sizes: dict[str, str], facts: isl.Set
) -> EmptyChoice | None:
    params = tuple(dict.fromkeys(sizes.values()))
    space = set_space("", (*outer, *expr.labels), params)
    inside = in_box(space, (*outer, *expr.labels), sizes)
    inside = inside & not_negative(space, (one.over(sizes) for one in expr.when))
    some = inside.project_out(isl.dim_type.set, len(outer), len(expr.labels))
    space = set_space("", outer, params)
    every = in_box(space, outer, sizes)
    every = every & not_negative(space, (one.over(sizes) for one in known))
    for label in expr.labels:
        there = affs(space)[sizes[label]].gt_set(affs(space)[0])
        every = every & there
    left = (every - some).intersect_params(facts)
    if left.is_empty():
        return None
    first = _small(left)
    named = [dim_name(left.get_space(), isl.dim_type.param, i) for i in range(len(params))]
    values = dict(zip(named, point(first, isl.dim_type.param), strict=True))
    at = dict(zip(outer, point(first, isl.dim_type.set), strict=True))
    return EmptyChoice(expr, {label: values[param] for label, param in sizes.items()}, at)


def _small(of: isl.Set) -> isl.Point:
    """Return a point of a set with small sizes."""
    for position in range(of.dim(isl.dim_type.param)):
        for size in range(1, 9):
            only = of.fix_val(isl.dim_type.param, position, isl.Val(size))
            if not only.is_empty():
                of = only
                break
    return of.sample_point()
