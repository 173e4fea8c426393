"""Answers what an editor asks about a text as a whole, or about a part of it."""

from lsprotocol import types

from dtpoly.diagnostics import DtpolyError
from dtpoly.editor.editor_diagnostics import quick_fixes
from dtpoly.editor.editor_positions import position_of, whole_range
from dtpoly.editor.folds import folds
from dtpoly.editor.inlay_texts import inlay_texts
from dtpoly.editor.open_texts import OpenTexts
from dtpoly.frontend.deep import deep_recursion
from dtpoly.frontend.format import format_source
from dtpoly.frontend.symbols import SymbolKind

KINDS = {
    SymbolKind.FUNC: types.SymbolKind.Function,
    SymbolKind.IN: types.SymbolKind.Variable,
    SymbolKind.SIN: types.SymbolKind.Number,
    SymbolKind.VAR: types.SymbolKind.Property,
    SymbolKind.RVAR: types.SymbolKind.Property,
}


def actions(texts: OpenTexts, asked: types.CodeActionParams) -> list[types.CodeAction]:
    """List what mends the messages at a place."""
    one = texts.text(asked)
    if one is None:
        return []
    start, end = texts.offset(one, asked.range.start), texts.offset(one, asked.range.end)
    return [*quick_fixes(one.analysed.diagnostics, start, end, one.uri, texts.codec)]


def formatted(
    texts: OpenTexts, asked: types.DocumentFormattingParams
) -> list[types.TextEdit] | None:
    """Lay the text out as `dtpoly fmt` does; one whose syntax is wrong stays as it is."""
    one = texts.text(asked)
    if one is None:
        return None
    source = one.read.source
    try:
        with deep_recursion():
            text = format_source(source)
    except DtpolyError:
        return None
    return [types.TextEdit(whole_range(source, texts.codec), text)] if text != source.text else []


def symbols(texts: OpenTexts, asked: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    """List the names that the text declares."""
    one = texts.text(asked)
    found = [*one.read.symbols.values()] if one else []
    places = [texts.range(symbol.span) for symbol in found]
    return [
        types.DocumentSymbol(symbol.name, KINDS[symbol.kind], place, place, symbol.kind)
        for symbol, place in zip(found, places, strict=True)
    ]


def folded(texts: OpenTexts, asked: types.FoldingRangeParams) -> list[types.FoldingRange]:
    """List the parts that can be folded."""
    one = texts.text(asked)
    kinds = {True: types.FoldingRangeKind.Comment, False: types.FoldingRangeKind.Region}
    return [
        types.FoldingRange(fold.first - 1, fold.last - 1, kind=kinds[fold.is_comment])
        for fold in (folds(one.read) if one else ())
    ]


def hints(texts: OpenTexts, asked: types.InlayHintParams) -> list[types.InlayHint]:
    """List what is shown between the words of some lines."""
    one = texts.text(asked)
    if one is None:
        return []
    found = [
        types.InlayHint(position_of(one.read.source, hint.offset, texts.codec), hint.text)
        for hint in inlay_texts(one.analysed)
    ]
    lines = range(asked.range.start.line, asked.range.end.line + 1)
    return [hint for hint in found if hint.position.line in lines]
