"""Lays diagnostics out as styled lines for a person: title, place, source, notes and hint."""

from collections.abc import Iterable, Iterator, Sequence

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.render.printable import printable
from dtpoly.render.snippet import Line, Mark, belongs, snippet
from dtpoly.render.text_width import wrap
from dtpoly.source import Span

WINDOW = 100  # cells of a source line that are shown where there is no terminal
NARROWEST = 20

STYLES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.NOTE: "bold cyan",
}


def render(diagnostics: Sequence[Diagnostic], width: int | None = None) -> Iterator[Line]:
    """Yield all diagnostics, with a blank line between them, and the summary.

    If the width is None (there is no terminal), messages are not broken into lines.
    """
    for diagnostic in diagnostics:
        yield from render_one(diagnostic, width)
        yield ()
    yield ((summary(diagnostics), "bold"),)


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """Return a summary such as `2 errors, 1 warning`."""
    found = [diagnostic.severity for diagnostic in diagnostics]
    counts = [(found.count(severity), severity) for severity in Severity]
    parts = [f"{count} {kind}{'s' if count > 1 else ''}" for count, kind in counts if count]
    return ", ".join(parts) or "no errors"


def plain(lines: Iterable[Line]) -> str:
    """Return the lines without their styles."""
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines)


def render_one(diagnostic: Diagnostic, width: int | None = None) -> Iterator[Line]:
    """Yield one diagnostic; notes near it are marked in the same piece of source."""
    style = STYLES[diagnostic.severity]
    head = f"{diagnostic.severity}[{diagnostic.code}]"
    digits = _digits(diagnostic)
    room = max((width or WINDOW) - digits - 3, NARROWEST)
    marks: tuple[Mark, ...] = ()
    apart: list[Note] = []
    yield from _headed(head, style, diagnostic.title, width)
    if diagnostic.span is not None:
        marks = (Mark(diagnostic.span, diagnostic.label, style, main=True),)
    for note in diagnostic.notes:
        if note.span is None:
            continue
        mark = Mark(note.span, note.text, "blue")
        if marks and belongs(mark, marks, room):
            marks = (*marks, mark)
        else:
            apart.append(note)
    if diagnostic.span is not None:
        yield _place(diagnostic.span, digits)
        yield from snippet(marks, digits, room, wrap_labels=width is not None)
    for note in diagnostic.notes:
        if note.span is None:
            yield from _remark("note", "bold", note.text, digits, width)
    if diagnostic.hint:
        yield from _remark("hint", "bold green", diagnostic.hint, digits, width)
    for note in apart:
        yield from _apart(note, digits, room, width)


def _digits(diagnostic: Diagnostic) -> int:
    """Return the number of digits of the largest line number, so that all gutters line up."""
    spans = (diagnostic.span, *(note.span for note in diagnostic.notes))
    return max((len(str(max(span.lines()))) for span in spans if span is not None), default=1)


def _headed(head: str, style: str, text: str, width: int | None) -> Iterator[Line]:
    first, *others = _broken(text, width, 2, taken=len(head))
    yield (head, style), (f": {first}", "bold")
    for other in others:
        yield ((f"  {other}", "bold"),)


def _remark(word: str, style: str, text: str, digits: int, width: int | None) -> Iterator[Line]:
    indent = " " * (digits + 1)
    first, *others = _broken(text, width, digits + 5 + len(word))
    yield (f"{indent}= ", "blue"), (word, style), (f": {first}", "")
    for other in others:
        yield ((f"{indent}  {' ' * len(word)}  {other}", ""),)


def _broken(text: str, width: int | None, indent: int, taken: int = 0) -> list[str]:
    if width is None:
        return [printable(line) for line in text.splitlines() or [""]]
    return wrap(text, max(width - indent, NARROWEST), taken)


def _place(span: Span, digits: int) -> Line:
    return ((f"{' ' * digits}--> ", "blue"), (printable(str(span)), ""))


def _apart(note: Note, digits: int, room: int, width: int | None) -> Iterator[Line]:
    assert note.span is not None
    yield from _headed("note", STYLES[Severity.NOTE], note.text, width)
    yield _place(note.span, digits)
    marks = (Mark(note.span, "", "blue"),)
    yield from snippet(marks, digits, room, wrap_labels=width is not None)
