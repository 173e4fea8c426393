"""Names that cannot change the answer are left out of a question, and the answer stays the same."""

import random

import pytest

from dtpoly.verify.algebra.idle_names import without_idle
from dtpoly.verify.algebra.regions import Region, Twins, set_of, without
from dtpoly.verify.algebra.sets import is_empty, polyhedra_of
from dtpoly.verify.algebra.whole import (
    FALSE,
    TRUE,
    Truth,
    both,
    compare,
    name,
    negation,
    number,
    one_of,
    within,
)

NAMES = ("a", "b", "c", "flag", "other")
A, B, FLAG, OTHER = (name(one) for one in ("a", "b", "flag", "other"))


def flagged(flag: str, then: Truth) -> Truth:
    """Return that a name is 0 or 1, and that something holds where it is 1."""
    value = name(flag)
    chosen = one_of(negation(compare("==", value, number(1))), then)
    return both(within(number(0), value, number(2)), chosen)


def test_flags_that_nothing_asks_about_are_left_out() -> None:
    large = compare(">=", A, number(9))
    facts = both(flagged("flag", large), flagged("other", large), compare(">=", A, number(0)))
    found = without_idle(set_of(facts).subtract(set_of(compare(">=", A, number(-3)))))
    assert found.names == {"a"}


def test_a_flag_that_is_said_to_be_1_leaves_what_follows() -> None:
    large = compare(">=", A, number(9))
    facts = both(flagged("flag", large), compare("==", FLAG, number(1)), compare("<", A, B))
    asked = set_of(compare(">=", A, number(8)))
    found = without_idle(set_of(facts).subtract(asked))
    assert "flag" not in found.names
    assert is_empty(set_of(facts).subtract(asked))
    assert not is_empty(set_of(facts).subtract(set_of(compare(">=", A, number(10)))))


def test_a_name_that_is_asked_about_stays() -> None:
    facts = set_of(both(within(number(0), FLAG, number(2)), compare("<", FLAG, A)))
    found = without_idle(facts.subtract(set_of(compare("<=", FLAG, number(1)))))
    assert "flag" in found.names


def test_conditions_that_both_sides_state_are_asked_once() -> None:
    facts = flagged("flag", compare(">=", A, number(9)))
    left = set_of(both(facts, compare(">=", B, number(2))))
    right = without(set_of(both(facts, compare("<", name("c"), B))), ["c"])
    found = without_idle(left.subtract(right))
    assert found.names == {"b"}


def test_what_is_taken_away_before_leaves_out_the_same_conditions() -> None:
    """A place that no store of one launch writes: each launch states all facts about the call."""
    facts = both(flagged("flag", compare(">=", A, number(9))), compare(">=", B, number(0)))
    left = set_of(facts)
    first = without(set_of(both(facts, compare("<", name("c"), B))), ["c"])
    second = without(set_of(both(facts, compare("<", A, name("c")))), ["c"])
    asked = left.subtract(first).subtract(second)
    found = without_idle(asked)
    assert "flag" not in found.names
    assert is_empty(asked)
    kept = left.subtract(set_of(both(facts, compare("<", number(4), B)))).subtract(
        set_of(both(facts, compare("<", A, number(4))))
    )
    assert not is_empty(kept)


def test_a_name_of_another_projection_is_another_name() -> None:
    """Of two names that are alike one may be projected out, and then says nothing of the other."""
    some = without(set_of(both(compare("==", A, number(1)), compare("==", B, number(1)))), ["a"])
    other = without(set_of(both(compare("==", A, number(2)), compare("<=", B, A))), ["a"])
    both_of_them = some.intersect(other)
    assert not is_empty(both_of_them)
    assert not polyhedra_of(both_of_them).is_empty()


def condition(draw: random.Random) -> Truth:
    """Return a comparison, or an alternative of some."""
    kind = draw.randrange(8)
    if kind < 2:
        return one_of(condition(draw), condition(draw))
    if kind == 2:
        return negation(condition(draw))
    first, second = draw.sample(NAMES, 2)
    left = name(first) * draw.choice((1, 1, 2, -1))
    right = number(draw.randrange(-2, 3))
    if kind > 4:
        right = right + name(second) * draw.choice((1, 1, 3))
    if kind == 3:
        left = left.floor(2)
    return compare(draw.choice(("<", "<=", "==", "==", ">=", "!=")), left, right)


def region(draw: random.Random, depth: int) -> Region:
    """Return a set; its parts have conditions in common, as those of a proof do."""
    shared = [condition(draw) for _ in range(4)]

    def made(left: int) -> Region:
        kind = draw.randrange(7) if left else 0
        if kind in (0, 1):
            several = [draw.choice(shared) for _ in range(draw.randrange(3))]
            return set_of(both(condition(draw), *several))
        if kind == 2:
            return without(made(left - 1), draw.sample(NAMES, 2))
        first, second = made(left - 1), made(left - 1)
        if kind == 3:
            return first.union(second)
        return first.subtract(second) if kind == 4 else first.intersect(second)

    found = made(depth)
    if draw.randrange(4) == 0:
        pairs = tuple((one, f"{one}.twin") for one in draw.sample(NAMES, 2) if one in found.names)
        if pairs:
            return Twins(found.names | {new for _, new in pairs}, found, pairs)
    return found


def compared(seeds: range) -> int:
    """Compare answers with and without idle names; returns how many questions became smaller."""
    smaller = 0
    for seed in seeds:
        of = region(random.Random(seed), 3)
        less = without_idle(of)
        assert polyhedra_of(of).is_empty() == polyhedra_of(less).is_empty(), seed
        assert polyhedra_of(of).is_empty() == is_empty(of), seed
        smaller += less is not of
    return smaller


def test_answers_stay_the_same() -> None:
    assert compared(range(150)) > 30


@pytest.mark.long
@pytest.mark.parametrize("first", range(1000, 3000, 250))
def test_answers_of_many_sets_stay_the_same(first: int) -> None:
    assert compared(range(first, first + 250)) > 50


def test_no_set_and_every_set_stay_what_they_are() -> None:
    assert is_empty(set_of(FALSE))
    assert not is_empty(set_of(TRUE))
    assert not is_empty(set_of(TRUE).subtract(set_of(FALSE)))
