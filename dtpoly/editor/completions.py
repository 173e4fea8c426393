"""Finds what could be written at a place of a text: names, words, and directives that are legal."""

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.operations import CALL_NAMES
from dtpoly.budget import OverBudgetError, within
from dtpoly.budget import check as check_budget
from dtpoly.checking import check
from dtpoly.diagnostics import DtpolyError
from dtpoly.editor.analysed_text import ReadText
from dtpoly.editor.hover_texts import primitive_named
from dtpoly.frontend.deep import deep_recursion
from dtpoly.frontend.lexical import TokenKind, scan
from dtpoly.frontend.symbols import Symbol, SymbolKind, what
from dtpoly.frozen import dataclass
from dtpoly.offers import offers
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.explained_directives import meaning
from dtpoly.schedule.primitive import signatures
from dtpoly.source import Source

SECONDS = 0.4  # of the processor, in which directives are tried
BETWEEN = ("{", "}", "|")  # of lists of directives, outside of brackets
DIRECTIVE = re.compile(r"(\w+)\s*\.\s*(\w*)\Z")
ARGUMENTS = re.compile(r"(\w+)\s*\.\s*(\w+)\s*\([^()]*\Z")
DTYPE = re.compile(r"(?:Func|In|SIn)\b[^=]*:\s*\w*\Z")
DECLARED = re.compile(r"(?:Func|In|SIn|Var|RVar)\s[^=]*\Z")
WORD = re.compile(r"\w*\Z")
COMMENT = re.compile(r"#[^\n]*")


class CompletedKind(Enum):
    """The kind of a completion, by which an editor chooses its picture."""

    KEYWORD = "keyword"
    FUNC = "func"
    TENSOR = "tensor"
    NUMBER = "number"
    LABEL = "label"
    FUNCTION = "function"
    DTYPE = "dtype"
    LEGAL = "legal directive"
    DIRECTIVE = "directive"


KINDS = {
    SymbolKind.FUNC: CompletedKind.FUNC,
    SymbolKind.IN: CompletedKind.TENSOR,
    SymbolKind.SIN: CompletedKind.NUMBER,
    SymbolKind.VAR: CompletedKind.LABEL,
    SymbolKind.RVAR: CompletedKind.LABEL,
}


@dataclass(frozen=True, slots=True)
class Completed:
    """A text that could be written, and what it is."""

    text: str
    kind: CompletedKind
    detail: str = ""
    about: str = ""


def completions(read: ReadText, offset: int, primitives: Primitives) -> Iterator[Completed]:
    """Yield what could be written at an offset, the most likely first."""
    start = _start_of_statement(read.source, offset)
    if start is None:
        return
    head = COMMENT.sub("", read.source.text[start:offset]).lstrip()
    if at := ARGUMENTS.search(head):
        yield from _arguments(read, at[1], at[2], primitives)
    elif at := DIRECTIVE.match(head):
        yield from _directives(read, at[1], (start, offset), primitives)
    elif DTYPE.match(head):
        yield from (Completed(dtype, CompletedKind.DTYPE) for dtype in DType)
    elif DECLARED.match(head):
        return  # a new name
    elif WORD.match(head):
        yield from (Completed(kind, CompletedKind.KEYWORD) for kind in SymbolKind)
        yield from _names(read, SymbolKind.FUNC)
    else:
        yield from _names(read, *SymbolKind)
        yield from (Completed(name, CompletedKind.FUNCTION) for name in CALL_NAMES)


def _start_of_statement(source: Source, offset: int) -> int | None:
    """Return where the statement at an offset begins; None within a comment."""
    start, brackets = 0, 0
    for token in scan(source).tokens:
        if token.kind is TokenKind.COMMENT and token.span.start < offset <= token.span.end:
            return None
        if token.span.end > offset:
            break
        if token.kind is TokenKind.END or (token.text in BETWEEN and not brackets):
            start, brackets = token.span.end, 0
        brackets += (token.text in "([") - (token.text in ")]")
    return start


def _names(read: ReadText, *kinds: SymbolKind) -> Iterator[Completed]:
    for one in read.symbols.values():
        if one.kind in kinds:
            yield Completed(one.name, KINDS[one.kind], what(one))


def _directives(
    read: ReadText, func: str, statement: tuple[int, int], primitives: Primitives
) -> Iterator[Completed]:
    """Yield directives on a Func: first the legal ones, as they could stand, then all by name."""
    if not _is_func(read.symbols, func):
        return
    names = {word: one for one in primitives for word in (one.name, *one.aliases)}
    for text in _legal(_without(read.source, *statement), func, primitives):
        word = text.partition("(")[0]
        about = meaning(names[word]) if word in names else ""
        yield Completed(text, CompletedKind.LEGAL, "legal here, and changes the code", about)
    for one in primitives:
        signature = signatures(one, func)[-1]
        yield Completed(one.name, CompletedKind.DIRECTIVE, signature, meaning(one))


def _is_func(symbols: Mapping[str, Symbol], name: str) -> bool:
    return name in symbols and symbols[name].kind is SymbolKind.FUNC


def _without(source: Source, start: int, offset: int) -> Source:
    """Return the text without the statement that is being written: to its end, or that of the line.

    The end of a statement that stands below is not its own.
    """
    text = source.text
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    tokens = scan(Source(source.name, text[offset:end])).tokens
    ends = (token.span.end for token in tokens if token.kind is TokenKind.END)
    end = offset + next(ends, end - offset)
    return Source(source.name, f"{text[:start]}\n{text[end:]}")


@lru_cache(maxsize=32)
def _legal(source: Source, func: str, primitives: Primitives) -> tuple[str, ...]:
    """Return the directives that could come next; those that were tried until the time is over."""
    found: list[str] = []
    try:
        with within(SECONDS), deep_recursion():
            program = check(source, primitives).program
            if program is None or program.find_func(func) is None:
                return ()
            for one in offers(program, func, primitives):
                check_budget()
                if one.is_legal and one.changes:
                    found.append(one.directive.removesuffix(";").partition(".")[2])
    except (OverBudgetError, DtpolyError):
        pass
    return tuple(found)


def _arguments(read: ReadText, func: str, word: str, primitives: Primitives) -> Iterator[Completed]:
    """Yield the labels of a Func, the loops that directives made, and other names."""
    found = primitive_named(word, primitives)
    about = "" if found is None else signatures(found, func)[-1]
    mine = [one for one in read.occurrences if not one.is_declaring and one.name != func]
    loops = {one.name for one in read.occurrences if one.name not in read.symbols}
    labels = {one.name for one in mine if one.name in read.symbols}
    for name in sorted(loops):
        yield Completed(name, CompletedKind.LABEL, "a loop", about)
    for symbol in read.symbols.values():
        if symbol.name in labels:
            yield Completed(symbol.name, KINDS[symbol.kind], what(symbol), about)
