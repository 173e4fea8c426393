"""Runs in a process beside the language server: reads texts, judges them, and answers about them.

The server sends a text whenever it changes. All else is asked of the text that came last.
"""

import signal
from collections.abc import Callable, Mapping
from typing import Any

from lsprotocol import types
from pygls.workspace import PositionCodec

from dtpoly.editor import text_answers, word_answers
from dtpoly.editor.analysed_text import judged, read_text, with_remarks
from dtpoly.editor.editor_diagnostics import editor_diagnostics
from dtpoly.editor.open_texts import OpenText, OpenTexts
from dtpoly.plugins import InFile, from_portable
from dtpoly.schedule.primitive import Primitive
from dtpoly.source import Source

Answer = Callable[[OpenTexts, Any], Any]
Portable = tuple[type[Primitive] | InFile, ...]
ANSWERS: Mapping[str, Answer] = {
    types.TEXT_DOCUMENT_HOVER: word_answers.hover,
    types.TEXT_DOCUMENT_COMPLETION: word_answers.complete,
    types.TEXT_DOCUMENT_DEFINITION: word_answers.definition,
    types.TEXT_DOCUMENT_REFERENCES: word_answers.references,
    types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: word_answers.highlights,
    types.TEXT_DOCUMENT_PREPARE_RENAME: word_answers.renamed_word,
    types.TEXT_DOCUMENT_RENAME: word_answers.rename,
    types.TEXT_DOCUMENT_CODE_ACTION: text_answers.actions,
    types.TEXT_DOCUMENT_FORMATTING: text_answers.formatted,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: text_answers.symbols,
    types.TEXT_DOCUMENT_FOLDING_RANGE: text_answers.folded,
    types.TEXT_DOCUMENT_INLAY_HINT: text_answers.hints,
}
# The texts of this process: its functions are called one after the other, and have no other state.
_texts: list[OpenTexts] = []


def begin(primitives: Portable, encoding: str | None) -> None:
    """Prepare a process that has just started; Ctrl-C is for the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _texts[:] = [OpenTexts(from_portable(primitives), PositionCodec(encoding))]


def take(uri: str, name: str, text: str) -> None:
    """Read a text, which replaces the one of this address."""
    _texts[0].by_uri[uri] = OpenText(uri, read_text(Source(name, text)))


def forget(uri: str) -> None:
    """Forget a text that was closed."""
    _texts[0].by_uri.pop(uri, None)


def judge(uri: str) -> list[types.Diagnostic] | None:
    """Return what is wrong with a text, as far as no code is needed to see it."""
    one = _texts[0].by_uri.get(uri)
    if one is None:
        return None
    one.found = judged(one.read, _texts[0].primitives)
    return editor_diagnostics(one.found.diagnostics, uri, _texts[0].codec)


def look_at_code(uri: str) -> list[types.Diagnostic] | None:
    """Return all that is wrong with a text that was judged; None if the code shows no more."""
    one = _texts[0].by_uri.get(uri)
    if one is None or one.found is None:
        return None
    before, one.found = one.found, with_remarks(one.found)
    if one.found.diagnostics == before.diagnostics:
        return None
    return editor_diagnostics(one.found.diagnostics, uri, _texts[0].codec)


def answer(feature: str, asked: Any) -> Any:
    """Answer what an editor asks."""
    return ANSWERS[feature](_texts[0], asked)
