"""Turns diagnostics into those of an editor, and their edits into quick fixes."""

from collections.abc import Iterable, Iterator

from lsprotocol.types import (
    CodeAction,
    CodeActionKind,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    Location,
    Position,
    Range,
    TextEdit,
    WorkspaceEdit,
)
from lsprotocol.types import Diagnostic as EditorDiagnostic
from pygls.workspace import PositionCodec

from dtpoly.diagnostics import Diagnostic, Severity
from dtpoly.editor.editor_positions import range_of
from dtpoly.source import Span

SEVERITIES = {
    Severity.ERROR: DiagnosticSeverity.Error,
    Severity.WARNING: DiagnosticSeverity.Warning,
    Severity.NOTE: DiagnosticSeverity.Information,
}
NOWHERE = Range(Position(0, 0), Position(0, 0))
PRODUCT = "dtpoly"


def editor_diagnostics(
    found: Iterable[Diagnostic], uri: str, codec: PositionCodec
) -> list[EditorDiagnostic]:
    """Return what an editor shows: title, reason and way out in the text, notes at their places."""
    return [_diagnostic(one, uri, codec) for one in found]


def _diagnostic(one: Diagnostic, uri: str, codec: PositionCodec) -> EditorDiagnostic:
    related = [
        DiagnosticRelatedInformation(Location(uri, range_of(note.span, codec)), note.text)
        for note in one.notes
        if note.span is not None
    ]
    return EditorDiagnostic(
        range=_place(one.span, codec),
        message=message(one),
        severity=SEVERITIES[one.severity],
        code=one.code,
        source=PRODUCT,
        related_information=related or None,
    )


def _place(span: Span | None, codec: PositionCodec) -> Range:
    """Return the range of a span; that of a whole file is its beginning."""
    return NOWHERE if span is None else range_of(span, codec)


def message(one: Diagnostic) -> str:
    """Return the title, what is at the place, the notes without a place, and the hint."""
    lines = [f"{one.title} ({one.label})" if one.label else one.title]
    lines += [f"note: {note.text}" for note in one.notes if note.span is None]
    lines += [f"hint: {one.hint}"] if one.hint else []
    return "\n".join(lines)


def quick_fixes(
    found: Iterable[Diagnostic], start: int, end: int, uri: str, codec: PositionCodec
) -> Iterator[CodeAction]:
    """Yield what mends the messages that touch these offsets."""
    for one in found:
        span = one.span
        if not one.edits or span is None or span.start > end or span.end < start:
            continue
        edits = [TextEdit(range_of(edit.span, codec), edit.replacement) for edit in one.edits]
        yield CodeAction(
            title=one.hint or f"mend: {one.title}",
            kind=CodeActionKind.QuickFix,
            diagnostics=[_diagnostic(one, uri, codec)],
            edit=WorkspaceEdit(changes={uri: edits}),
            is_preferred=True,
        )
