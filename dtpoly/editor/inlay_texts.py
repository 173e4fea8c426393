"""Writes what an editor shows between the words of a text: types, sizes, numbers of programs."""

from collections.abc import Iterator

from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.label_sizes import size_rules
from dtpoly.algorithm.program import Program
from dtpoly.editor.analysed_text import AnalysedText
from dtpoly.editor.hover_texts import programs_text
from dtpoly.frontend.symbols import SymbolKind
from dtpoly.frontend.syntax import Definition
from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class InlayText:
    """A text that is shown behind an offset."""

    offset: int
    text: str


def inlay_texts(analysed: AnalysedText) -> Iterator[InlayText]:
    """Yield what the text does not say, and the file means; nothing of a file that is wrong."""
    if analysed.program is None:
        return
    yield from _of_declarations(analysed, analysed.program)
    programs = {one.name: programs_text(one) for one in analysed.kernels}
    for statement in analysed.read.file.statements:
        if isinstance(statement, Definition) and statement.func.text in programs:
            yield InlayText(statement.span.end, f"  {programs[statement.func.text]}")


def _of_declarations(analysed: AnalysedText, program: Program) -> Iterator[InlayText]:
    types = types_of(program)
    rules = {one.label: one for one in size_rules(program)}
    for symbol in analysed.read.symbols.values():
        found = types.get(symbol.name)
        if symbol.kind is SymbolKind.FUNC and symbol.dtype is None and found and found.dtype:
            yield InlayText(symbol.span.end, f": {found.dtype}")
        rule = rules.get(symbol.name)
        if rule is not None and rule.reads:
            yield InlayText(symbol.span.end, f" = {rule.reads[0]}")
