"""Answers what an editor asks about the word at a place."""

from lsprotocol import types

from dtpoly.editor.completions import CompletedKind, completions
from dtpoly.editor.hover_texts import hover_text
from dtpoly.editor.open_texts import OpenTexts
from dtpoly.editor.renaming import RefusedName, check_new_name

KINDS = {
    CompletedKind.KEYWORD: types.CompletionItemKind.Keyword,
    CompletedKind.FUNC: types.CompletionItemKind.Function,
    CompletedKind.TENSOR: types.CompletionItemKind.Variable,
    CompletedKind.NUMBER: types.CompletionItemKind.Variable,
    CompletedKind.LABEL: types.CompletionItemKind.Property,
    CompletedKind.FUNCTION: types.CompletionItemKind.Operator,
    CompletedKind.DTYPE: types.CompletionItemKind.TypeParameter,
    CompletedKind.LEGAL: types.CompletionItemKind.Snippet,
    CompletedKind.DIRECTIVE: types.CompletionItemKind.Method,
}


def hover(texts: OpenTexts, asked: types.HoverParams) -> types.Hover | None:
    """Say what a name is, or what a directive means and does."""
    one = texts.text(asked)
    if one is None:
        return None
    found = hover_text(one.analysed, texts.offset(one, asked.position), texts.primitives)
    if found is None:
        return None
    shown = types.MarkupContent(types.MarkupKind.Markdown, found.text)
    return types.Hover(shown, texts.range(found.span))


def complete(texts: OpenTexts, asked: types.CompletionParams) -> types.CompletionList:
    """List what could be written, the most likely first."""
    one = texts.text(asked)
    at = 0 if one is None else texts.offset(one, asked.position)
    every = completions(one.read, at, texts.primitives) if one else ()
    items = [
        types.CompletionItem(
            label=found.text,
            kind=KINDS[found.kind],
            detail=found.detail or None,
            documentation=found.about or None,
            sort_text=f"{number:04}",
        )
        for number, found in enumerate(every)
    ]
    return types.CompletionList(is_incomplete=False, items=items)


def definition(texts: OpenTexts, asked: types.DefinitionParams) -> types.Location | None:
    """Say where a name gets its meaning."""
    places = texts.places(asked)
    return types.Location(asked.text_document.uri, places[0]) if places else None


def references(texts: OpenTexts, asked: types.ReferenceParams) -> list[types.Location]:
    """List all places of a name."""
    places = texts.places(asked)
    first = 0 if asked.context.include_declaration else 1
    return [types.Location(asked.text_document.uri, place) for place in places[first:]]


def highlights(
    texts: OpenTexts, asked: types.DocumentHighlightParams
) -> list[types.DocumentHighlight]:
    """List the places of a name, to be marked while the pointer is on one."""
    return [types.DocumentHighlight(place) for place in texts.places(asked)]


def renamed_word(texts: OpenTexts, asked: types.PrepareRenameParams) -> types.Range | None:
    """Return the word that would be renamed, if it is a name."""
    word = texts.word(asked)
    return texts.range(word.span) if word else None


def rename(texts: OpenTexts, asked: types.RenameParams) -> types.WorkspaceEdit | RefusedName | None:
    """Give a name another name at all of its places, unless that would change a meaning."""
    one, word = texts.text(asked), texts.word(asked)
    if one is None or word is None:
        return None
    wrong = check_new_name(asked.new_name, word.name, one.read)
    if wrong is not None:
        return RefusedName(wrong)
    edits = [types.TextEdit(place, asked.new_name) for place in texts.places(asked)]
    return types.WorkspaceEdit(changes={asked.text_document.uri: edits})
