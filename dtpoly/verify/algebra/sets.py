"""Turn regions into sets of isl, and ask isl about them.

All names become parameters of isl's sets, so isl matches the names of two sets by itself. `verify`
asks isl through this module; the checker of certificates does not use it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from time import thread_time
from weakref import WeakKeyDictionary

import islpy as isl

from dtpoly.budget import OPERATIONS_A_SECOND, counted, left
from dtpoly.verify.algebra.idle_names import (
    alternatives_of,
    has_several_alternatives,
    without_idle,
)
from dtpoly.verify.algebra.proof_limits import check_time
from dtpoly.verify.algebra.regions import (
    Join,
    Meet,
    Minus,
    NotAffine,
    Region,
    Twins,
    WhereTrue,
    Without,
    is_plainly_subset,
)
from dtpoly.verify.algebra.whole import (
    All,
    Atom,
    Either,
    Extreme,
    Floor,
    Not,
    Sign,
    Some,
    Truth,
    Whole,
)

PARAM = isl.dim_type.param
CONTEXT = isl.DEFAULT_CONTEXT
# Operations that isl does in a second: few with large coefficients, more with small ones.
RATES = (100_000, 400_000, OPERATIONS_A_SECOND)
# Operations in which isl answers most questions that have few alternatives.
QUICK = 20_000
# If a set has more polyhedra than these, those that belong together are joined before it meets the
# next set. Each meeting multiplies their number, and many of them have no points.
FEW = 8


# The sets of isl that regions were turned into, and whether they have no points.
_found: WeakKeyDictionary[Region, isl.Set] = WeakKeyDictionary()
_answers: WeakKeyDictionary[Region, bool] = WeakKeyDictionary()
# The alternatives of the latest questions that took isl more than a few operations.
_slow: deque[frozenset[Truth]] = deque(maxlen=100)


@cache
def _everywhere() -> isl.Set:
    return isl.Set.read_from_str(CONTEXT, "{ : }")


@cache
def _nowhere() -> isl.Set:
    return isl.Set.read_from_str(CONTEXT, "{ : false }")


@cache
def _constant(value: int) -> isl.PwAff:
    return isl.PwAff.read_from_str(CONTEXT, f"{{ [({value})] }}")


@cache
def variable(name: str) -> isl.PwAff:
    """Return a name as a number of isl's."""
    space = isl.Space.create_from_names(CONTEXT, set=[], params=[name])
    local = isl.LocalSpace.from_space(space.params())
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(local, PARAM, 0))


@cache
def _number_of(of: Whole) -> isl.PwAff:
    """Return the number as isl's; raise NotAffine if it has a product of names."""
    total: isl.PwAff | None = None
    for monomial, coefficient in of.terms:
        if len(monomial) > 1:
            raise NotAffine(of)
        one = _constant(coefficient)
        if monomial:
            one = _of_atom(monomial[0]).mul(one)
        total = one if total is None else total.add(one)
    return _constant(0) if total is None else total


@cache
def _of_atom(atom: Atom) -> isl.PwAff:
    match atom:
        case str():
            return variable(atom)
        case Floor(operand=operand, divisor=divisor):
            return _number_of(operand).scale_down_val(isl.Val(divisor)).floor()
        case Extreme(largest=largest, left=left, right=right):
            a, b = _number_of(left), _number_of(right)
            return a.max(b) if largest else a.min(b)
        case Either(condition=condition, yes=yes, no=no):
            where = points_of(condition)
            return (
                _number_of(yes)
                .intersect_domain(where)
                .union_add(_number_of(no).subtract_domain(where))
            )


@cache
def points_of(of: Truth) -> isl.Set:
    """Return the set of isl where the formula holds."""
    match of:
        case Sign(operand=operand, exactly=False) if (found := _extreme_in(operand)) is not None:
            # isl's own maximum of many numbers has a piece for each order that they can
            # have.
            is_any, ones = found
            first, second = (points_of(Sign(one, False)) for one in ones)
            return (first.union(second) if is_any else first.intersect(second)).coalesce()
        case Sign(operand=operand, exactly=exactly):
            value = _number_of(operand)
            return value.zero_set() if exactly else value.nonneg_set()
        case Not(operand=operand):
            return _everywhere().subtract(points_of(operand))
        case All(parts=parts):
            result, several = _all_of(parts)
            for one in several:
                if result.n_basic_set() > FEW:
                    result = result.coalesce()
                result = result.intersect(one.align_params(result.get_space()))
            return result.coalesce()
        case Some(parts=parts):
            result = _nowhere()
            for part in parts:
                result = result.union(points_of(part))
            return result.coalesce()


@cache
def _all_of(parts: tuple[Truth, ...]) -> tuple[isl.Set, tuple[isl.Set, ...]]:
    """Return where those formulas hold whose points are one polyhedron, and the sets of the others.

    Lists of formulas often begin alike, with the facts about a kernel. So the result for all
    formulas but the last is kept and used again.
    """
    if not parts:
        return _everywhere(), ()
    result, several = _all_of(parts[:-1])
    last = points_of(parts[-1])
    if last.n_basic_set() > 1:
        # The names of the last set come first, as they do if sets are intersected one by
        # one.
        return result.align_params(last.get_space()), (*several, last)
    return _met(result, last), several


def _met(left: isl.Set, right: isl.Set) -> isl.Set:
    """Return the points of both sets; of two polyhedra isl is not asked whether there are any."""
    one, other = _only(left), _only(right)
    if one is None or other is None:
        return left.intersect(right)
    # The names get the order into which isl itself puts them.
    one = one.align_params(other.get_space())
    other = other.align_params(one.get_space())
    return isl.Set.from_basic_set(one.intersect(other))


def _only(of: isl.Set) -> isl.BasicSet | None:
    """Return the polyhedron that a set is, or None if it is not a single one."""
    parts = of.get_basic_sets()
    return parts[0] if len(parts) == 1 else None


def _extreme_in(of: Whole) -> tuple[bool, tuple[Whole, Whole]] | None:
    """Return two numbers in place of one that has an extreme in it; None if it has none.

    The first part of the result is True if the number is not negative where either of the two is
    not, and False if it is not negative only where both are not.
    """
    for monomial, coefficient in of.terms:
        match monomial:
            case (Extreme(largest=largest, left=left, right=right) as atom,):
                rest = of - Whole((((atom,), coefficient),))
                ones = (left * coefficient + rest, right * coefficient + rest)
                return largest is (coefficient > 0), ones
            case _:
                pass
    return None


def params_of(of: isl.Set) -> list[str]:
    """Return the names of a set, in isl's order."""
    return [str(of.get_dim_name(PARAM, i)) for i in range(of.dim(PARAM))]


def is_empty(of: Region) -> bool:
    """Return whether isl finds no point; raise isl.Error if a question takes all the time left.

    What cannot change the answer is left out of the question (see `idle_names`).
    """
    check_time()
    found = _answers.get(of)
    if found is None:
        found = _quickly(of)
        if found is None:
            # Without idle names, many questions are the same.
            asked = without_idle(of)
            found = _answers.get(asked)
            if found is None:
                found = _answers[asked] = _asked(asked)
        _answers[of] = found
    return found


def _quickly(of: Region) -> bool | None:
    """Return isl's answer to a question as it is, or None if idle names are to be left out first.

    As they are, questions share more sets. But alternatives that have taken isl long once take as
    long in each question that has them.
    """
    if has_several_alternatives(of) or has_taken_long(of):
        return None
    try:
        with counted(CONTEXT, QUICK):
            return _is_empty(of)
    except isl.Error:
        if alternatives := alternatives_of(of):
            _slow.append(alternatives)
        return None


def has_taken_long(of: Region) -> bool:
    """Return whether a question has all the alternatives of one that took isl long."""
    alternatives = alternatives_of(of)
    return any(alternatives >= slow for slow in _slow)


def _asked(of: Region) -> bool:
    """Ask isl, which may take a number of operations.

    isl counts operations, and time is looked at only between two questions. With large coefficients
    isl does few operations in a second, and then it does not notice that the time is over. So a
    question gets few operations at first, and is asked again with more if it used these up quickly.
    """
    seconds = left()
    if seconds is None:
        return _is_empty(of)
    for rate, following in pairwise(RATES):
        began = thread_time()
        try:
            with counted(CONTEXT, int(seconds * rate) + 1):
                return _is_empty(of)
        except isl.Error:
            took = thread_time() - began
            if took * following / rate > (left() or 0.0):
                raise
    with counted(CONTEXT, int(seconds * RATES[-1]) + 1):
        return _is_empty(of)


def _is_empty(of: Region) -> bool:
    match of:
        case Minus(left=left, right=right):
            if is_plainly_subset(left, right):
                return True
            return polyhedra_of(left).is_subset(polyhedra_of(right))
        case Twins(of=inner, new=new):
            return _is_single(inner, [old for old, _ in new])
        case _:
            return polyhedra_of(of).is_empty()


def _plain_part(of: Region) -> isl.Set:
    """Return a set with all points of a region: where all hold of its facts that are convex."""
    match of:
        case WhereTrue(truth=All(parts=parts)):
            return _all_of(parts)[0]
        case WhereTrue(truth=truth):
            points = points_of(truth)
            return points if points.n_basic_set() <= 1 else _everywhere()
        case Meet(left=left, right=right):
            return _plain_part(left).intersect(_plain_part(right))
        case Minus(left=left):
            return _plain_part(left)
        case Without(of=inner, gone=gone):
            return _without(_plain_part(inner), gone)
        case _:
            return _everywhere()


def _is_single(of: Region, bound: Sequence[str]) -> bool:
    """Return whether each choice of the other names leaves at most one value for the bound ones.

    A set of many polyhedra takes long, since isl compares each with each. A larger set of one
    polyhedron is asked first: if it is single-valued, so is the set. Such a set is where all facts
    hold that have no alternatives, and so is the hull, which takes longer. And if one of the
    polyhedra is not single-valued, neither is the set.
    """
    known = _found.get(of)
    is_several = known is None or known.n_basic_set() > 1
    if is_several and _is_function(_plain_part(of), bound):
        return True
    points = polyhedra_of(of)
    if points.is_empty():
        return True
    parts = points.get_basic_sets()
    if len(parts) == 1:
        return _is_function(points, bound)
    if not all(_is_function(isl.Set.from_basic_set(one), bound) for one in parts):
        return False
    hull = isl.Set.from_basic_set(points.unshifted_simple_hull())
    return any(_is_function(one, bound) for one in (hull, points))


def _is_function(points: isl.Set, bound: Sequence[str]) -> bool:
    return isl.Map.from_range(as_points(points, bound)).is_single_valued()


def polyhedra_of(of: Region) -> isl.Set:
    """Return the region as a set of isl."""
    found = _found.get(of)
    if found is None:
        found = _found[of] = _polyhedra_of(of)
    return found


def _polyhedra_of(of: Region) -> isl.Set:
    match of:
        case WhereTrue(truth=truth):
            return points_of(truth)
        case Meet(left=left, right=right):
            return polyhedra_of(left).intersect(polyhedra_of(right))
        case Join(left=left, right=right):
            return polyhedra_of(left).union(polyhedra_of(right)).coalesce()
        case Minus(left=left, right=right):
            return polyhedra_of(left).subtract(polyhedra_of(right))
        case Without(of=inner, gone=gone):
            return _without(polyhedra_of(inner), gone)
        case Twins(of=inner, new=new):
            points = polyhedra_of(inner)
            return points.intersect(_renamed(points, dict(new))).intersect(points_of(of.apart))
        case _:
            raise TypeError(of)


def _without(of: isl.Set, names: Sequence[str]) -> isl.Set:
    """Project some names out of a set.

    All names go at once. isl simplifies after each step, and after several single steps the set may
    have coefficients with which isl never answers a question.
    """
    there = [one for one in names if of.find_dim_by_name(PARAM, one) >= 0]
    return as_points(of, there).params() if there else of


def _renamed(of: isl.Set, new: Mapping[str, str]) -> isl.Set:
    for old, to in new.items():
        position = of.find_dim_by_name(PARAM, old)
        if position >= 0:
            of = of.set_dim_name(PARAM, position, to)
    return of


def as_points(of: isl.Set, dims: Sequence[str]) -> isl.Set:
    """Turn these names of a set into coordinates; its other names stay parameters."""
    for one in dims:
        if of.find_dim_by_name(PARAM, one) < 0:
            of = of.align_params(variable(one).get_domain_space())
    points = isl.Set.from_params(of)
    for at, one in enumerate(dims):
        position = points.find_dim_by_name(PARAM, one)
        points = points.move_dims(isl.dim_type.set, at, PARAM, position, 1)
    return points


def smallest(of: isl.Set, first: Sequence[str]) -> dict[str, int] | None:
    """Return a small point of the set, or None if it is empty; the `first` names are smallest."""
    if of.is_empty():
        return None
    rest = [one for one in params_of(of) if one not in first]
    order = [*(one for one in first if one in params_of(of)), *rest]
    for bound in (2, 8, 40, 200, 2000, 20_000, 2**21, 2**32):
        small = of
        for one in order:
            small = small.intersect(_between(one, -bound, bound))
        if not small.is_empty():
            return _least(small, order, bound)
    found = as_points(of, order).sample_point()
    return {one: _coordinate(found, at) for at, one in enumerate(order)}


def _least(of: isl.Set, order: Sequence[str], bound: int) -> dict[str, int]:
    """Return the least point, found name by name with bisection.

    isl has its own search for it, but that may run for ever and cannot be stopped.
    """
    point: dict[str, int] = {}
    for one in order:
        low, high = -bound, bound
        while low < high:
            check_time()
            middle = (low + high) // 2
            if of.intersect(_between(one, low, middle)).is_empty():
                low = middle + 1
            else:
                high = middle
        of = of.intersect(_between(one, low, low))
        point[one] = low
    return point


def _between(one: str, low: int, high: int) -> isl.Set:
    number = variable(one)
    return number.ge_set(_constant(low)).intersect(number.le_set(_constant(high)))


def _coordinate(of: isl.Point, at: int) -> int:
    found: int = of.get_coordinate_val(isl.dim_type.set, at).to_python()
    return found
