"""Questions to isl that differ in names alone."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.poly.numbered_names import numbered, remembered_apart_from_names
from dtpoly.poly.remembered import Answers, is_remembering, remembering, remembering_one_file
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import bind
from dtpoly.schedule.state import State
from dtpoly.source import Source

EXAMPLES = Path(__file__).parents[2] / "examples"


def ask(text: str, names: set[str], told: list[str]) -> str:
    """Ask what the last word of a text is."""

    def answer() -> str:
        told.append(text)
        return text.split()[-1]

    def renamed(word: str, new: Mapping[str, str]) -> str:
        return new.get(word, word)

    return remembered_apart_from_names("last", lambda: numbered(text, names), answer, renamed)


def test_names_are_numbered_in_the_order_in_which_they_appear() -> None:
    found = numbered("t@f.b[m, f.l = 2f.l, l^] : f.l mod 64 = m", {"f.l", "t@f.b", "l^"})
    assert found.text == "<0>[m, <1> = 2<1>, <2>] : <1> mod 64 = m"
    assert found.names == ("t@f.b", "f.l", "l^")


def test_a_name_that_is_no_word_leaves_all_as_it_is() -> None:
    assert numbered("a b", {"a", "a b"}).text == "a b"


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ("x + y", "x + x", {"x", "y"}),  # two names are not one
        ("x + x", "x + y", {"x", "y"}),
        ("x < n", "x < m", {"x"}),  # these are not among the names
        ("x + 1", "x + 2", {"x"}),
    ],
)
def test_other_questions_are_asked(first: str, second: str, names: set[str]) -> None:
    told: list[str] = []
    with remembering(Answers()):
        assert ask(first, names, told) == first.split()[-1]
        assert ask(second, names, told) == second.split()[-1]
    assert told == [first, second]


def test_the_same_question_with_other_names_is_asked_once() -> None:
    told: list[str] = []
    with remembering(Answers()):
        assert ask("a < b and b < a", {"a", "b"}, told) == "a"
        assert ask("b < a and a < b", {"a", "b"}, told) == "b"
        assert ask("x < y and y < x", {"x", "y"}, told) == "x"
    assert told == ["a < b and b < a"]


def test_elsewhere_each_question_is_asked() -> None:
    told: list[str] = []
    assert [ask(text, {"a", "b"}, told) for text in ("1 a", "1 b", "1 a")] == ["a", "b", "a"]
    assert len(told) == 3


def test_the_answers_of_one_file_are_those_that_are_kept_around() -> None:
    assert not is_remembering()
    with remembering_one_file():
        assert is_remembering()
    answers = Answers()
    with remembering(answers), remembering_one_file():
        ask("1 a", {"a"}, [])
    assert answers.asked == 1


def state_of(name: str) -> State:
    path = EXAMPLES / name
    program = load(Source(name, path.read_text(encoding="utf-8")))
    return resolve(program, bind(program.directives, DIRECTIVES).primitives)


def test_loops_of_a_copy_are_made_once_for_two_readers() -> None:
    state = state_of("causal_flash_attention.dt")
    answers = Answers()
    with remembering(answers):
        code_of(state)
    questions = [str(question) for question in answers.known]
    # Of twelve parts, in which scores are computed three times: for the first two readers alike.
    assert sum(one.startswith("('loops', ") for one in questions) == 4


@pytest.mark.parametrize(
    "name",
    [
        "flash_attention.dt",
        pytest.param("causal_flash_attention.dt", marks=pytest.mark.long),
        pytest.param("attentions/window.dt", marks=pytest.mark.long),
    ],
)
def test_kernels_are_the_same_if_every_question_is_asked(name: str) -> None:
    state = state_of(name)
    with remembering(Answers(most=0)):  # which keeps no answer
        asked = code_of(state)
    assert code_of(state).text == asked.text
