"""Directives that are written elsewhere, such as on the command line, are added to a file here.

The parser reads them as if they stood at the end of the file; their spans stay in their own text.
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
    found = [d for d in parsed.found if not _is_last_end(d, end)]
    found.extend(no_choice_here(one) for call in directives for one in choices_in(call))
    statements = (*file.statements, *directives)
    return Added(replace(file, statements=statements), directives, others, tuple(found))


def _is_last_end(diagnostic: Diagnostic, end: int) -> bool:
    return diagnostic.code == NO_END and diagnostic.span is not None and diagnostic.span.end == end
