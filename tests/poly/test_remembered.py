"""A question that was asked before is answered from memory, and is not computed again."""

import pytest

from dtpoly.poly.effort import answered, limited
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.remembered import Answers, forget, remembered, remembering


def ask(question: str, told: list[str]) -> str:
    def answer() -> str:
        told.append(question)
        return question.upper()

    return remembered(lambda: question, answer)


def test_what_was_asked_is_not_asked_again() -> None:
    told: list[str] = []
    answers = Answers()
    with remembering(answers):
        assert [ask(one, told) for one in "abab"] == ["A", "B", "A", "B"]
    with remembering(answers):
        assert ask("a", told) == "A"
    assert told == ["a", "b"]
    assert (answers.asked, answers.found) == (5, 3)


def test_nothing_is_remembered_elsewhere() -> None:
    told: list[str] = []
    ask("a", told)
    with remembering(Answers()):
        ask("a", told)
    with remembering(Answers()):
        ask("a", told)
    ask("a", told)
    assert told == ["a"] * 4


def test_the_last_answers_are_kept() -> None:
    told: list[str] = []
    answers = Answers(most=2)
    with remembering(answers):
        for one in "abaca":  # `b` was asked longest ago when `c` comes
            ask(one, told)
    assert told == ["a", "b", "c"]
    assert answers.known.keys() == {"a", "c"}


def test_none_is_an_answer_and_an_error_is_not() -> None:
    told: list[str] = []

    def fail() -> None:
        told.append("failed")
        raise ValueError("no answer")

    with remembering(Answers()):
        for _ in range(2):
            with pytest.raises(ValueError, match="no answer"):
                remembered(lambda: "fails", fail)
            remembered(lambda: "none", lambda: told.append("none"))
    assert told == ["failed", "none", "failed"]


def test_all_is_forgotten_where_isl_has_worked_too_much() -> None:
    told: list[str] = []
    with remembering(Answers()) as _, limited(1):
        ask("a", told)
        assert answered(lambda: isl.Set("{ [i] : 0 <= i < 9 }").lexmin()) is None
        ask("a", told)
    assert told == ["a", "a"]


def test_forgetting_elsewhere_changes_nothing() -> None:
    answers = Answers()
    with remembering(answers):
        ask("a", [])
    forget()
    assert answers.known


def test_an_answer_is_not_simplified_where_another_one_is() -> None:
    text = "[N] -> { [m, n] : m < N and n >= 0 and 2n <= N and n <= N }"
    with remembering(Answers()):
        first = remembered(lambda: "a set", lambda: isl.Set(text))
        before = str(first)
        first.remove_redundancies()  # which isl does in place
        again = remembered(lambda: "a set", lambda: isl.Set(text))
    assert str(first) != before
    assert str(again) == before
