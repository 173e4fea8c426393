"""The JSON document: its exact form, and places that count code points."""

import json

from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity, apply_edits
from dtpoly.render.as_json import document, render
from dtpoly.source import Source, Span

SOURCE = Source("a.dt", "# 😀\r\nf[x] = j;\n")
SPAN = Span(SOURCE, SOURCE.text.index("j"), SOURCE.text.index("j") + 1)
FOUND = Diagnostic(
    "DT120",
    Severity.ERROR,
    "unknown name 'j'",
    SPAN,
    "not declared",
    (Note("everywhere"), Note("beside this", Span(SOURCE, 2, 3))),
    "write x",
    (Edit(SPAN, "x"),),
)
PLACE = {
    "file": "a.dt",
    "start": {"line": 2, "column": 8, "offset": 12},
    "end": {"line": 2, "column": 9, "offset": 13},
}


def test_document() -> None:
    beside = {
        "file": "a.dt",
        "start": {"line": 1, "column": 3, "offset": 2},
        "end": {"line": 1, "column": 4, "offset": 3},
    }
    assert document([FOUND]) == {
        "version": 1,
        "diagnostics": [
            {
                "code": "DT120",
                "severity": "error",
                "title": "unknown name 'j'",
                "place": PLACE,
                "label": "not declared",
                "notes": [
                    {"text": "everywhere", "place": None},
                    {"text": "beside this", "place": beside},
                ],
                "hint": "write x",
                "edits": [{"place": PLACE, "replacement": "x"}],
            }
        ],
    }


def test_text_is_json_of_plain_ascii() -> None:
    strange = Diagnostic("DT103", Severity.WARNING, "é\x1b\udcff", None)
    text = render([FOUND, strange])
    assert text.isascii()
    assert json.loads(text) == document([FOUND, strange])


def test_nothing_found() -> None:
    assert document([]) == {"version": 1, "diagnostics": []}


def test_edits_can_be_applied_from_the_document_alone() -> None:
    shown = json.loads(render([FOUND]))["diagnostics"][0]["edits"][0]
    start, end = (shown["place"][side]["offset"] for side in ("start", "end"))
    text = SOURCE.text[:start] + shown["replacement"] + SOURCE.text[end:]
    assert text == apply_edits(SOURCE.text, FOUND.edits)
