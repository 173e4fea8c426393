"""Finds the parts of a text that an editor can fold: statements, comments, and the schedule."""

from collections.abc import Iterator

from dtpoly.editor.analysed_text import ReadText
from dtpoly.frontend.lexical import TokenKind, scan
from dtpoly.frontend.syntax import AlternativesSyntax, ConstraintSyntax, DirectiveCall
from dtpoly.frozen import dataclass

ONE_LINE = 1


@dataclass(frozen=True, slots=True)
class Fold:
    """The lines that can be folded, from 1; the last one is folded, too."""

    first: int
    last: int
    is_comment: bool = False


def folds(read: ReadText) -> Iterator[Fold]:
    """Yield what takes more than one line: the schedule, statements, and runs of comments."""
    scheduled: list[int] = []
    for statement in read.file.statements:
        lines = [*statement.span.lines()]
        if len(lines) > ONE_LINE:
            yield Fold(lines[0], lines[-1])
        if isinstance(statement, DirectiveCall | AlternativesSyntax | ConstraintSyntax):
            scheduled += lines
    if len(set(scheduled)) > ONE_LINE:
        yield Fold(min(scheduled), max(scheduled))
    yield from _comments(read)


def _comments(read: ReadText) -> Iterator[Fold]:
    """Yield runs of lines that are nothing but comments."""
    tokens = scan(read.source).tokens
    lines = {
        read.source.line_number(one.span.start) for one in tokens if one.kind is TokenKind.COMMENT
    }
    alone = sorted(at for at in lines if read.source.line(at).lstrip().startswith("#"))
    first: int | None = None
    for at in alone:
        first = at if first is None or at - 1 not in lines else first
        if at + 1 not in alone and at > first:
            yield Fold(first, at, is_comment=True)
        first = first if at + 1 in alone else None
