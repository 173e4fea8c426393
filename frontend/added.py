"""Adds directives that are written elsewhere, such as on the command line, to a file.

The parser reads them as if they stood at the end of the file. Their spans stay in their own text.
"""

from dataclasses import replace

from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.source import Source

from .choice_messages import no_choice_here
from .parse import parse
from .syntax import DirectiveCall, File, Statement, choices_in

NO_END = "DT109"


@dataclass(frozen=True, slots=True)
class Added:
    """A file with the directives that were added, and the mistakes in the text of the directives.

    `others` are the statements of that text that are not directives. They are left out of the file.
    """

    file: File
    directives: tuple[DirectiveCall, ...]
    others: tuple[Statement, ...]
    found: tuple[Diagnostic, ...]


def add_directives(file: File, text: Source) -> Added:
    """Read directives as if they stood at the end of the file; the last `;` may be missing.

    The spans of the directives are in their own text.
    """
    parsed = parse(text)
    directives = tuple(s for s in parsed.file.statements if isinstance(s, DirectiveCall))
    others = tuple(s for s in parsed.file.statements if not isinstance(s, DirectiveCall))
    end = max((s.span.end for s in parsed.file.statements), default=0)
    found = [d for d in parsed.found if not _is_last_end(d, end)]
    found.extend(no_choice_here(one) for call in directives for one in choices_in(call))
    statements = (*file.statements, *directives)
    return Added(replace(file, statements=statements), directives, others, tuple(found))


def _is_last_end(diagnostic: Diagnostic, end: int) -> bool:
    return diagnostic.code == NO_END and diagnostic.span is not None and diagnostic.span.end == end
