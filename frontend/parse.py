"""A source in, its syntax tree and every syntax error out; a bad statement spoils no other."""

from collections.abc import Callable, Iterator

from pyparsing import ParseBaseException, ParserElement

from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.source import Source, Span

from . import grammar, tree
from .brackets import check_brackets
from .deep import deep_recursion
from .explain import curly, explain, foreign_operator, no_statement, reserved_name
from .lexical import (
    CLOSING,
    DECLARATION_WORDS,
    OPENING,
    WHERE,
    Kind,
    Piece,
    Scan,
    Token,
    pieces,
    scan,
)
from .limit import MAX_ERRORS, limited
from .syntax import File, Statement

MAX_CHARACTERS = 200_000  # some 2,000 Funcs, read in a few seconds


@dataclass(frozen=True, slots=True)
class Parsed:
    """What could be read of a file, and what was wrong."""

    file: File
    found: tuple[Diagnostic, ...]


def parse(source: Source) -> Parsed:
    """Read every statement; those that are wrong are told and left out."""
    if len(source.text) > MAX_CHARACTERS:
        return Parsed(File(source, (), frozenset()), (_too_large(source),))
    scanned = scan(source)
    statements: list[Statement] = []
    found = list(scanned.found)
    unread: set[str] = set()
    with deep_recursion():
        for piece in pieces(scanned):
            if len(found) > MAX_ERRORS:
                unread |= {t.text for t in scanned.tokens if t.kind is Kind.NAME}
                break
            for read in _read(piece, scanned):
                statements.extend(read.statements)
                found.extend(read.found)
                unread |= {t.text for t in read.unread if t.kind is Kind.NAME}
    return Parsed(File(source, tuple(statements), frozenset(unread)), limited(found))


@dataclass(frozen=True, slots=True)
class _Read:
    """A statement, or what is wrong with it and the tokens that therefore stay unread."""

    statements: tuple[Statement, ...] = ()
    found: tuple[Diagnostic, ...] = ()
    unread: tuple[Token, ...] = ()


def _too_large(source: Source) -> Diagnostic:
    return Diagnostic(
        "DT119",
        Severity.ERROR,
        f"'{source.name}' is too large",
        None,
        notes=(Note(f"it has {len(source.text):,} characters"),),
        hint=f"the limit is {MAX_CHARACTERS:,} characters; split the file",
    )


def _read(piece: Piece, scanned: Scan) -> Iterator[_Read]:
    """The statements of a piece: one, or more where a `;` is missing."""
    for _ in range(MAX_ERRORS + 1):
        split = _missing_end(piece)
        if split is None:
            yield _read_one(piece, scanned)
            return
        yield _read_one(Piece(piece.tokens[:split], None), scanned)
        piece = Piece(piece.tokens[split:], piece.end)


def _read_one(piece: Piece, scanned: Scan) -> _Read:
    statement = check_brackets(piece) or _statement(piece)
    if isinstance(statement, Diagnostic):
        # A strange character has been told; what follows from it is not.
        found = () if scanned.is_strange(piece.span) else (statement,)
        return _Read(found=found, unread=piece.tokens)
    if piece.end is None:
        return _Read((statement,), (_no_semicolon(piece.tokens[-1]),))
    return _Read((statement,))


def _missing_end(piece: Piece) -> int | None:
    """Position of the first token of a next statement, if a line before it lacks its `;`."""
    level = 0
    for at in range(1, len(piece.tokens)):
        before = piece.tokens[at - 1]
        level += (before.text in OPENING) - (before.text in CLOSING)
        if level == 0 and before.ends_operand and _begins_statement(piece, at):
            return at
    return None


def _begins_statement(piece: Piece, at: int) -> bool:
    token = piece.tokens[at]
    before = piece.tokens[at - 1]
    source = token.span.source
    apart = source.line_number(before.span.end - 1) < source.line_number(token.span.start)
    if token.text == "{":
        return apart
    if token.kind is not Kind.NAME or token.text in ("and", "or", "not"):
        return False
    following = piece.tokens[at + 1] if at + 1 < len(piece.tokens) else None
    if token.text == WHERE and following is not None and following.kind is Kind.NAME:
        return apart
    text = following.text if following is not None else ""
    return token.text in DECLARATION_WORDS or (apart and text in ("[", ".", "="))


def _no_semicolon(last: Token) -> Diagnostic:
    end = last.span.end
    return Diagnostic(
        "DT109",
        Severity.ERROR,
        "';' is missing at the end of this statement",
        last.span,
        "';' expected after this",
        hint="end each declaration, definition and directive with ';'",
        edits=(Edit(Span(last.span.source, end, end), ";"),),
    )


def _statement(piece: Piece) -> Statement | Diagnostic:
    """Read one statement; its first tokens say of which kind it is."""
    if piece.is_declaration or piece.is_definition:
        wrong = curly(piece)
        if wrong is not None:
            return wrong
    foreign = foreign_operator(piece)
    if foreign is not None:
        return foreign
    if piece.is_declaration:
        return reserved_name(piece) or _parsed(piece, grammar.DECLARATION, tree.declaration)
    if piece.is_directive:
        return _parsed(piece, grammar.DIRECTIVE, tree.directive)
    if piece.is_alternatives:
        return _parsed(piece, grammar.ALTERNATIVES, tree.alternatives)
    if piece.is_constraint:
        return _parsed(piece, grammar.CONSTRAINT, tree.constraint)
    if piece.is_algorithm:
        return _parsed(piece, grammar.ALGORITHM, tree.algorithm)
    if piece.is_definition:
        return _parsed(piece, grammar.DEFINITION, tree.definition)
    return no_statement(piece)


def _parsed(
    piece: Piece,
    element: ParserElement,
    build: Callable[[tree.Place, tree.Group], Statement],
) -> Statement | Diagnostic:
    whole = piece.span
    place = tree.Place(whole.source, whole.start, whole.end)
    try:
        return build(place, grammar.match(element, _code(piece)))
    except ParseBaseException as error:
        return explain(piece, whole.start + error.loc)
    except tree.TreeError as error:
        return error.diagnostic


def _code(piece: Piece) -> str:
    """The text of a piece; all that is no token is blanked, so that offsets stay what they are."""
    parts: list[str] = []
    at = piece.tokens[0].span.start
    for token in piece.tokens:
        parts.append(" " * (token.span.start - at))
        parts.append(token.text)
        at = token.span.end
    return "".join(parts)
