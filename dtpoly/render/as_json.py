"""Writes diagnostics as a JSON document for editors and scripts.

Lines and columns count from 1, offsets from 0, all in code points; ends are exclusive.
"""

import json
from collections.abc import Sequence

from dtpoly.diagnostics import Diagnostic, Edit, Note
from dtpoly.source import Source, Span

VERSION = 1  # increases when a reader of the document has to change

Data = dict[str, object]


def render(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the document as text."""
    return json.dumps(document(diagnostics), indent=2) + "\n"


def document(diagnostics: Sequence[Diagnostic]) -> Data:
    """Return the document `{"version": 1, "diagnostics": [...]}`.

    A missing part is null or empty.
    """
    return {"version": VERSION, "diagnostics": [_diagnostic(d) for d in diagnostics]}


def _diagnostic(diagnostic: Diagnostic) -> Data:
    return {
        "code": diagnostic.code,
        "severity": str(diagnostic.severity),
        "title": diagnostic.title,
        "place": place(diagnostic.span),
        "label": diagnostic.label,
        "notes": [_note(note) for note in diagnostic.notes],
        "hint": diagnostic.hint,
        "edits": [_edit(edit) for edit in diagnostic.edits],
    }


def _note(note: Note) -> Data:
    return {"text": note.text, "place": place(note.span)}


def _edit(edit: Edit) -> Data:
    return {"place": place(edit.span), "replacement": edit.replacement}


def place(span: Span | None) -> Data | None:
    """Return the file of a span, and where the span starts and ends in the file."""
    if span is None:
        return None
    return {
        "file": span.source.name,
        "start": _position(span.source, span.start),
        "end": _position(span.source, span.end),
    }


def _position(source: Source, offset: int) -> Data:
    line, column = source.position(offset)
    return {"line": line, "column": column, "offset": offset}
