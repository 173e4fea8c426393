"""The text a person reads: where the carets stand, whatever the source looks like."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.render.diagnostic_text import plain, render, render_one, summary
from dtpoly.source import Source, Span
from tests.conftest import Golden


def at(source: Source, part: str, nth: int = 0) -> Span:
    """The nth place of a part of a source."""
    start = -1
    for _ in range(nth + 1):
        start = source.text.index(part, start + 1)
    return Span(source, start, start + len(part))


def error(span: Span | None, label: str = "here", *notes: Note, hint: str = "") -> Diagnostic:
    return Diagnostic("DT199", Severity.ERROR, "this is wrong", span, label, notes, hint)


SHAPES = Source(
    "axpy.dt", "In A, B;\nVar x, y;\nFunc f;\nf[x, y] = A[x, y] + B[x];\nf.compile();\n"
)
MANY = Source(
    "many.dt", "".join(f"Func f{n};\n" for n in range(1, 101)) + "f1[x] = exp(\n  x,\n\n  2\n);\n"
)
LONG = Source("long.dt", f"f[x] = {'A[x] + ' * 50}B[j] + {'C[x] + ' * 50}1;\n")

CASES: dict[str, tuple[Diagnostic, int | None]] = {
    "example_of_the_style": (
        Diagnostic(
            "DT120",
            Severity.ERROR,
            "unknown index 'j'",
            at(Source("axpy.dt", "y[i] = x[j]"), "j"),
            "not a loop of y",
            hint="y is indexed by i",
        ),
        None,
    ),
    "two_places_in_a_line": (
        Diagnostic(
            "DT140",
            Severity.ERROR,
            "shapes [x, y] and [x] do not line up",
            at(SHAPES, "B[x]"),
            "has shape [x]",
            (Note("this has shape [x, y]", at(SHAPES, "A[x, y]")),),
            "line it up by label: reshape(B[x], x, 1)",
        ),
        None,
    ),
    "three_labels_below_each_other": (
        error(
            at(SHAPES, "f"),
            "the first of four",
            Note("the second", at(SHAPES, "x, y", 1)),
            Note("the third", at(SHAPES, "A[x, y]")),
            Note("the last", at(SHAPES, "B[x]")),
        ),
        None,
    ),
    "a_mark_inside_a_mark": (
        error(at(SHAPES, "B[x]"), "inner", Note("outer", at(SHAPES, "A[x, y] + B[x]"))),
        None,
    ),
    "same_place_twice": (
        error(at(SHAPES, "B[x]"), "one", Note("two", at(SHAPES, "B[x]"))),
        None,
    ),
    "near_lines": (
        error(at(SHAPES, "compile"), "no such", Note("declared", at(SHAPES, "f")), hint="way out"),
        None,
    ),
    "one_line_between": (
        error(at(SHAPES, "B[x]"), "used", Note("declared", at(SHAPES, "x"))),
        None,
    ),
    "far_line": (
        error(at(MANY, "f1[x]"), "second", Note("first is here", at(MANY, "f1")), Note("a reason")),
        None,
    ),
    "other_file": (
        error(at(SHAPES, "f"), "here", Note("and there", at(MANY, "f100")), hint="choose one"),
        None,
    ),
    "several_lines": (error(at(MANY, "exp(\n  x,\n\n  2\n)"), "all of this"), None),
    "two_lines": (error(at(MANY, "x,\n\n"), "two"), None),
    "warning_without_label": (
        Diagnostic("DT145", Severity.WARNING, "look at this", at(SHAPES, "Var x, y;")),
        None,
    ),
    "no_place": (
        Diagnostic(
            "DT100",
            Severity.ERROR,
            "cannot read 'a.dt'",
            None,
            notes=(Note("no such file or directory"),),
            hint="check the path",
        ),
        None,
    ),
    "no_place_but_a_note_with_one": (error(None, "", Note("see here", at(SHAPES, "f"))), None),
    "long_line": (error(at(LONG, "B[j]"), "unknown index"), None),
    "long_line_both_ends": (
        error(
            at(LONG, "B[j]"), "middle", Note("start", at(LONG, "f[x]")), Note("end", at(LONG, "1"))
        ),
        None,
    ),
    "long_span": (error(Span(LONG, 7, len(LONG.text) - 2), "all of it"), None),
    "narrow_terminal": (
        Diagnostic(
            "DT140",
            Severity.ERROR,
            "shapes [x, y] and [x] do not line up",
            at(SHAPES, "B[x]"),
            "has shape [x], which is one label short",
            (Note("this has shape [x, y]", at(SHAPES, "A[x, y]")), Note("it is " + "so " * 20)),
            "from the right, each pair of axes must be the same label or have a 1",
        ),
        40,
    ),
    "tabs": (
        error(
            at(Source("t.dt", "\tf[x]\t=\tA[j];\n"), "j"),
            "tab",
            Note("x", at(Source("t.dt", "\tf[x]\t=\tA[j];\n"), "x")),
        ),
        None,
    ),
    "wide_characters": (
        error(at(Source("w.dt", "# 日本語 テスト = q;\n"), "q"), "after wide"),
        None,
    ),
    "wide_span": (error(at(Source("w.dt", "# 日本語 = q;\n"), "日本"), "is wide"), None),
    "combining_marks": (error(at(Source("c.dt", "# cafe\u0301 = q;\n"), "q"), "after"), None),
    "a_combining_mark": (error(at(Source("c.dt", "# cafe\u0301 = q;\n"), "\u0301"), "mark"), None),
    "emoji": (error(at(Source("e.dt", "# 😀🚀 = q;\n"), "q"), "after emoji"), None),
    "escape_sequence": (
        error(at(Source("x.dt", "f = \x1b[31mred\x1b[0m\x07 q\x7f\x9b\u202e;\n"), "q"), "safe"),
        None,
    ),
    "end_of_file": (error(Span(SHAPES, len(SHAPES.text), len(SHAPES.text)), "missing"), None),
    "end_of_file_without_line_end": (
        error(Span(Source("e.dt", "Func f"), 6, 6), "';' expected"),
        None,
    ),
    "empty_file": (error(Span(Source("empty.dt", ""), 0, 0), "nothing here"), None),
    "windows_line_ends": (
        error(at(Source("d.dt", "Func f;\r\nf[x] = j;\r\n"), "j"), "windows"),
        None,
    ),
    "over_windows_line_ends": (
        error(at(Source("d.dt", "Func f;\r\nf[x] = j;\r\n"), "f;\r\nf[x]"), "both"),
        None,
    ),
    "at_a_line_end": (
        error(at(Source("d.dt", "Func f\r\nVar x;\r\n"), "\r\n"), "';' expected"),
        None,
    ),
    "names_are_made_harmless": (
        Diagnostic(
            "DT103",
            Severity.ERROR,
            "bad \x1b[2J title\nof two lines",
            Span(Source("evil\x1b[2J.dt", "a\n"), 0, 1),
            "label\x07",
            (Note("note\x08"),),
            "hint\x1b[0m",
        ),
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_text(name: str, golden: Golden) -> None:
    diagnostic, width = CASES[name]
    golden(f"render/{name}.txt", plain(render_one(diagnostic, width)))


def test_summary_counts_each_kind() -> None:
    warning, note = (
        Diagnostic("DT145", severity, "t", None) for severity in (Severity.WARNING, Severity.NOTE)
    )
    assert summary([error(None), warning, error(None), note]) == "2 errors, 1 warning, 1 note"
    assert summary([]) == "no errors"


def test_all_of_them_with_blank_lines_between() -> None:
    text = plain(render([error(None, ""), error(None, "")]))
    assert text == "error[DT199]: this is wrong\n\nerror[DT199]: this is wrong\n\n2 errors\n"


def test_many_digits_line_up() -> None:
    lines = plain(render_one(error(at(MANY, "f100"), "", Note("far", at(MANY, "f1"))))).splitlines()
    gutters = {line.index("|") for line in lines if "|" in line}
    assert gutters == {4}


WORDS = st.text(st.sampled_from("ab \t日é\u0301😀\x1b\u202e[;"), max_size=300)


@given(before=WORDS, marked=st.sampled_from(["q", "日", "q日q"]), after=WORDS)
def test_carets_stand_below_their_text(before: str, marked: str, after: str) -> None:
    source = Source("a.dt", f"{before}{marked}{after}")
    span = Span(source, len(before), len(before) + len(marked))
    _, _, shown, underline = plain(render_one(error(span, ""))).splitlines()
    start = underline.index("^")
    assert set(underline[start:]) == {"^"}
    assert _cut(shown, start, len(underline)) == marked
    assert cell_len(shown) <= 104


def _cut(line: str, start: int, end: int) -> str:
    """The characters in the cells start..end, without the marks that combine with them."""
    inside = [
        char
        for at, char in enumerate(line)
        if start <= cell_len(line[:at]) < end and cell_len(char)
    ]
    return "".join(inside)


@given(text=st.text(max_size=200), start=st.integers(0, 200), length=st.integers(0, 50))
def test_any_text_any_span_any_width(text: str, start: int, length: int) -> None:
    source = Source("a\x1b.dt", text)
    start = min(start, len(text))
    span = Span(source, start, min(start + length, len(text)))
    found = error(span, "label", Note("note", Span(source, 0, 0)), hint="hint")
    for width in (None, 1, 30, 200):
        shown = plain(render_one(found, width))
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)
        assert "^" in shown


def test_a_line_of_five_million_characters_is_not_measured() -> None:
    source = Source("huge.dt", "a + " * 1_250_000)
    found = [error(Span(source, 4 * n, 4 * n + 1)) for n in range(0, 1_250_000, 12_500)]
    text = plain(render(found))
    assert max(map(len, text.splitlines())) < 120
