"""Writes diagnostics as a SARIF 2.1.0 log, for services that scan code."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from dtpoly.diagnostics import Diagnostic, Edit, Note
from dtpoly.source import Span

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

Data = dict[str, object]


def render(
    diagnostics: Sequence[Diagnostic],
    descriptions: Mapping[str, str],
    version: str,
    assumed: Sequence[str] = (),
) -> str:
    """Return the log as text."""
    return json.dumps(log(diagnostics, descriptions, version, assumed), indent=2) + "\n"


def log(
    diagnostics: Sequence[Diagnostic],
    descriptions: Mapping[str, str],
    version: str,
    assumed: Sequence[str] = (),
) -> Data:
    """Return a log with one run of dtpoly, and a rule with its description for each code.

    What a proof assumes is no finding, so it stands in the notes of the run.
    """
    codes = sorted({diagnostic.code for diagnostic in diagnostics})
    driver = {
        "name": "dtpoly",
        "version": version,
        "rules": [_rule(code, descriptions.get(code)) for code in codes],
    }
    run: Data = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(d, codes.index(d.code)) for d in diagnostics],
    }
    if assumed:
        notes = [{"level": "note", "message": _text(one)} for one in assumed]
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": notes}]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str, description: str | None) -> Data:
    rule: Data = {"id": code}
    if description is not None:
        rule |= {"fullDescription": _text(description), "help": _text(description)}
    return rule


def _result(diagnostic: Diagnostic, rule_index: int) -> Data:
    result: Data = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule_index,
        "level": str(diagnostic.severity),  # SARIF has the same three words
        "message": _text(_message(diagnostic)),
    }
    related = [_related(note, note.span) for note in diagnostic.notes if note.span is not None]
    if diagnostic.span is not None:
        result["locations"] = [{"physicalLocation": _location(diagnostic.span)}]
    if related:
        result["relatedLocations"] = related
    if diagnostic.edits:
        result["fixes"] = [_fix(diagnostic)]
    return result


def _message(diagnostic: Diagnostic) -> str:
    """Return the title and the label in one sentence, then notes without a place, then the hint."""
    title = diagnostic.title
    parts = [f"{title}: {diagnostic.label}" if diagnostic.label else title]
    parts.extend(f"note: {note.text}" for note in diagnostic.notes if note.span is None)
    if diagnostic.hint:
        parts.append(f"hint: {diagnostic.hint}")
    return "\n".join(parts)


def _related(note: Note, span: Span) -> Data:
    return {"physicalLocation": _location(span), "message": _text(note.text)}


def _fix(diagnostic: Diagnostic) -> Data:
    by_file: dict[str, list[Edit]] = {}
    for edit in diagnostic.edits:
        by_file.setdefault(edit.span.source.name, []).append(edit)
    changes = [
        {"artifactLocation": {"uri": _uri(name)}, "replacements": [_replacement(e) for e in edits]}
        for name, edits in by_file.items()
    ]
    fix: Data = {"artifactChanges": changes}
    if diagnostic.hint:
        fix["description"] = _text(diagnostic.hint)
    return fix


def _replacement(edit: Edit) -> Data:
    return {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.replacement}}


def _location(span: Span) -> Data:
    return {"artifactLocation": {"uri": _uri(span.source.name)}, "region": _region(span)}


def _region(span: Span) -> Data:
    """Return the region of a span: columns count from 1, and the end column is exclusive."""
    start_line, start_column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {
        "startLine": start_line,
        "startColumn": start_column,
        "endLine": end_line,
        "endColumn": end_column,
    }


def _uri(name: str) -> str:
    path = Path(name)
    if path.is_absolute():
        return path.as_uri()
    return quote(path.as_posix(), errors="surrogateescape")


def _text(text: str) -> Data:
    """Return a message with its braces doubled, because SARIF reads single ones as placeholders."""
    return {"text": text.replace("{", "{{").replace("}", "}}")}
