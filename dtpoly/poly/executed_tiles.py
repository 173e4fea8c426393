"""Computes which tiles really run inside given loops and conditions, for all sizes and programs.

A set here has a dim for each loop around, outermost first. It is built from our own loop nodes,
after isl has made its tree. So the loops of isl can be compared with the tiles that were asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import assert_never

from dtpoly.algorithm.expressions import Affine
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.loops import Bound, Chosen, Combined, Compared, Condition, OneOfWays
from dtpoly.poly.remembered import remembered
from dtpoly.poly.spaces import Affs, AffsOfSpace, to_aff


def outside(context: isl.Set) -> isl.Set:
    """Return the facts about sizes and programs that hold before any loop."""
    return context.from_params()


def in_loop(around: isl.Set, name: str, start: Bound, stop: Bound, step: int) -> isl.Set:
    """Return the iterations of a loop, inside the loops around it."""
    return remembered(
        lambda: ("in loop", str(around), name, start, stop, step),
        lambda: _in_loop(around, name, start, stop, step),
    )


def _in_loop(around: isl.Set, name: str, start: Bound, stop: Bound, step: int) -> isl.Set:
    inner = _with_dim(around, name)
    of = _named(inner)
    value = isl.PwAff.from_aff(of[name])
    first = _value(start, of)
    inner = inner & value.ge_set(first) & value.lt_set(_value(stop, of))
    if step > 1:
        inner = inner & (value - first).mod_val(isl.Val(step)).eq_set(_number(0, of))
    return inner


def once(around: isl.Set, name: str, value: Bound) -> isl.Set:
    """Return the iteration of a loop that has only one."""
    inner = _with_dim(around, name)
    of = _named(inner)
    return inner & isl.PwAff.from_aff(of[name]).eq_set(_value(value, of))


def where(around: isl.Set, conditions: Iterable[Condition]) -> isl.Set:
    """Return the part of a set where every condition holds."""
    all_of = tuple(conditions)
    return remembered(
        lambda: ("where", str(around), all_of), lambda: around & _all(all_of, _named(around))
    )


def tiles_here(around: isl.Set, start: Mapping[str, Bound], asked: isl.Set) -> isl.Set:
    """Return the tiles of a statement that start at the given place."""
    # The answer is the same for every statement, so the question does not have its name.
    tiles, starts = asked.reset_tuple_id(), tuple(start.values())
    here = remembered(
        lambda: ("tiles here", str(around), starts, str(tiles)),
        lambda: _tiles_here(around, starts, tiles),
    )
    return here.set_tuple_id(asked.get_tuple_id()) if asked.has_tuple_id() else here


def _tiles_here(around: isl.Set, starts: Sequence[Bound], asked: isl.Set) -> isl.Set:
    space = around.get_space()
    pair = space.map_from_domain_and_range(asked.get_space().align_params(space))
    places = _places(pair, starts, _named(around))
    return (around.apply(places) & asked).coalesce()


def _places(pair: isl.Space, starts: Sequence[Bound], of: Affs) -> isl.Map:
    """Return the relation `place in the loops -> start of the tile`.

    Most starts are sums, and those that are not are mostly one value, in several dims. isl makes
    such a relation in half the time if it is not told of pieces where there are none.
    """
    first = isl.MultiAff.zero(pair)
    for position, value in enumerate(starts):
        if isinstance(value, Affine):
            first = first.set_aff(position, to_aff(value, of))
    others = {value for value in starts if not isinstance(value, Affine)}
    if not others:
        return isl.Map.from_multi_aff(first)
    if len(others) > 1:
        several = isl.MultiPwAff.from_multi_aff(first)
        for position, value in enumerate(starts):
            several = several.set_pw_aff(position, _value(value, of))
        return isl.Map.from_multi_pw_aff(several)
    there = [at for at, value in enumerate(starts) if value in others]
    parts: list[isl.Map] = []
    for domain, aff in _value(others.pop(), of).get_pieces():
        whole = first
        for position in there:
            whole = whole.set_aff(position, aff)
        parts.append(isl.Map.from_multi_aff(whole).intersect_domain(domain))
    return reduce(isl.Map.union, parts) if parts else isl.Map.empty(pair)


def is_all(found: Sequence[isl.Set], asked: isl.Set) -> bool:
    """True if every tile that was asked for is in one of the sets."""
    if not found:
        return asked.is_empty()
    return remembered(
        lambda: ("is all", tuple(str(one.reset_tuple_id()) for one in (asked, *found))),
        lambda: asked.is_subset(reduce(lambda a, b: a | b, found)),
    )


def _with_dim(around: isl.Set, name: str) -> isl.Set:
    at = around.dim(isl.dim_type.set)
    return around.add_dims(isl.dim_type.set, 1).set_dim_name(isl.dim_type.set, at, name)


def _named(here: isl.Set) -> Affs:
    """Return the functions of loops and parameters by name; grid axes have their own names."""
    return AffsOfSpace(here.get_space(), is_marked=True)


def _number(value: int, of: Affs) -> isl.PwAff:
    return isl.PwAff.from_aff(of[0] + value)


def _value(value: Bound, of: Affs) -> isl.PwAff:
    match value:
        case Affine():
            return isl.PwAff.from_aff(to_aff(value, of))
        case Chosen(conditions=conditions, left=left, right=right):
            is_left = _all(conditions, of)
            chosen = _value(left, of).intersect_domain(is_left)
            return chosen.union_add(_value(right, of).subtract_domain(is_left))
        case Combined(operation=operation, operands=operands):
            first, *others = (_value(one, of) for one in operands)
            return reduce(lambda a, b: _combined(operation, a, b), others, first)
        case _:
            assert_never(value)


def _combined(operation: str, left: isl.PwAff, right: isl.PwAff) -> isl.PwAff:
    match operation:
        case "min":
            return left.min(right)
        case "max":
            return left.max(right)
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left.mul(right)
        case "//":
            return left.tdiv_q(right)  # Triton's division rounds to 0 in the same way
        case "%":
            return left.tdiv_r(right)
        case _:
            raise AssertionError(operation)


def _all(conditions: Iterable[Condition], of: Affs) -> isl.Set:
    everywhere = isl.Set.universe(of[0].get_domain_space())
    return reduce(lambda a, b: a & b, (_holds(one, of) for one in conditions), everywhere)


def _holds(condition: Condition, of: Affs) -> isl.Set:
    match condition:
        case Compared(left=left, right=right, is_equal=is_equal):
            one, two = _value(left, of), _value(right, of)
            if isinstance(left, Combined) and left.operation == "%" and right == Affine((), 1):
                return one.ne_set(_number(0, of))  # a remainder may be negative
            return one.eq_set(two) if is_equal else one.ge_set(two)
        case OneOfWays(ways=ways):
            return reduce(lambda a, b: a | b, (_all(way, of) for way in ways))
        case _:
            assert_never(condition)
