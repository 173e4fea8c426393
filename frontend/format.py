"""Lays out the text of a file in the one canonical way, for `dtpoly fmt`.

Only white space changes: the sequence of tokens stays the same.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from dtpoly.diagnostics import DtpolyError, has_errors
from dtpoly.source import Source

from .lexical import Token, TokenKind, scan
from .line_layout import INDENT, MAX_COLUMNS, StatementLine, lay_out, line_ends_before
from .parse import parse


def format_source(source: Source) -> str:
    """Return the text of a source in its canonical layout.

    Each statement begins a line. The author's line breaks inside a statement stay, lines that are
    too long get more, and comments stay where they are. Law: the result parses to the same file,
    and formatting it again changes nothing. Raises DtpolyError if the syntax is wrong.
    """
    parsed = parse(source)
    if has_errors(parsed.found):
        raise DtpolyError(parsed.found)
    return "".join(f"{text}\n" for text in _aligned(_lines(scan(source).tokens)))


def _lines(tokens: Sequence[Token]) -> list[StatementLine]:
    lines: list[StatementLine] = []
    at = 0
    while at < len(tokens):
        token, breaks = tokens[at], line_ends_before(tokens, at)
        if token.kind is TokenKind.COMMENT and breaks == 0 and lines:
            lines[-1] = StatementLine(lines[-1].code, token)
            at += 1
            continue
        if breaks > 1 and lines:
            lines.append(StatementLine("", None))
        if token.kind is TokenKind.COMMENT:
            lines.append(StatementLine("", token))
            at += 1
            continue
        end = next(i for i in range(at, len(tokens)) if tokens[i].kind is TokenKind.END) + 1
        lines.extend(lay_out(tokens[at:end]))
        at = end
    return lines


def _aligned(lines: Sequence[StatementLine]) -> Iterator[str]:
    """Yield the text of each line; comments at the ends of neighbouring lines share a column."""
    for trailed, group in groupby(lines, _is_trailed):
        run = tuple(group)
        # A line that is too long anyway does not move the comments of its neighbours.
        widths = (len(line.code) for line in run if len(line.code) <= MAX_COLUMNS)
        column = max(widths, default=0) if trailed else 0
        for line in run:
            comment = _comment(line.comment) if line.comment else ""
            gap = "  " if trailed else ""
            yield f"{line.code.ljust(column)}{gap}{comment}"


def _is_trailed(line: StatementLine) -> bool:
    return line.comment is not None and bool(line.code.strip())


def _comment(token: Token) -> str:
    """Put a space after the `#` of a comment; `#!` and a run of `#` stay as they are."""
    text = token.text.expandtabs(INDENT).rstrip()
    return text if text[1:2] in ("", " ", "#", "!") else f"# {text[1:]}"
