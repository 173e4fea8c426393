"""The one record of everything the product has to say about a user's text."""

from collections.abc import Iterable
from enum import StrEnum

from dtpoly.frozen import dataclass
from dtpoly.source import Span


class Severity(StrEnum):
    """How bad it is; only an error makes the input wrong."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Note:
    """One more fact, at a place of its own if it has one."""

    text: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the characters of a span; an empty span inserts."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Title, place, what is there (label), why (notes), the way out (hint, edits).

    Without a span it speaks of the whole run, such as a file that is not there.
    """

    code: str
    severity: Severity
    title: str
    span: Span | None
    label: str = ""
    notes: tuple[Note, ...] = ()
    hint: str = ""
    edits: tuple[Edit, ...] = ()


class DtpolyError(Exception):
    """The input is wrong; carries every diagnostic that was found.

    Its str is the text, where one is given: the diagnostics as a person reads them.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic], text: str = "") -> None:
        self.diagnostics = tuple(diagnostics)
        titles = (f"{d.code}: {d.title}" for d in self.diagnostics)
        super().__init__(text or "\n".join(titles))


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """True if any of them makes the input wrong."""
    return any(d.severity is Severity.ERROR for d in diagnostics)


def in_source_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sort by place, those without one first; a repeated one is said once."""

    def place(diagnostic: Diagnostic) -> tuple[int, int]:
        span = diagnostic.span
        return (span.start, span.end) if span else (-1, -1)

    return tuple(sorted(dict.fromkeys(diagnostics), key=place))


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits; they must not overlap."""
    for edit in sorted(edits, key=lambda e: e.span.start, reverse=True):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text
