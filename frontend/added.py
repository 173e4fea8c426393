"""A file and the text of directives that are not in it in; the file with them at its end out."""

from dataclasses import replace

from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.source import Source

from .parse import parse
from .syntax import DirectiveCall, File, Statement

NO_END = "DT109"


@dataclass(frozen=True, slots=True)
class Added:
    """The file with more directives, and what is wrong with the text that they stand in.

    `others` are statements of that text that are no directives; they are left out.
    """

    file: File
    directives: tuple[DirectiveCall, ...]
    others: tuple[Statement, ...]
    found: tuple[Diagnostic, ...]


def add_directives(file: File, text: Source) -> Added:
    """Read directives as if they stood at the end of the file; the last `;` may be missing.

    Their spans are in their own text.
    """
    parsed = parse(text)
    directives = tuple(s for s in parsed.file.statements if isinstance(s, DirectiveCall))
    others = tuple(s for s in parsed.file.statements if not isinstance(s, DirectiveCall))
    end = max((s.span.end for s in parsed.file.statements), default=0)
    found = tuple(d for d in parsed.found if not _is_last_end(d, end))
    statements = (*file.statements, *directives)
    return Added(replace(file, statements=statements), directives, others, found)


def _is_last_end(diagnostic: Diagnostic, end: int) -> bool:
    return diagnostic.code == NO_END and diagnostic.span is not None and diagnostic.span.end == end
