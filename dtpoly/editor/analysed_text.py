"""Analyses the text of an open file: its syntax at once, and its verdict where there is time.

An editor asks about names while a text is half written, so syntax and verdict are two steps. The
first takes a few milliseconds.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property

from dtpoly.algorithm.program import Program
from dtpoly.budget import OverBudgetError, within
from dtpoly.budget_messages import over
from dtpoly.checking import Checked, check
from dtpoly.diagnostics import Diagnostic, DtpolyError, in_source_order
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.editor.occurrences import Occurrence, occurrences
from dtpoly.frontend.deep import deep_recursion
from dtpoly.frontend.parse import parse
from dtpoly.frontend.symbols import Symbol, collect
from dtpoly.frontend.syntax import File
from dtpoly.frozen import dataclass
from dtpoly.remarks import remarked_soon
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.explained_directives import Explained, explain_added
from dtpoly.schedule.parallelism import KernelSummary, summaries
from dtpoly.schedule.verdict import Verdict
from dtpoly.source import Source, Span

SECONDS = 10.0  # of the processor, for a verdict while somebody types
SECONDS_TO_EXPLAIN = 2.0
ONE = 1


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text whose statements were read: the file, its names, and where they stand."""

    source: Source
    file: File
    symbols: Mapping[str, Symbol]
    occurrences: tuple[Occurrence, ...]

    def occurrence_at(self, offset: int) -> Occurrence | None:
        """Return the name at an offset, or the one that ends there."""
        touching = (o for o in self.occurrences if o.span.start <= offset <= o.span.end)
        return max(touching, key=lambda one: one.span.start, default=None)

    def all_of(self, name: str) -> tuple[Occurrence, ...]:
        """Return every place of a name; those where it gets its meaning come first."""
        found = [one for one in self.occurrences if one.name == name]
        return tuple(sorted(found, key=lambda one: not one.is_declaring))


def read_text(source: Source) -> ReadText:
    """Read the statements of a text; those that are not finished are left out."""
    with deep_recursion():
        file = parse(source).file
        return ReadText(source, file, collect(file).table, occurrences(file))


@dataclass(frozen=True)
class AnalysedText:
    """A text with everything that was found in it."""

    read: ReadText
    diagnostics: tuple[Diagnostic, ...]
    checked: Checked | None = field(default=None, repr=False)

    @cached_property
    def kernels(self) -> tuple[KernelSummary, ...]:
        """Return what runs in parallel in each kernel; nothing if the file is wrong."""
        verdict = self.legal_verdict
        return () if verdict is None else summaries(verdict.scheduled, ())

    @property
    def program(self) -> Program | None:
        """Return the Program; None if something is wrong with the file."""
        return None if self.checked is None else self.checked.program

    @property
    def legal_verdict(self) -> Verdict | None:
        """Return the verdict on a legal schedule."""
        return None if self.checked is None or self.program is None else self.checked.verdict

    def explained(self, offset: int) -> Explained | None:
        """Explain the directive at an offset of a legal schedule, if there is time for that."""
        program, verdict = self.program, self.legal_verdict
        if self.checked is None or program is None or verdict is None:
            return None
        mine = [one for one in program.directives if _holds(one.span, offset)]
        if len(mine) != ONE:
            return None  # it is a part of a choice
        primitives, others = self.checked.primitives, [*program.directives]
        others.remove(mine[0])
        last = replace(program, directives=(*others, mine[0]))  # directives have no order
        try:
            with within(SECONDS_TO_EXPLAIN), deep_recursion():
                before = bind(others, primitives).primitives
                return explain_added(last, verdict, before, primitives)
        except (OverBudgetError, DtpolyError):
            return None


def _holds(span: Span | None, offset: int) -> bool:
    return span is not None and span.start <= offset <= span.end


def judged(read: ReadText, primitives: Primitives = DIRECTIVES) -> AnalysedText:
    """Find what is wrong with a text, and whether its schedule is legal."""
    try:
        with within(SECONDS), deep_recursion():
            checked = check(read.source, primitives)
            return AnalysedText(read, in_source_order(checked.diagnostics), checked)
    except OverBudgetError as error:
        return AnalysedText(read, (over(error, read.source),))
    except DtpolyError as error:
        return AnalysedText(read, error.diagnostics)


def with_remarks(one: AnalysedText) -> AnalysedText:
    """Add what only the code shows: then all is said that `dtpoly check` says.

    This takes several times as long as the verdict, so an editor shows the verdict before.
    """
    if one.checked is None:
        return one
    try:
        with within(SECONDS), deep_recursion():
            return replace(one, diagnostics=remarked_soon(one.checked).diagnostics)
    except (OverBudgetError, DtpolyError):
        return one
