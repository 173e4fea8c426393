"""The texts that a schedule was read from, and the same texts with other directives.

A directive that goes leaves blanks, so that all else keeps its line and column in messages.
"""

import re
from collections.abc import Iterable, Sequence

from dtpoly.algorithm.program import Directive
from dtpoly.algorithm.show import show_directive
from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity, has_errors, in_source_order
from dtpoly.frontend.added import add_directives
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve
from dtpoly.frontend.syntax import File
from dtpoly.frozen import dataclass
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.directive_question import in_the_way
from dtpoly.schedule.settings import settings
from dtpoly.source import Source, Span

TYPED = "<schedule>"  # what messages call directives that stand in no file
Sources = tuple[Source, ...]  # the file, then texts of directives that were added to it

# A directive ends with `;`; blanks and comments may stand before it.
_END = re.compile(r"\s*(?:#[^\n]*\n\s*)*;")
_NO_LINE_END = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class Reread:
    """A file to which texts of directives were added, and what is wrong with these texts."""

    file: File
    found: tuple[Diagnostic, ...]
    added: int = 0  # directives of the last text


def sources_of(file: File) -> Sources:
    """Return the texts that the statements of a file stand in, its own first."""
    return tuple(dict.fromkeys((file.source, *(one.span.source for one in file.statements))))


def read(sources: Sources) -> Reread:
    """Read several texts: the first is a file, and the others are added to it."""
    first, *others = sources
    parsed = parse(first)
    known = Reread(parsed.file, tuple(parsed.found))
    for source in others:
        more = add(known.file, source)
        known = Reread(more.file, (*known.found, *more.found), more.added)
    return known


def add(file: File, source: Source) -> Reread:
    """Add one more text, which may hold nothing but directives."""
    added = add_directives(file, source)
    found = (*added.found, *(_no_directive(other.span) for other in added.others))
    return Reread(added.file, found, len(added.directives))


def without(sources: Sources, spans: Iterable[Span]) -> Sources:
    """Return the texts with blanks in the place of some directives."""
    gone = tuple(spans)
    first, *others = (_blanked(source, gone) for source in sources)
    return (first, *(source for source in others if source.text.strip()))


def instead(sources: Sources, text: Source, primitives: Primitives) -> Sources:
    """Return the texts with these directives in the place of those that contradict them.

    Of a directive with several arguments, those that nothing contradicts are left.
    Raises DtpolyError where the new text is wrong.
    """
    news = _directives(sources, text)
    for new in bind(news, primitives).primitives:
        program = resolve(read(sources).file).program
        gone = tuple(in_the_way(program, new, primitives))
        kept = "".join(f"{show_directive(one.left)}\n" for one in gone if one.left is not None)
        sources = without(sources, (one.old.span for one in gone if one.old.span is not None))
        if kept:
            sources = (*sources, Source(TYPED, kept))
    return (*sources, text)


def named(
    directives: Sequence[Directive], words: str, sources: Sources, primitives: Primitives
) -> tuple[Directive, ...]:
    """Return the directives that `f.block` or `f.block(x:4)` names. Raises DtpolyError."""
    func, dot, name = words.strip().partition(".")
    if dot and name.isidentifier():
        found = [one for one in directives if (one.func, one.name) == (func, name)]
    else:
        wanted = {
            (setting.key, setting.value)
            for one in bind(_directives(sources, Source(TYPED, words)), primitives).primitives
            for setting in settings(one)
        }
        found = [
            one
            for one in directives
            for bound in bind((one,), primitives).primitives
            if {(setting.key, setting.value) for setting in settings(bound)} <= wanted
        ]
    if not found:
        said = ", ".join(dict.fromkeys(f"{one.func}.{one.name}" for one in directives))
        raise ValueError(f"there is no directive '{words}' to leave out; there are: {said or '-'}")
    return tuple(found)


def _directives(sources: Sources, text: Source) -> tuple[Directive, ...]:
    """Read the directives of a text that is added to others."""
    before = read(sources)
    after = add(before.file, text)
    resolved = resolve(after.file)
    wrong = [one for one in (*after.found, *resolved.found) if one.span and one.span.source == text]
    if has_errors(wrong):
        raise DtpolyError(in_source_order(wrong))
    return resolved.program.directives[len(resolved.program.directives) - after.added :]


def _blanked(source: Source, spans: Iterable[Span]) -> Source:
    text = source.text
    for span in spans:
        if span.source == source:
            end = _END.match(text, span.end)
            stop = end.end() if end else span.end
            gone = _NO_LINE_END.sub(" ", text[span.start : stop])
            text = text[: span.start] + gone + text[stop:]
    return Source(source.name, text)


def _no_directive(span: Span) -> Diagnostic:
    return Diagnostic(
        "DT229",
        Severity.ERROR,
        "only directives can be added to a schedule",
        span,
        "is no directive",
        hint="put declarations and definitions into the text that is parsed",
    )
