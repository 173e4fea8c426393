"""Hints of DT135 say what to write instead of an index, and that can be written."""

import pytest

from dtpoly.diagnostics import has_errors
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve
from dtpoly.source import Source


def hints(text: str) -> list[str]:
    """Return the notes and the hint of each mistake of a text, together."""
    file = parse(Source("f.dt", text)).file
    found = [one for one in resolve(file).found if one.code == "DT135"]
    return ["\n".join([*(note.text for note in one.notes), one.hint]) for one in found]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "Func f; In A; Var x; f[x] = A[abs(x - 3)];",
            "where(x < 3, pad(A, 0)[3 - x], pad(A, 0)[x - 3])",
        ),
        ("Func f; In A; Var x; f[x] = A[minimum(x, 3)];", "choose between reads"),
        ("Func f; In A; Var x; f[x] = A[len(x) - 1 - x];", "with Var x: 4096, A[4095 - x]"),
        ("Func f; In A; Var x; f[x] = A[len(x) - 1 - x];", "In at: i64 within len(x)"),
        ("Func f; In A; Var x; f[x] = A[x / 2];", "with two dimensions"),
    ],
)
def test_a_hint_names_another_way(text: str, words: str) -> None:
    (hint,) = hints(text)
    assert words in hint
    assert all(len(line) < 200 for line in hint.split("\n"))


@pytest.mark.parametrize(
    "text",
    [
        "Func f; In A; Var x; f[x] = where(x < 3, pad(A, 0)[3 - x], pad(A, 0)[x - 3]);",
        "Func f; In A; Var x: 4096; f[x] = A[4095 - x];",
        "Func f; In A, at: i64 within len(x); Var x; f[x] = A[at[x]];",
    ],
)
def test_the_other_way_can_be_written(text: str) -> None:
    found = parse(Source("f.dt", text))
    assert not found.found
    assert not has_errors(resolve(found.file).found)
