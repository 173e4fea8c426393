"""Divides the tokens of one statement into lines, for `dtpoly fmt`.

It decides where lines break, how far they are indented, and where spaces stand.
"""

import re
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise

from dtpoly.algorithm.operations import INFIX
from dtpoly.frozen import dataclass

from .lexical import CLOSING, OPENING, PLACE, RANGE, StatementPiece, Token, TokenKind

MAX_COLUMNS = 100
INDENT = 4

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class StatementLine:
    """A line of a statement: its code with the indent, and the comment at its end."""

    code: str
    comment: Token | None


@dataclass(frozen=True, slots=True)
class _Statement:
    """The tokens of a statement, with comments and `;`, and the facts that decide its layout.

    The sequences have one entry for each token. `spaces` is the text between a token and the one
    before it, if both are in one line. `openers` is the innermost bracket that is open before the
    token, or -1. `ranks` says how well the line may break before the token: the lowest rank breaks
    first, and without a rank it never breaks. `hanging` are the brackets after which the author's
    line ends.
    """

    tokens: Sequence[Token]
    spaces: Sequence[str]
    openers: Sequence[int]
    ranks: Sequence[tuple[int, int] | None]
    hanging: Set[int]


def line_ends_before(tokens: Sequence[Token], at: int) -> int:
    """Return how many line ends the author put between a token and the one before it."""
    start = tokens[at - 1].span.end if at else 0
    span = tokens[at].span
    return len(_LINE_END.findall(span.source.text, start, span.start))


def lay_out(tokens: Sequence[Token]) -> Iterator[StatementLine]:
    """Yield the lines of a statement.

    The author's line breaks stay. A line that is too long breaks at the places of lowest rank. Law:
    when the lines are laid out again, nothing changes.
    """
    authors = _author_starts(tokens)
    statement = _statement(tokens, authors)
    starts = _wrapped(statement, authors)
    indents = _indents(statement, starts)
    for start, end in _lines(statement, starts):
        last = tokens[end - 1]
        code = " " * indents[start] + _text(statement, start, end)
        yield StatementLine(code, last if last.kind is TokenKind.COMMENT else None)


def _author_starts(tokens: Sequence[Token]) -> list[int]:
    """Return the tokens that begin a line in the source.

    A `;` joins the line before it if it can.
    """
    starts = [0]
    for at in range(1, len(tokens)):
        broken = tokens[at].kind is not TokenKind.END and line_ends_before(tokens, at) > 0
        if broken or tokens[at - 1].kind is TokenKind.COMMENT:
            starts.append(at)
    return starts


def _statement(tokens: Sequence[Token], starts: Sequence[int]) -> _Statement:
    code = [at for at, token in enumerate(tokens) if token.kind is not TokenKind.COMMENT]
    piece = StatementPiece(tuple(tokens[at] for at in code), None)
    starts_value = {at for at in code if not tokens[at].ends_operand}
    starts_value |= {code[0]} if piece.is_constraint else set()
    signs = {
        at
        for before, at in pairwise(code)
        if tokens[at].text in ("+", "-", "~") and before in starts_value
    }
    openers = _openers(tokens)
    outer = _outer(tokens, openers) if piece.is_alternatives else set[int]()
    is_directive = piece.is_directive or piece.is_alternatives
    equals = [at for at in code if tokens[at].text == "="]
    spaces = [""] * len(tokens)
    ranks: list[tuple[int, int] | None] = [None] * len(tokens)
    depth = 0
    for before, at in pairwise(code):
        previous, token = tokens[before], tokens[at]
        depth += (previous.text in OPENING) - (previous.text in CLOSING)
        tight = before in signs or (is_directive and previous.text != ",")
        if before in outer or at in outer or _is_step(previous, token, is_directive):
            tight = token.kind is TokenKind.END or token.text == ","
        elif not tight:
            tight = _joins(previous, token, piece)
        # The word before a place, and no tensor of that name.
        if piece.is_declaration and (previous.text, token.text, depth) == (PLACE, "[", 0):
            tight = False
        if not tight:
            spaces[at] = " "
        # A line breaks between the labels on the left of a definition only as a last resort.
        level = len(tokens) if equals and at < equals[0] else depth
        if token.text == "|":
            ranks[at] = (level, -1)
        elif previous.text == ",":
            ranks[at] = (level, 0)
        elif token.text in INFIX and at not in signs and not is_directive:
            ranks[at] = (level, INFIX[token.text].precedence)
    ends = [at - 1 for at in starts[1:]]
    ends.extend([at - 1 for at in ends if tokens[at].kind is TokenKind.COMMENT])
    hanging = {at for at in ends if tokens[at].text in OPENING}
    return _Statement(tokens, spaces, openers, ranks, hanging)


def _openers(tokens: Sequence[Token]) -> list[int]:
    """Return for each token the innermost bracket around it; a bracket is not around itself."""
    openers: list[int] = []
    stack = [-1]
    for at, token in enumerate(tokens):
        openers.append(stack[-1])
        if token.text in OPENING:
            stack.append(at)
        elif token.text in CLOSING:
            stack.pop()
    return openers


def _outer(tokens: Sequence[Token], openers: Sequence[int]) -> set[int]:
    """Return the brackets and bars of alternatives, which have spaces around them."""
    found: set[int] = set()
    for at, token in enumerate(tokens):
        is_in_list = openers[at] < 0 or openers[at] in found
        if is_in_list and token.text in ("{", "}", "|"):
            found.add(at)
    return found


def _is_step(previous: Token, token: Token, is_directive: bool) -> bool:
    """True if a token is the `*` or `+` before the step of a range."""
    return is_directive and token.text in ("*", "+") and previous.kind is TokenKind.NUMBER


def _joins(previous: Token, token: Token, piece: StatementPiece) -> bool:
    """True if no space stands between two neighbouring tokens of a line."""
    if piece.is_constraint and previous is piece.tokens[0]:
        return False
    if piece.is_declaration and previous.text == RANGE:
        return False
    if "." in (previous.text, token.text):
        return True
    if previous.text in OPENING or token.text in CLOSING or token.text in (",", ":", ";"):
        return True
    if previous.text == ":":
        return not piece.is_declaration
    return token.text in OPENING and previous.ends_operand


def _lines(statement: _Statement, starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    return zip(starts, (*starts[1:], len(statement.tokens)), strict=True)


def _text(statement: _Statement, start: int, end: int) -> str:
    """Return the code of the tokens start..end-1 in one line, without a comment at its end."""
    if statement.tokens[end - 1].kind is TokenKind.COMMENT:
        end -= 1
    parts = zip(statement.spaces[start:end], statement.tokens[start:end], strict=True)
    return "".join(f"{space}{token.text}" for space, token in parts).removeprefix(" ")


def _indent(statement: _Statement, at: int, indents: Sequence[int]) -> int:
    """Return the indent of the line that begins with a token; `indents` are those of earlier lines.

    The line is one step deeper than the statement, or than the line in which its bracket opens. It
    is two steps deeper if more code follows the bracket in that line. A token that closes the
    bracket or the statement, and a bar between alternatives, is not deeper.
    """
    token, opener = statement.tokens[at], statement.openers[at]
    outer = indents[opener] if opener >= 0 else 0
    if at == 0 or token.text in CLOSING or token.text == "|" or token.kind is TokenKind.END:
        return outer
    return outer + (INDENT if opener < 0 or opener in statement.hanging else 2 * INDENT)


def _indents(statement: _Statement, starts: Sequence[int]) -> list[int]:
    """Return for each token the indent of its line."""
    indents: list[int] = []
    for start, end in _lines(statement, starts):
        indents.extend([_indent(statement, start, indents)] * (end - start))
    return indents


def _wrapped(statement: _Statement, starts: list[int]) -> list[int]:
    """Add line starts until each line fits or has no place to break."""
    while True:
        indents = _indents(statement, starts)
        more: list[int] = []
        for start, end in _lines(statement, starts):
            more.append(start)
            if indents[start] + len(_text(statement, start, end)) > MAX_COLUMNS:
                more.extend(_filled(statement, start, end, indents))
        if len(more) == len(starts):
            return starts
        starts = more


def _filled(statement: _Statement, start: int, end: int, indents: list[int]) -> Iterator[int]:
    """Yield the tokens before which a line breaks: at the lowest rank, each as late as fits."""
    ranked = [
        (rank, at) for at in range(start + 1, end) if (rank := statement.ranks[at]) is not None
    ]
    if not ranked:
        return
    loosest = min(ranked)[0]
    places = [at for rank, at in ranked if rank == loosest]
    indent = indents[start]
    column = indent + len(_text(statement, start, places[0]))
    for place, after in zip(places, (*places[1:], end), strict=True):
        text = _text(statement, place, after)
        column += len(statement.spaces[place]) + len(text)
        if column > MAX_COLUMNS:
            yield place
            indent = _indent(statement, place, indents)
            column = indent + len(text)
        indents[place:after] = [indent] * (after - place)
