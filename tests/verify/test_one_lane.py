"""A reduction that picks one lane, and one that only seems to have one."""

from dtpoly.verify.algebra.alone import only_operand, picked
from dtpoly.verify.algebra.terms import Choose, Element, Literal, Total
from dtpoly.verify.algebra.whole import both, compare, name, number, within
from dtpoly.verify.proof.verify import asking_isl

LANE, LAST, SIZE = name("lane"), number(15), name("size")
VALUE = Element("A", (LANE,), 1, (LANE,))
IS_LAST = compare("==", LANE, LAST)
LANES = within(number(0), LANE, number(16))


def test_a_lane_is_picked_by_its_number() -> None:
    run = asking_isl("")
    found = picked(run, Total("add", ("lane",), LANES, Choose(IS_LAST, VALUE, Literal("0"))))
    assert found == Element("A", (LAST,), 1, (LAST,))


def test_it_is_picked_only_where_it_is_a_lane() -> None:
    run = asking_isl("")
    some = both(LANES, compare("<", LANE, SIZE))
    found = picked(run, Total("add", ("lane",), some, Choose(IS_LAST, VALUE, Literal("0"))))
    assert isinstance(found, Choose)
    assert found.condition == compare("<", LAST, SIZE)
    assert found.no == Literal("0")


def test_what_is_elsewhere_must_change_nothing() -> None:
    total = Total("add", ("lane",), LANES, Choose(IS_LAST, VALUE, Literal("1")))
    assert picked(asking_isl(""), total) is None


def test_a_domain_that_says_more_than_one_number_has_no_only_operand() -> None:
    domain = both(IS_LAST, compare("<", LANE, SIZE))
    assert only_operand(asking_isl(""), Total("add", ("lane",), domain, VALUE)) is None
