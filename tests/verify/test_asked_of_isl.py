"""What the verifier asks isl: each question once, and none whose answer stands in the formulas."""

import itertools

import islpy as isl
import pytest

from dtpoly.budget import counted
from dtpoly.verify.algebra.regions import (
    Region,
    Twins,
    is_plainly_subset,
    set_of,
    without,
)
from dtpoly.verify.algebra.sets import (
    CONTEXT,
    has_taken_long,
    is_empty,
    points_of,
    polyhedra_of,
)
from dtpoly.verify.algebra.whole import (
    Truth,
    Whole,
    both,
    compare,
    name,
    negation,
    number,
    one_of,
    within,
)

FEW = 20_000  # operations of isl; to compare each part with each takes ten times as many
SOME = 100_000  # as many suffice for eight facts, if their products are joined on the way
PARTS = 8


def between(low: Whole, one: str, high: Whole) -> Truth:
    return both(compare("<=", low, name(one)), compare("<", name(one), high))


def stripes(one: str) -> Region:
    """Return where a name is in one of several intervals."""
    starts = (number(20 * at) for at in range(PARTS))
    return set_of(one_of(*(between(at + name("s"), one, at + 7 + name("t")) for at in starts)))


def flagged(flag: str, least: int) -> Truth:
    """Return that a name is 0 or 1, and that `a` is so large where it is 1."""
    value = name(flag)
    then = compare(">=", name("a"), number(least)), compare("<", name("a"), number(2**20))
    chosen = one_of(negation(compare("==", value, number(1))), both(*then))
    return both(within(number(0), value, number(2)), chosen)


def twins(of: Region) -> Region:
    """Return the pairs of points of a set that differ in x alone."""
    return Twins(of.names | {"other"}, of, (("x", "other"),))


def test_facts_without_alternatives_say_that_there_is_one_point() -> None:
    """The hull of so many alternatives takes isl ten times as long."""
    of = set_of(compare("==", name("x"), name("a") + name("b")))
    for one in ("y", "z", "w"):
        of = of.intersect(stripes(one))
    with counted(CONTEXT, FEW):
        assert is_empty(twins(of))


def test_one_part_with_several_values_answers_for_all_parts() -> None:
    many = stripes("x").intersect(stripes("y"))
    assert polyhedra_of(many).n_basic_set() == PARTS**2
    with counted(CONTEXT, FEW):
        assert not is_empty(twins(many))


def test_facts_with_alternatives_do_not_multiply() -> None:
    """Each fact has three polyhedra; all products of eight such facts take isl seconds."""
    facts = [flagged(f"flag{at}", at + 1) for at in range(8)]
    with counted(CONTEXT, SOME):
        points = points_of(both(*facts))
    one_by_one = points_of(facts[0])
    for fact in facts[1:]:
        one_by_one = one_by_one.intersect(points_of(fact)).coalesce()
    assert not points.is_empty()
    assert points.is_equal(one_by_one)


@pytest.mark.parametrize(
    ("second", "is_single"), [(("k", 1), False), (("k", 0), True), (("m", 1), True)]
)
def test_each_part_may_have_one_value_and_all_of_them_several(
    second: tuple[str, int], is_single: bool
) -> None:
    own, apart = second
    first = both(compare("==", name("x"), name("k")), compare("==", name("k"), number(3)))
    last = both(
        compare("==", name("x"), name("k") + apart),
        compare("==", name(own), number(3)),
        compare("==", name("k"), number(3 if own == "k" else 4)),
    )
    assert is_empty(twins(set_of(first).union(set_of(last)))) is is_single


def test_a_set_that_is_made_twice_is_one_object() -> None:
    one, other = (set_of(between(number(0), each, name("n"))) for each in ("x", "y"))
    both_sets = one.intersect(other)
    assert one.intersect(other) is both_sets
    assert one.union(other) is one.union(other)
    assert one.subtract(other) is one.subtract(other)
    assert without(both_sets, ["x"]) is without(both_sets, ["x"])
    assert other.intersect(one) is not both_sets


def test_a_formula_that_a_set_has_is_not_asked_about() -> None:
    first, second = (compare("<=", number(0), name(each)) for each in ("x", "y"))
    left = set_of(both(first, second))
    with counted(CONTEXT, 1):
        assert is_empty(left.subtract(set_of(second)))


def test_a_set_is_plainly_a_part_of_another_one_only_if_it_is() -> None:
    """All sets of a few formulas are compared with their points."""
    x, y = name("x"), name("y")
    formulas = (compare("<=", number(0), x), compare("<", x, y), compare("==", y, number(2)))
    made = [
        set_of(both(*some))
        for count in range(3)
        for some in itertools.combinations(formulas, count)
    ]
    made += [one.intersect(other) for one, other in itertools.permutations(made, 2)]
    made += [made[1].subtract(made[2]), made[1].union(made[2]), without(made[2], ["y"])]
    plain = 0
    for left, right in itertools.product(made, made):
        if is_plainly_subset(left, right):
            assert polyhedra_of(left).is_subset(polyhedra_of(right))
            plain += 1
    assert plain > len(made)


def test_a_question_that_takes_long_is_asked_without_idle_names() -> None:
    """And so is each later question with the same alternatives, at once."""
    facts = both(*(flagged(f"switch{at}", at + 2) for at in range(12)))
    least = compare(">=", name("n"), number(9))
    first = set_of(both(facts, least)).subtract(set_of(compare(">=", name("n"), number(8))))
    second = set_of(both(facts, least)).subtract(set_of(compare(">=", name("n"), number(7))))
    fewer = set_of(both(flagged("switch0", 2), least))
    assert not has_taken_long(first)
    with counted(CONTEXT, FEW), pytest.raises(isl.Error):
        polyhedra_of(first)
    with counted(CONTEXT, FEW):
        assert is_empty(first)
        assert has_taken_long(second)
        assert is_empty(second)
    assert not has_taken_long(fewer)
    assert not is_empty(fewer)
