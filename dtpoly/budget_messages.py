"""Turns a budget that is over into the diagnostic that says so."""

from dtpoly.budget import OverBudgetError
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.source import Source, Span


def over(error: OverBudgetError, source: Source | None = None) -> Diagnostic:
    """Report which limit was passed in which stage, and what needs less."""
    return told(error.stage, error.limit, source)


def told(stage: str, limit: str, source: Source | None = None) -> Diagnostic:
    """Return the same of a stage and a limit in words."""
    return Diagnostic(
        "DT210",
        Severity.ERROR,
        f"this takes more than {limit}",
        None if source is None or not source.text else Span(source, 0, len(source.line(1))),
        "" if source is None else "in this file",
        (Note(f"it was stopped while {stage}"),),
        "give it more with --seconds, or ask for less: fuse and inline fewer Funcs, take tiles "
        "that divide each other, or split the file",
    )
