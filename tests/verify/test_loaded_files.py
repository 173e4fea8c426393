"""Tests that a text which fails while it is loaded is not proved."""

import pytest

from dtpoly.verify.proof.report import Report
from dtpoly.verify.proof.verify import Verdict, verify
from tests.verify.texts import changed, text_of, written

ADD = written(
    "Func add; In X, Y; Var i; add[i] = X[i] * 2.0 + Y[i]; add.tensorize(i:128); add.compile();"
)
PASSED = written("Func f; In X; Var i, j; f[i, j] = X[i]; f.tensorize(j:64); f.compile();")
AGAIN = "add = dt_again(add)\n\n\n"
MADE = 'dt_operator("add", add, add_like, "Tensor X, Tensor Y")'
LENGTHS = '["i_size", "i_size", "i_size"]'


def why(text: str) -> str:
    report: Report = verify(ADD, text)
    assert report.verdict is Verdict.UNKNOWN, report.verdict
    return report.layers[0].why


def moved(text: str, part: str, before: str) -> str:
    """The text with a part of it above another place."""
    return changed(changed(text, part, ""), before, f"{part}{before}")


@pytest.mark.parametrize("before", ["def dt_aside(", "def dt_keep(", "dt_seen = ", "def dt_empty("])
def test_what_is_called_has_all_that_it_needs(before: str) -> None:
    assert "not there yet" in why(moved(text_of(ADD), AGAIN, before))


@pytest.mark.parametrize("name", ["", "a-d", "a d", "1add", "add.out", "add(", "::add", "a\\nb"])
def test_an_operator_has_a_name_that_torch_takes(name: str) -> None:
    made = changed(MADE, '"add"', f'"{name}"')
    assert "cannot name" in why(changed(text_of(ADD), MADE, made))


@pytest.mark.parametrize(
    "schema",
    ["Tensor X, *, Tensor Y", "*, Tensor X, Tensor Y", "Tensor X, Tensor Y, *", "Tensor X, *"],
)
def test_an_operator_has_a_star_where_its_function_has_one(schema: str) -> None:
    made = changed(MADE, "Tensor X, Tensor Y", schema)
    assert "an operator that takes" in why(changed(text_of(ADD), MADE, made))


def test_an_operator_without_its_star_is_refused() -> None:
    text = text_of(PASSED)
    assert verify(PASSED, text).verdict is Verdict.PROVED
    assert "*, SymInt" in text
    other = changed(text, "*, SymInt", "SymInt")
    assert verify(PASSED, other).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("word", ["even", "X_ptr", "offset", "unknown", "i_size even"])
def test_a_launcher_is_told_of_sizes_alone(word: str) -> None:
    lengths = changed(LENGTHS, '"i_size"', f'"{word}"')
    assert "a launcher that is told of" in why(changed(text_of(ADD), LENGTHS, lengths))


def test_all_this_is_proved_as_it_is_emitted() -> None:
    assert verify(ADD, text_of(ADD)).verdict is Verdict.PROVED
