"""Divides a text into tokens, and the tokens into statements.

It also reports whatever the grammar must never meet, such as characters that the language does not
have.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from enum import StrEnum

from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.source import Source, Span

from . import characters
from .elsewhere import OPERATORS

DECLARATION_WORDS = ("Func", "In", "SIn", "Var", "RVar")
RESERVED = (*DECLARATION_WORDS, "and", "or", "not", "inf", "nan")

OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = {closing: opening for opening, closing in OPENING.items()}

# The word that begins a constraint, and the one that begins the name of the algorithm's file.
WHERE, ALGORITHM = "where", "algorithm"
# The word before the range of a label.
RANGE = "in"
PLACE = "at"


class TokenKind(StrEnum):
    """The kinds of tokens."""

    NAME = "name"
    NUMBER = "number"
    STRING = "string"  # the name of a file
    SYMBOL = "symbol"
    COMMENT = "comment"
    END = "end"  # the `;` of a statement


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, operator, bracket or comment, with its place."""

    kind: TokenKind
    text: str
    span: Span

    @property
    def ends_operand(self) -> bool:
        """True if an operator or the end of a statement can follow this token."""
        if self.kind is TokenKind.NAME:
            return self.text not in ("and", "or", "not", *DECLARATION_WORDS)
        return self.kind in (TokenKind.NUMBER, TokenKind.STRING) or self.text in CLOSING


@dataclass(frozen=True, slots=True)
class StatementPiece:
    """The tokens of one statement, without comments and without its `;`."""

    tokens: tuple[Token, ...]
    end: Token | None  # the `;`, if there is one

    @property
    def span(self) -> Span:
        """Return the span from the first token to the last."""
        return self.tokens[0].span.to(self.tokens[-1].span)

    @property
    def is_declaration(self) -> bool:
        """True if the first token begins a declaration."""
        return self.tokens[0].text in DECLARATION_WORDS

    @property
    def is_directive(self) -> bool:
        """True if the first tokens begin a directive."""
        return self._starts_with_name and self._second == "."

    @property
    def is_definition(self) -> bool:
        """True if the first tokens begin a definition."""
        return self._starts_with_name and self._second in ("[", "=", "==")

    @property
    def is_alternatives(self) -> bool:
        """True if the first token begins a list of directives to choose from."""
        return self.tokens[0].text == "{"

    @property
    def is_constraint(self) -> bool:
        """True if the first tokens begin a constraint on choices."""
        return self.tokens[0].text == WHERE and not (self.is_directive or self.is_definition)

    @property
    def is_algorithm(self) -> bool:
        """True if the first tokens begin the statement that names the file of the algorithm."""
        return self.tokens[0].text == ALGORITHM and not (self.is_directive or self.is_definition)

    @property
    def _starts_with_name(self) -> bool:
        return self.tokens[0].kind is TokenKind.NAME and not self.is_declaration

    @property
    def _second(self) -> str:
        return self.tokens[1].text if len(self.tokens) > 1 else ""


@dataclass(frozen=True, slots=True)
class Scan:
    """The tokens of a source, comments too, and the mistakes in its characters."""

    source: Source
    tokens: tuple[Token, ...]
    found: tuple[Diagnostic, ...]
    strange: tuple[int, ...]  # the offsets of characters that no grammar knows, in order

    def is_strange(self, span: Span) -> bool:
        """True if a character that no grammar knows stands inside a span."""
        at = bisect_left(self.strange, span.start)
        return at < len(self.strange) and self.strange[at] < span.end


_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n\f\v]+)
      | (?P<comment>\#[^\n\r]*)
      | (?P<string>"[^"\n\r]*"|'[^'\n\r]*')
      | (?P<number>0[xX][0-9a-fA-F]+\b
                  |(?:[0-9][0-9_]*(?:\.(?!\.))?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?
                   (?:(?<=[0-9.])[fF](?![\w\[]))?)
      | (?P<name>\w[\w\u0300-\u036f]*)  # a letter may have its accent apart
      | (?P<symbol>\*\*|//|/\*|<<|>>|&&|\|\||<=|>=|==|!=|->|\.\.|[-+*/%<>&^~=()\[\]{}|,:.])
      | (?P<end>;)
      | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


def scan(source: Source) -> Scan:
    """Split a source into tokens; characters that belong to no token are reported and left out."""
    tokens: list[Token] = []
    found: list[Diagnostic] = []
    strange: list[int] = []
    misspelt: dict[str, list[Span]] = {}
    for match in _TOKEN.finditer(source.text):
        group, text = match.lastgroup or "", match.group()
        span = Span(source, match.start(), match.end())
        match group:
            case "space":
                continue
            case "number" if not characters.NUMBER.fullmatch(text):
                found.append(characters.malformed_number(text, span))
            case "name" if not characters.NAME.fullmatch(text):
                misspelt.setdefault(text, []).append(span)
            case "string" if "\t" not in text and _names_a_file(tokens):
                tokens.append(Token(TokenKind.STRING, text, span))
                continue
            case "string":
                found.append(characters.string(text, span))
            case "other" if text in characters.LOOKALIKES:
                found.append(characters.lookalike(text, span))
            case "other" if text not in OPERATORS:
                characters.tell_unexpected(found, span)
            case _:
                tokens.append(
                    Token(TokenKind.SYMBOL if group == "other" else TokenKind(group), text, span)
                )
                continue
        strange.append(span.start)
        if group in ("number", "name"):
            tokens.append(Token(TokenKind(group), text, span))
        elif characters.LOOKALIKES.get(text) == ";":
            tokens.append(Token(TokenKind.END, ";", span))
    taken = {token.text for token in tokens}
    found.extend(characters.not_ascii(text, spans, taken) for text, spans in misspelt.items())
    return Scan(source, tuple(tokens), tuple(found), tuple(strange))


def _names_a_file(before: list[Token]) -> bool:
    """True if a string may follow these tokens: they begin the name of the algorithm's file."""
    code = [token for token in before[-64:] if token.kind is not TokenKind.COMMENT][-2:]
    starts = len(code) == 1 or (len(code) == 2 and code[0].kind is TokenKind.END)
    return starts and code[-1].text == ALGORITHM


def pieces(scanned: Scan) -> Iterator[StatementPiece]:
    """Yield the statements: the runs of tokens that end with `;` or with the file."""
    run: list[Token] = []
    for token in scanned.tokens:
        if token.kind is TokenKind.COMMENT:
            continue
        if token.kind is not TokenKind.END:
            run.append(token)
        else:
            if run:
                yield StatementPiece(tuple(run), token)
            run = []
    if run:
        yield StatementPiece(tuple(run), None)
