"""Writes what an editor shows about the word under the pointer, as Markdown."""

from collections.abc import Iterator, Mapping

from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.label_sizes import size_rules
from dtpoly.algorithm.program import Func, Program
from dtpoly.editor.analysed_text import AnalysedText
from dtpoly.explanation import heading
from dtpoly.frontend.symbols import Symbol, SymbolKind, what
from dtpoly.frontend.syntax import DirectiveCall, directives_in
from dtpoly.frozen import dataclass
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.explained_directives import Explained, meaning
from dtpoly.schedule.parallelism import KernelSummary
from dtpoly.schedule.primitive import Primitive, signatures
from dtpoly.source import Span

MOST_LINES = 12  # of what a directive changes
NO_SIZES: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class HoverText:
    """What is shown, and the word that it is about."""

    text: str
    span: Span


def hover_text(analysed: AnalysedText, offset: int, primitives: Primitives) -> HoverText | None:
    """Return what there is to say of the word at an offset, if it is a name or a directive."""
    for statement in analysed.read.file.statements:
        for call in directives_in(statement):
            if call.name.span.start <= offset <= call.name.span.end:
                return _of_directive(analysed, call, primitives)
    found = analysed.read.occurrence_at(offset)
    if found is None:
        return None
    symbol = analysed.read.symbols.get(found.name)
    if symbol is None:
        return HoverText(f"`{found.name}`: a loop that a directive makes", found.span)
    return HoverText("\n\n".join(_of_symbol(analysed, symbol)), found.span)


def _of_symbol(analysed: AnalysedText, symbol: Symbol) -> Iterator[str]:
    program = analysed.program
    if program is None:
        yield f"`{symbol.name}`: {what(symbol)}"
    elif symbol.kind in (SymbolKind.VAR, SymbolKind.RVAR):
        yield f"`{symbol.name}`: {what(symbol)}; {size_text(program, symbol.name)}"
    else:
        yield f"`{symbol.name}`: {what(symbol)} of {type_text(program, symbol.name)}"
    if program is not None and (func := program.find_func(symbol.name)) is not None:
        yield from _of_func(analysed, program, func)


def _of_func(analysed: AnalysedText, program: Program, func: Func) -> Iterator[str]:
    yield f"```dt\n{func.name}[{', '.join(func.labels)}]\n```"
    for kernel in analysed.kernels:
        if func.name in kernel.funcs:
            yield f"computed in the kernel of `{kernel.name}`: {programs_text(kernel)}"
            loops = (f"- {one.steps} steps along {one.label} of {one.func}" for one in kernel.loops)
            yield "\n".join(loops)


def type_text(program: Program, name: str) -> str:
    """Return the dtype of a tensor, or who decides it."""
    found = types_of(program).get(name)
    return "the dtype that the caller gives it" if not found or not found.dtype else found.dtype


def size_text(program: Program, label: str) -> str:
    """Return where the size of a label comes from."""
    rule = next((one for one in size_rules(program) if one.label == label), None)
    if rule is None:
        return "its size is never asked for"
    if rule.size is not None:
        return f"its size is {rule.size}"
    if rule.reads:
        return f"its size is that of {' and '.join(dict.fromkeys(map(str, rule.reads)))}"
    return "the caller passes its size"


def programs_text(kernel: KernelSummary) -> str:
    """Return how many programs run, and how many lanes the widest statement has."""
    lanes = " * ".join(map(str, kernel.lanes))
    return f"{kernel.programs} programs" + (f", tiles of {lanes}" if lanes else "")


def _of_directive(
    analysed: AnalysedText, call: DirectiveCall, primitives: Primitives
) -> HoverText | None:
    found = primitive_named(call.name.text, primitives)
    if found is None:
        return None
    parts = [f"```dt\n{signatures(found, call.func.text)[-1]}\n```", meaning(found)]
    one = analysed.explained(call.name.span.start)
    parts += () if one is None else _explained(one)
    return HoverText("\n\n".join(parts), call.name.span)


def primitive_named(word: str, primitives: Primitives) -> type[Primitive] | None:
    """Return the primitive of a directive's name, or of another name of it."""
    return next((one for one in primitives if word in (one.name, *one.aliases)), None)


def _explained(one: Explained) -> Iterator[str]:
    """Yield, for each word such as "changes", what the directive did here."""
    for item in heading(one, NO_SIZES).items:
        lines = [f"- {line}" for line in item.paragraphs[:MOST_LINES]]
        yield "\n".join((f"**{item.word}**", "", *lines))
