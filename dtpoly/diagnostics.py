"""The one record of everything the product has to say about a user's text."""

import functools
import linecache
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path

from dtpoly.frozen import dataclass
from dtpoly.source import Span

PACKAGE = str(Path(__file__).parent)
NOTEBOOKS = frozenset({"IPython", "ipykernel"})
PROPERTIES = functools.__file__  # which calls a property of dtpoly for whoever asks for it


class Severity(StrEnum):
    """The severity of a message; only an error makes the input wrong."""

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

    def __repr__(self) -> str:
        at = "" if self.span is None else f" at {self.span}"
        return f"<{self.severity} {self.code}{at}: {self.title}>"


def own_frames(error: BaseException) -> Iterator[str]:
    """Yield the calls that led into dtpoly, without those of the program that runs notebooks."""
    trace = error.__traceback__
    while trace is not None:
        code, line = trace.tb_frame.f_code, trace.tb_lineno
        if code.co_filename.startswith(PACKAGE):
            return
        is_between = code.co_filename == PROPERTIES
        if not is_between and not NOTEBOOKS.intersection(Path(code.co_filename).parts):
            text = linecache.getline(code.co_filename, line, trace.tb_frame.f_globals).strip()
            yield f"{code.co_filename}:{line}: {text}"
        trace = trace.tb_next


class DtpolyError(Exception):
    """The input is wrong; carries every diagnostic that was found.

    Its str is the text, where one is given: the diagnostics as a person reads them.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic], text: str = "") -> None:
        self.diagnostics = tuple(diagnostics)
        titles = (f"{d.code}: {d.title}" for d in self.diagnostics)
        super().__init__(text or "\n".join(titles))

    def __reduce__(self) -> tuple[type["DtpolyError"], tuple[tuple[Diagnostic, ...], str]]:
        """Let it come out of another process with its diagnostics, not with its text alone."""
        return type(self), (self.diagnostics, str(self))

    def _render_traceback_(self) -> list[str]:
        """Show a notebook the user's own lines and the message, and no line of dtpoly."""
        return [*own_frames(self), f"{type(self).__name__}: {self}"]


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
    """Return the text after all edits; they must not overlap."""
    for edit in sorted(edits, key=lambda e: e.span.start, reverse=True):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text
