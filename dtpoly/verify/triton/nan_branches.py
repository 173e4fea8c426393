"""Read a branch in which a tile is computed again because it has a nan (lemma 28).

    total = tl.dot(a, b, before)                        # a is 0 where a row takes no index
    has_nan = tl.max((total != total).to(tl.int32))
    if has_nan >= 1:
        total = ...                                     # without the indices that a row takes not

0 times an infinity is a nan, and so is every sum with a nan. So where a sum of products is no nan,
all that was multiplied by 0 was finite, and these products are 0. With them left out, the sum has
to be what the branch computes. Then it does not matter whether the branch is taken.

The branch loads anew what was multiplied before it, so the kernel may not store there (see
loaded_twice). Whether it is ever taken is not known: what is wrong only in it refutes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.frame_terms import ONE, ZERO
from dtpoly.verify.algebra.kernel_values import (
    LostValue,
    TileValue,
    Unread,
    Value,
    as_term,
    lanes_of,
)
from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.rounding import split
from dtpoly.verify.algebra.term_building import plain
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Term,
    Total,
    children,
    choose,
    names,
    put,
    rebuilt,
)
from dtpoly.verify.algebra.value import difference
from dtpoly.verify.algebra.whole import Truth, both, name, put_truth
from dtpoly.verify.triton.compiler_doubts import check_sides
from dtpoly.verify.triton.domains import ranged
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.loaded_twice import note_loaded_twice
from dtpoly.verify.triton.skipped_lists import EnterTest, list_either_way

# Roundings that a product may have of its operands, or not: the algorithm gives leave to them.
MAY_BE = ("tf32", "tf32x3")
MOST_AXES = 3


@dataclass(frozen=True, slots=True)
class NanTest:
    """The condition that a value is a nan for some numbers of the bound names in a domain."""

    value: Term
    bound: tuple[str, ...]
    domain: Truth


@dataclass(frozen=True, slots=True)
class Noted:
    """How many accesses, numbers, barriers and loops over programs were noted before a branch."""

    accesses: int
    numbers: int
    barriers: int
    over_programs: int


def noted(state: KernelState) -> Noted:
    """Return how much a state has noted so far."""
    accesses, numbers = len(state.accesses), len(state.numbers)
    return Noted(accesses, numbers, len(state.barriers), len(state.over_programs))


def nan_test(value: Value) -> NanTest | None:
    """Return what a condition asks, if it asks whether a tile has a nan in it."""
    if not isinstance(value, TileValue) or value.axes:
        return None
    match value.item:
        case AppliedOperation(operation="ge", operands=(Total() as most, end)) if end == ONE:
            pass
        case AppliedOperation(operation="gt", operands=(Total() as most, end)) if end == ZERO:
            pass
        case _:
            return None
    bound, domains = list[str](), list[Truth]()
    term: Term = most
    while isinstance(term, Total) and term.operation == "maximum":
        bound += term.bound
        domains.append(term.domain)
        term = term.body
    match term:
        case AppliedOperation(
            operation="where",
            operands=(AppliedOperation(operation="ne", operands=(one, other)), yes, no),
        ) if one == other and (yes, no) == (ONE, ZERO):
            return NanTest(one, tuple(bound), both(*domains))
        case _:
            return None


def done_again(
    state: KernelState,
    test: NanTest | EnterTest,
    before: Mapping[str, Value],
    again: Mapping[str, Value],
    since: Noted,
    line: int,
) -> dict[str, Value]:
    """Return what names hold after a branch that makes no difference.

    It is taken if a tile has a nan, or if some element of it may enter a list. The branch was read
    as if it were always taken: so all its loads are looked at. It may neither store nor wait.
    """
    now = noted(state)
    stores = [one for one in state.accesses[since.accesses :] if one.kind != "load"]
    if stores or (now.barriers, now.over_programs) != (since.barriers, since.over_programs):
        raise Unread(line, "a store or a barrier in a branch on data")
    _mark(state, since)
    check_sides(state, again, before, line)
    found: dict[str, Value] = {}
    for one in {**before, **again}:
        first, second = before.get(one), again.get(one)
        if first is None or second is None:
            found[one] = LostValue("is set in only one side of a branch")
        elif first == second:
            found[one] = first
        else:
            same = _either_way(state, test, (before, again), one, line)
            found[one] = same or LostValue("is one of two things after a branch on data")
    return found


def _either_way(
    state: KernelState,
    test: NanTest | EnterTest,
    around: tuple[Mapping[str, Value], Mapping[str, Value]],
    one: str,
    line: int,
) -> TileValue | None:
    """Return what a name holds after both sides of a branch, if that is seen to be the same."""
    if isinstance(test, NanTest):
        return _same(state, test, around[0][one], around[1][one], one, line)
    found = list_either_way(state, test, around, one, line)
    if found is not None:
        state.run.assume(Lemma.SKIPPED, one)
    return found


def _mark(state: KernelState, since: Noted) -> None:
    """Say of all that was noted in a branch that there may be no call for which it happens."""
    accesses, numbers = state.accesses[since.accesses :], state.numbers[since.numbers :]
    state.accesses[since.accesses :] = [replace(one, may_never_be=True) for one in accesses]
    state.numbers[since.numbers :] = [replace(one, may_never_be=True) for one in numbers]


def _same(
    state: KernelState, test: NanTest, first: Value, second: Value, one: str, line: int
) -> TileValue | None:
    """Return what a name holds, if it is the same after both sides; None if that is not seen."""
    if not isinstance(first, TileValue) or not isinstance(second, TileValue):
        return None
    lanes = lanes_of(first.axes)
    if (
        first.kind != second.kind
        or not kinds.is_float(first.kind)
        or kinds.may_be_eight(first.kind)
    ):
        return None
    if not _is_tested(state, test, first):
        return None
    term, other = as_term(first.item, 0), as_term(second.item, 0)
    own = lanes_of(second.axes)
    if own != lanes:
        other = put(state.run, other, dict(zip(own, map(name, lanes), strict=True)))
    match term, other:
        # What was there before the branch stays as it is.
        case AppliedOperation(operation="add", operands=(start, more)), AppliedOperation(
            operation="add", operands=(begun, again)
        ) if start == begun:
            found = without_zeros(more)
            compared, term = (_exact(found), again), AppliedOperation("add", (start, found))
        case _:
            return None
    known = _known(state, compared)
    if not is_affine(known) or difference(state.run, *compared, set_of(known)) is not None:
        return None
    state.run.assume(Lemma.NO_NAN, one)
    note_loaded_twice(state.run, line, *compared)
    return TileValue(first.axes, term, first.kind)


def _is_tested(state: KernelState, test: NanTest, tile: TileValue) -> bool:
    """Return whether the test looks at each lane of a tile."""
    lanes = lanes_of(tile.axes)
    if len(lanes) != len(test.bound) or len(lanes) > MOST_AXES:
        return False
    term = as_term(tile.item, 0)
    every = both(state.facts, ranged({}, state.ranges, lanes))
    for order in permutations(lanes):
        at = dict(zip(test.bound, map(name, order), strict=True))
        if put(state.run, test.value, at) == term:
            domain = put_truth(test.domain, at)
            return is_affine(every) and state.run.holds(domain, set_of(every))
    return False


def _known(state: KernelState, terms: tuple[Term, ...]) -> Truth:
    """Return what holds of the names in terms here, where a branch is."""
    free = frozenset[str]().union(*map(names, terms))
    programs = state.digits.all()
    return both(state.facts, state.where, ranged(programs, state.ranges, free))


def without_zeros(term: Term) -> Term:
    """Return a sum of products that is no nan, without those that have 0 in the place of a factor.

    All summands of such a sum are no nan, so the products that are left out are 0.
    """
    match term:
        case AppliedOperation(operation="add", operands=operands):
            return rebuilt(term, tuple(map(without_zeros, operands)))
        case Total(operation="add", body=body):
            return rebuilt(term, (without_zeros(body),))
        case AppliedOperation(operation="mul", operands=(left, right)):
            return _product(left, right)
        case _:
            return term


def _product(left: Term, right: Term) -> Term:
    """Return a product with its choices outside, and 0 where a side of one is written as 0."""
    for side, other, is_left in ((left, right, True), (right, left, False)):
        chosen = _chosen(side)
        if chosen is None:
            continue
        condition, *ways = chosen
        yes, no = (
            ZERO
            if plain(one) == ZERO
            else _product(one, other)
            if is_left
            else _product(other, one)
            for one in ways
        )
        return choose(condition, yes, no)
    return AppliedOperation("mul", (left, right))


def _chosen(term: Term) -> tuple[Truth, Term, Term] | None:
    """Return a choice with its roundings inside of both sides, of which 0 stays 0; or None."""
    if split(term)[0]:
        inner = _chosen(children(term)[0])
        if inner is None:
            return None
        sides = (one if plain(one) == ZERO else rebuilt(term, (one,)) for one in inner[1:])
        yes, no = sides
        return inner[0], yes, no
    match term:
        case Choose(condition=condition, yes=yes, no=no):
            return condition, yes, no
        case _:
            return None


def _exact(term: Term) -> Term:
    """Return a term without the roundings of operands that an algorithm may give leave to.

    They stay in what a name holds: it is asked of them later whether there is leave.
    """
    word, kind = split(term)
    parts = tuple(map(_exact, children(term)))
    return parts[0] if word and kind in MAY_BE else rebuilt(term, parts)
