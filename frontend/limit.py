"""Diagnostics in, as many errors out as anyone reads in one go."""

from collections.abc import Iterable

from dtpoly.diagnostics import Diagnostic, Severity, in_source_order

MAX_ERRORS = 100


def limited(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Everything as far as the first hundred errors, in source order."""
    ordered = in_source_order(found)
    errors = [at for at, wrong in enumerate(ordered) if wrong.severity is Severity.ERROR]
    if len(errors) <= MAX_ERRORS:
        return ordered
    return (*ordered[: errors[MAX_ERRORS]], _too_many(ordered[errors[MAX_ERRORS]]))


def _too_many(following: Diagnostic) -> Diagnostic:
    return Diagnostic(
        "DT118",
        Severity.ERROR,
        f"more than {MAX_ERRORS} errors; the others are left out",
        following.span,
        "the next one is here" if following.span else "",
        hint="mend the first ones; the others often follow from them",
    )
