"""Leave out of a question what cannot change its answer, before isl is asked.

A proof asks its questions together with all facts about a call. Many of these are about names that
the question does not have, such as whether the call has descriptors for another kernel. Facts with
alternatives multiply: with eight of them isl has some hundred polyhedra, each time.

A name is **idle** in a question if a number can be put in its place with which each condition that
has the name is true, or is one of the other conditions. Then these conditions can go. A set has a
point with them if it has one without them: that point, with this number for the name. And each
point of the set with them is one of the set without them.

A condition that says that a name is a number puts this number into the other conditions, so that
more of them are plain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache
from weakref import WeakKeyDictionary

from dtpoly.verify.algebra.regions import (
    Join,
    Meet,
    Minus,
    Region,
    Twins,
    WhereTrue,
    Without,
    everywhere,
    set_of,
    with_parts,
)
from dtpoly.verify.algebra.whole import (
    FALSE,
    TRUE,
    All,
    Not,
    Sign,
    Some,
    Truth,
    Whole,
    both,
    names_of,
    negation,
    number,
    put_truth,
)

# Alternatives: with fewer, isl's answer mostly takes less time than to leave names out.
SEVERAL = 16
TRIED = (0, 1)  # the numbers that are put in the place of a name that may be idle
Conditions = Mapping[Truth, None]

# What was found of sets that several questions have.
_open: WeakKeyDictionary[Region, frozenset[Truth]] = WeakKeyDictionary()
_stated: WeakKeyDictionary[Region, frozenset[Truth]] = WeakKeyDictionary()
_lessened: WeakKeyDictionary[Region, dict[frozenset[Truth], Region]] = WeakKeyDictionary()


def has_several_alternatives(of: Region) -> bool:
    """Return whether leaving names out of a question takes less time than asking it as it is."""
    return len(alternatives_of(of)) >= SEVERAL


def without_idle(of: Region) -> Region:
    """Return a region that is empty if and only if this one is, with fewer names if possible."""
    match of:
        case Minus(left=left, right=right):
            conditions, others = _taken_apart(left, right.names, opens=True)
            less = _less(right, conditions.keys())
            kept = _fewer(left, conditions, others, less.names)
            return of if kept is left and less is right else kept.subtract(less)
        case Twins(of=inner, new=new):
            # Where a name is projected out, the second point may have another value for it.
            conditions, others = _taken_apart(inner, frozenset(), opens=False)
            kept = _fewer(inner, conditions, others, frozenset(one for pair in new for one in pair))
            return of if kept is inner else Twins(of.names, kept, new)
        case _:
            conditions, others = _taken_apart(of, frozenset(), opens=True)
            return _fewer(of, conditions, others, frozenset())


def _fewer(
    of: Region, conditions: Conditions, others: Sequence[Region], wanted: frozenset[str]
) -> Region:
    """Return a set without the idle names, given its parts; the names that are wanted stay."""
    less = [_less(one, conditions.keys()) for one in others]
    kept = _without_idle(_with_numbers(conditions), wanted.union(*(one.names for one in less)))
    if kept.keys() == conditions.keys() and less == others:
        return of
    result = set_of(both(*kept))
    for one in less:
        match one:
            case Minus(left=left, right=right) if left is everywhere():
                result = result.subtract(right)
            case _:
                result = result.intersect(one)
    return result


def _taken_apart(
    of: Region, outside: frozenset[str], *, opens: bool
) -> tuple[dict[Truth, None], list[Region]]:
    """Return the conditions that hold in all of a set, and the sets that it is the meeting of.

    If it `opens` projections, a name that was projected out, and that nothing else has, becomes a
    name like the others.
    """
    match of:
        case WhereTrue(truth=truth):
            return dict.fromkeys(_parts(truth)), []
        case Meet(left=left, right=right):
            conditions, others = _taken_apart(left, outside | right.names, opens=opens)
            beside = outside.union(*map(names_of, conditions), *(one.names for one in others))
            more, further = _taken_apart(right, beside, opens=opens)
            return conditions | more, others + further
        case Minus(left=left, right=WhereTrue(truth=truth)):
            conditions, others = _taken_apart(left, outside | names_of(truth), opens=opens)
            return conditions | {negation(truth): None}, others
        case Minus(left=left, right=right):
            conditions, others = _taken_apart(left, outside | right.names, opens=opens)
            return conditions, [*others, everywhere().subtract(right)]
        case Without(of=inner, gone=gone) if opens and outside.isdisjoint(gone):
            return _taken_apart(inner, outside, opens=True)
        case _:
            return {}, [of]


def alternatives_of(of: Region) -> frozenset[Truth]:
    """Return those conditions of a question that are alternatives."""
    inner = of.of if isinstance(of, Twins) else of
    found = _open.get(inner)
    if found is None:
        conditions = _conditions(inner)
        alternatives = (one for one in conditions if isinstance(one, Some | Not))
        found = _open[inner] = frozenset(alternatives)
    return found


def _conditions(of: Region) -> frozenset[Truth]:
    """Return the conditions of which the parts of a set are made."""
    found = _stated.get(of)
    if found is None:
        own = _parts(of.truth) if isinstance(of, WhereTrue) else ()
        # The points of twins have two values for a name.
        inner = () if isinstance(of, Twins) else _parts_of_region(of)
        found = _stated[of] = frozenset(own).union(*(_conditions(part) for part in inner))
    return found


def _parts_of_region(of: Region) -> tuple[Region, ...]:
    match of:
        case Meet(left=left, right=right) | Join(left=left, right=right):
            return left, right
        case Minus(left=left, right=right):
            return left, right
        case Without(of=inner) | Twins(of=inner):
            return (inner,)
        case _:
            return ()


def _less(of: Region, known: Set[Truth]) -> Region:
    """Return a set without conditions that are known of all points that are asked about.

    Of these points it has the same ones. Questions share sets, and so they share the results.
    """
    known = _conditions(of).intersection(known)
    if not known:
        return of
    results = _lessened.setdefault(of, {})
    found = results.get(known)
    if found is None:
        found = results[known] = _found_less(of, known)
    return found


def _found_less(of: Region, known: frozenset[Truth]) -> Region:
    match of:
        case WhereTrue(truth=truth):
            return set_of(both(*(one for one in _parts(truth) if one not in known)))
        case Twins():
            return of
        case _:

            def lessened(part: Region, gone: tuple[str, ...]) -> Region:
                return _less(part, {one for one in known if names_of(one).isdisjoint(gone)})

            return with_parts(of, lessened)


def _parts(of: Truth) -> tuple[Truth, ...]:
    return of.parts if isinstance(of, All) else (of,)


def _with_numbers(conditions: Conditions) -> Conditions:
    """Put numbers in the place of names that are said to be these numbers."""
    done = set[str]()
    while True:
        known = [(one, *found) for one in conditions if (found := _number_said(one)) is not None]
        known = [one for one in known if one[1] not in done]
        if not known:
            return conditions
        said, one, value = known[0]
        done.add(one)
        new: dict[Truth, None] = {}
        for condition in conditions:
            if condition is said or one not in names_of(condition):
                new[condition] = None
            else:
                new |= dict.fromkeys(_parts(_put(condition, one, value)))
        conditions = {FALSE: None} if FALSE in new else new


@cache
def _number_said(of: Truth) -> tuple[str, int] | None:
    """Return the name and the number if a condition says that a name is a number."""
    if not isinstance(of, Sign) or not of.exactly:
        return None
    match dict(of.operand.terms):
        case {**terms} if len(terms.keys() - {()}) == 1:
            ((monomial, factor),) = ((one, by) for one, by in terms.items() if one)
        case _:
            return None
    if len(monomial) != 1 or not isinstance(monomial[0], str) or factor not in (1, -1):
        return None
    return monomial[0], -factor * terms.get((), 0)


def _without_idle(conditions: Conditions, wanted: frozenset[str]) -> dict[Truth, None]:
    """Leave out conditions about idle names, until no name is idle any more."""
    by_name: dict[str, dict[Truth, None]] = {}
    for condition in conditions:
        for one in names_of(condition):
            by_name.setdefault(one, {})[condition] = None
    waiting = dict.fromkeys(one for one in by_name if one not in wanted)
    kept = dict(conditions)
    while waiting:
        one, _ = waiting.popitem()
        having = by_name[one]
        if not any(_holds_with(one, value, having, kept) for value in _numbers(one, having)):
            continue
        for condition in having.copy():
            del kept[condition]
            for other in names_of(condition):
                del by_name[other][condition]
                if other not in wanted and other != one:
                    waiting[other] = None
    return kept


def _numbers(one: str, having: Iterable[Truth]) -> Iterable[int]:
    """Return the numbers that are tried in the place of a name."""
    said = [found[1] for of in having if (found := _number_said(of)) and found[0] == one]
    return said or TRIED


def _holds_with(one: str, value: int, having: Iterable[Truth], conditions: Conditions) -> bool:
    """Return whether the conditions that have a name follow from the others with this number."""
    for condition in having:
        for part in _parts(_put(condition, one, value)):
            if part == TRUE:
                continue
            if part not in conditions or one in names_of(part):
                return False
    return True


@cache
def _put(of: Truth, one: str, value: int) -> Truth:
    """Return a condition with a number in the place of a name."""
    return put_truth(of, {one: _number(value)})


@cache
def _number(value: int) -> Whole:
    return number(value)
