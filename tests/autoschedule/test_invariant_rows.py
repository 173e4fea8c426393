"""The autoscheduler is asked for rows with the same bits in each batch."""

from dataclasses import replace
from itertools import islice

from dtpoly.autoschedule.invariant_rows import TRIES, invariant
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.settle import Settled
from dtpoly.autoschedule.unscheduled_source import asked_for
from dtpoly.row_proofs import rows_asked, why_not_proved
from tests.autoschedule.asked import SUM, call_of, example


def asking_for(call: PricedCall, func: str, *labels: str) -> PricedCall:
    return replace(call, asked=(asked_for(func, labels),))


def test_a_schedule_that_is_yielded_is_proved_and_says_so() -> None:
    call = asking_for(call_of(SUM, x=64, y=512), "f", "x")
    assert call.rows == (("f", "x"),)
    (first,) = islice(schedules(call), 1)
    (line,) = [one for one in first.lines if one.directive.name == "same_bits"]
    assert line.why.startswith("proved")
    assert rows_asked(first.program, call.primitives) == call.rows
    assert why_not_proved(first.program, first.text, call.rows) == ""
    assert first.given_up is None


def test_what_no_schedule_has_leaves_none() -> None:
    """A sum over y depends on how many y there are, whatever the schedule."""
    call = call_of(
        "Func f, t; In A; Var x; RVar y; t[x] = rsum(A[x, y], y); "
        "f[x, y] = A[x, y] / reshape(t[x], x, 1);",
        x=8,
        y=2048,
    )
    some = list(islice(schedules(call), 3))
    asked = asking_for(call, "f", "y")
    assert some
    assert not list(invariant(asked, some))


def made_up(words: str, seconds: float, of: Settled) -> Settled:
    """A schedule with other words, which is not proved unless the text is as it was."""
    lines = tuple(
        replace(one, directive=replace(one.directive, name=words)) for one in of.lines[:1]
    )
    return replace(of, lines=lines, seconds=seconds)


def test_schedules_with_words_that_were_refused_come_last() -> None:
    call = call_of(SUM, x=64, y=512)
    (good,) = islice(schedules(call), 1)
    bad = replace(good, text="")
    asked = asking_for(call, "f", "x")
    given = [made_up("one", 1.0 + at, bad) for at in range(TRIES)]
    given += [made_up("one", 5.0, good), made_up("two", 6.0, good)]
    found = list(invariant(asked, given))
    assert [one.seconds for one in found] == [6.0, 5.0]
    assert found[0].given_up is not None
    assert (found[0].given_up.seconds, found[0].given_up.refused) == (1.0, TRIES)
    assert found[0].given_up.why.startswith("f, rows along x: ")


def test_the_bits_of_wrong_kernels_are_not_proved() -> None:
    call = asking_for(call_of(example("row_sum"), x=8, y=100), "row_sum", "x")
    (first,) = islice(schedules(call), 1)
    wrong = first.text.replace("tl.sum(", "2.0 * tl.sum(")
    assert wrong != first.text
    assert "its kernels are not proved" in why_not_proved(first.program, wrong, call.rows)
