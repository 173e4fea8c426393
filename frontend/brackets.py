"""Finds the first bracket of a statement that does not pair, or that nests too deeply.

The parser asks this before it hands a statement to the grammar, so the grammar may assume that
brackets pair.
"""

from itertools import pairwise

from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.source import Span

from .lexical import CLOSING, OPENING, RANGE, StatementPiece, Token

MAX_NESTING = 64  # brackets inside brackets


def check_brackets(piece: StatementPiece) -> Diagnostic | None:
    """Return the mistake of the first bracket that does not pair or nests too deeply, if any."""
    stack: list[Token] = []
    ranges = opening_ranges(piece)
    for token in piece.tokens:
        if token.text in OPENING:
            stack.append(token)
            if len(stack) > MAX_NESTING:
                return _too_deep(token.span)
        elif token.text in CLOSING:
            if not stack:
                return _closes_nothing(token)
            is_range = token.text == ")" and stack[-1] in ranges
            if stack[-1].text != CLOSING[token.text] and not is_range:
                return _crossed(token, stack)
            stack.pop()
    return _not_closed(stack, piece) if stack else None


def opening_ranges(piece: StatementPiece) -> tuple[Token, ...]:
    """Return the brackets that begin ranges of labels, as in `RVar k in [0, m + 1)`.

    They are closed by a `)`, since a range does not have its stop.
    """
    if not piece.is_declaration:
        return ()
    pairs = pairwise(piece.tokens)
    return tuple(two for one, two in pairs if one.text == RANGE and two.text == "[")


def open_brackets(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the brackets that stay open after these tokens, the innermost last.

    The tokens must pair otherwise: nothing is checked here.
    """
    stack: list[Token] = []
    for token in tokens:
        if token.text in OPENING:
            stack.append(token)
        elif token.text in CLOSING:
            stack.pop()
    return tuple(stack)


def _too_deep(span: Span) -> Diagnostic:
    return Diagnostic(
        "DT106",
        Severity.ERROR,
        f"brackets nest more than {MAX_NESTING} deep",
        span,
        f"level {MAX_NESTING + 1}",
        hint="give a part of the expression a Func of its own; it can be inlined again",
    )


def _closes_nothing(token: Token) -> Diagnostic:
    return Diagnostic(
        "DT108",
        Severity.ERROR,
        f"'{token.text}' closes nothing",
        token.span,
        f"no '{CLOSING[token.text]}' is open here",
        hint="remove it, or open the bracket before it",
        edits=(Edit(token.span, ""),),
    )


def _crossed(token: Token, stack: list[Token]) -> Diagnostic:
    opened = stack[-1]
    meant = OPENING[opened.text]
    if any(other.text == CLOSING[token.text] for other in stack):
        hint = f"write '{meant}' before it"
        edit = Edit(Span(token.span.source, token.span.start, token.span.start), meant)
    else:
        hint, edit = f"write '{meant}'", Edit(token.span, meant)
    return Diagnostic(
        "DT108",
        Severity.ERROR,
        f"'{token.text}' cannot close '{opened.text}'",
        token.span,
        f"'{meant}' expected",
        (Note("opened here", opened.span),),
        hint,
        (edit,),
    )


def _not_closed(stack: list[Token], piece: StatementPiece) -> Diagnostic:
    opened = stack[-1]
    end = piece.tokens[-1].span.end
    ranges = opening_ranges(piece)
    closings = [")" if token in ranges else OPENING[token.text] for token in reversed(stack)]
    closing = "".join(closings)
    hint = f"close it with '{closing[0]}'"
    edits: tuple[Edit, ...] = (Edit(Span(opened.span.source, end, end), closing),)
    if piece.end is not None and stack[0] is piece.tokens[0]:
        hint, edits = "separate the directives of an alternative by ','", ()
    return Diagnostic(
        "DT107",
        Severity.ERROR,
        f"'{opened.text}' is never closed",
        opened.span,
        f"no '{closing[0]}' before the end of the statement",
        hint=hint,
        edits=edits,
    )
