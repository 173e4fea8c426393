"""Mistakes in square tiles: none that is proved is wrong."""

import ast

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.mutation.square_edits import CLASSES, square_mutants
from tests.verify.mutation.square_judging import judged_square, mistakes, square_calls
from tests.verify.mutation.square_subjects import square_subject
from tests.verify.mutation.squares import counted

ONE = "examples/log_sum_exp"
MANY = (ONE, "examples/online_softmax", "parts/log-sum-exp", "parts/attention")
EACH = 20


def test_each_class_makes_mistakes() -> None:
    text = square_subject("parts/log-sum-exp").text
    found = list(square_mutants(text))
    assert {word for word, _, _ in found} == {*CLASSES}
    before = ast.unparse(ast.parse(text))
    assert ast.unparse(ast.parse(found[0][2])) != before


def of_maxima() -> list[int]:
    """Return the numbers of the maxima along the other axis, of parts and of their merge."""
    return [
        number
        for number, (word, line, what, text) in enumerate(mistakes("parts/log-sum-exp"))
        if word == "axes" and "'1' be" in what and "dt_max" in text.splitlines()[line - 1]
    ]


def test_a_maximum_along_the_other_axis_is_not_proved() -> None:
    judged = judged_square("parts/log-sum-exp", of_maxima()[0])
    assert judged.verdict != LayerVerdict.PROVED


@pytest.mark.long
def test_a_merge_in_the_frame_of_other_rows_is_not_proved() -> None:
    """The last one was proved before exponents of factors were looked at."""
    first, *others, last = of_maxima()
    assert first != last
    for number in (*others, last):
        judged = judged_square("parts/log-sum-exp", number)
        assert judged.verdict != LayerVerdict.PROVED, judged


def test_the_unchanged_text_is_proved_and_right() -> None:
    one = square_subject(ONE)
    assert verify(one.program, one.text, 60).verdict is LayerVerdict.PROVED
    assert len(square_calls(ONE)) > len(CLASSES)


def test_what_is_wrong_is_counted_as_a_finding() -> None:
    row: dict[str, object] = {
        "subject": "s",
        "word": "axes",
        "verdict": "proved",
        "ran": "wrong: x",
    }
    right = {**row, "ran": "right"}
    assert counted([row, right])["findings"] == [row]
    assert counted([row, right])["by class"] == {
        "axes": {"proved and right": 1, "proved and wrong": 1}
    }


@pytest.mark.long
@pytest.mark.parametrize("subject", MANY)
def test_what_is_proved_is_right(subject: str) -> None:
    step = max(len(mistakes(subject)) // EACH, 1)
    for number in range(0, len(mistakes(subject)), step):
        judged = judged_square(subject, number)
        assert judged.ran in ("", "right"), judged
