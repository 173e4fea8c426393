"""Takes dims out of a schedule that are a number, a parameter or another dim in every tile.

A private copy has a dim for each axis around it and one for each of its labels, and most of them
are equal. isl makes loops in two thirds of the time without these dims. Two passes over the same
tiles are then also the same question but for names, and that is asked once (see `numbered_names`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import TypeAlias

from dtpoly.algorithm.expressions import Affine
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.numbered_names import NumberedText, with_numbers
from dtpoly.poly.spaces import (
    AffsOfSpace,
    dim_name,
    param_names,
    set_space,
    to_aff,
    to_multi_aff,
)
from dtpoly.poly.tiles import StatementTiles

# For each dim of a statement: which argument of its call in isl's tree it is, or its value. An axis
# of the grid has the name of its parameter there, but without the mark.
Places: TypeAlias = "tuple[int | Affine, ...]"

QUOTED = re.compile(r'"[^"]*"')


def places_of(tiles: Sequence[StatementTiles], context: isl.Set) -> Mapping[str, Places]:
    """Return for each statement where its dims are found once the settled ones are taken out.

    Of two parameters that are equal in the context, isl may name either: nothing is settled then.
    """
    return {one.name: _places(one.domain.intersect_params(context)) for one in tiles}


def _places(domain: isl.Set) -> Places:
    hull = domain.affine_hull()
    known = {} if _has_equal_params(hull) else dict(_settled(hull))
    found: list[int | Affine] = []
    count = 0
    for at in range(domain.dim(isl.dim_type.set)):
        value = known.get(at)
        if isinstance(value, int):
            found.append(found[value])
        elif value is not None:
            found.append(value)
        else:
            found.append(count)
            count += 1
    return tuple(found)


def _settled(hull: isl.BasicSet) -> Iterator[tuple[int, int | Affine]]:
    """Yield the dims that equal an earlier dim, a parameter or a number, with what they equal."""
    space = hull.get_space()
    for one in hull.get_constraints():
        if not one.is_equality() or _has_quotient(one):
            continue
        dims = list(_factors(one, isl.dim_type.set))
        params = list(_factors(one, isl.dim_type.param))
        constant = one.get_constant_val().to_python()
        if not dims or abs(dims[-1][1]) != 1:
            continue
        (at, sign), others = dims[-1], [*dims[:-1], *params]
        if not others:
            yield at, Affine((), -sign * constant)
        elif len(others) == 1 and others[0][1] == -sign and not constant:
            if params:
                name = dim_name(space, isl.dim_type.param, params[0][0])
                yield at, Affine(((name.removesuffix("@"), 1),))
            else:
                yield at, dims[0][0]


def _has_equal_params(hull: isl.BasicSet) -> bool:
    return any(
        one.is_equality()
        and not _has_quotient(one)
        and not any(_factors(one, isl.dim_type.set))
        and len(list(_factors(one, isl.dim_type.param))) > 1
        for one in hull.get_constraints()
    )


def _has_quotient(one: isl.Constraint) -> bool:
    count = one.dim(isl.dim_type.div)
    return bool(count and one.involves_dims(isl.dim_type.div, 0, count))


def _factors(one: isl.Constraint, kind: isl.dim_type) -> Iterator[tuple[int, int]]:
    for at in range(one.dim(kind)):
        if one.involves_dims(kind, at, 1):
            yield at, one.get_coefficient_val(kind, at).to_python()


def without_settled(
    schedule: isl.Schedule, tiles: Sequence[StatementTiles], places: Mapping[str, Places]
) -> isl.Schedule:
    """Return a schedule over the dims that are left, which are named by their numbers."""
    parts = (_left(one.domain.get_space(), one.name, places[one.name]) for one in tiles)
    return schedule.pullback_union_pw_multi_aff(reduce(lambda a, b: a.union_add(b), parts))


def _left(space: isl.Space, name: str, places: Places) -> isl.UnionPwMultiAff:
    """Return the function from the dims that are left to all dims."""
    count = len({one for one in places if isinstance(one, int)})
    left = set_space(name, [f"d{at}" for at in range(count)], param_names(space))
    of = AffsOfSpace(left, is_marked=True)
    values = [of[f"d{at}"] if isinstance(at, int) else to_aff(at, of) for at in places]
    dims = [dim_name(space, isl.dim_type.set, at) for at in range(len(places))]
    function = to_multi_aff(left, name, dims, values)
    return isl.UnionPwMultiAff.from_pw_multi_aff(isl.PwMultiAff.from_multi_aff(function))


def schedule_question(
    schedule: isl.Schedule, context: isl.Set, tiles: Sequence[StatementTiles]
) -> NumberedText:
    """Return all that decides about isl's tree, with numbers for names of statements and axes.

    isl prints the statements of a union in any order, so they are sorted.
    """
    axes = (axis.name for one in tiles for axis in one.path.loops if not axis.is_single)
    names = dict.fromkeys((*(one.name for one in tiles), *axes))
    params = param_names(context.get_space())
    asked = with_numbers(str(schedule), [name for name in names if name not in params])
    text = QUOTED.sub(_sorted, asked.text)
    return NumberedText(f"{context}\n{len(asked.names)}\n{text}", asked.names)


def _sorted(quoted: re.Match[str]) -> str:
    start, brace, rest = quoted[0].partition("{ ")
    inner, end, last = rest.rpartition(" }")
    return f"{start}{brace}{'; '.join(sorted(inner.split('; ')))}{end}{last}"
