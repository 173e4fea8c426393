"""Refuses an expression that becomes too large with all that is inlined into it."""

from collections.abc import Iterator

from dtpoly.algorithm.substitute import parts_of
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.schedule.kernels import View

MOST_PARTS = 4_000  # of an expression


def check_inlined(view: View) -> Iterator[Diagnostic]:
    """Report the first expression that inlining makes too large; what reads it is larger still."""
    if not view.inlined:
        return
    for name, parts in parts_of(view.program, view.inlined).items():
        there = [one for one in view.below[name] if one in view.inlined]
        if there and parts > MOST_PARTS:
            yield Diagnostic(
                "DT209",
                Severity.ERROR,
                f"'{name}' is too large with all that is inlined into it",
                view.inlined[there[-1]].span,
                f"with it '{name}' has {parts:,} parts; the limit is {MOST_PARTS:,}",
                (Note("a Func that is read twice is inlined twice"),),
                "leave out some of the directives: a Func that is not inlined is computed once",
            )
            return
