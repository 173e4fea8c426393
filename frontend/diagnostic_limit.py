"""Keeps at most a hundred errors and a hundred other diagnostics; nobody reads more at once."""

from collections.abc import Iterable

from dtpoly.diagnostics import Diagnostic, Severity, in_source_order

MAX_ERRORS = 100
MAX_REMARKS = 100  # warnings and notes


def limited(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the first hundred errors and the first hundred other diagnostics, in source order."""
    ordered = in_source_order(found)
    errors = [wrong for wrong in ordered if wrong.severity is Severity.ERROR]
    remarks = [remark for remark in ordered if remark.severity is not Severity.ERROR]
    kept = {*errors[:MAX_ERRORS], *remarks[:MAX_REMARKS]}
    more: list[Diagnostic] = []
    if len(errors) > MAX_ERRORS:
        more.append(_too_many(Severity.ERROR, f"{MAX_ERRORS} errors", errors[MAX_ERRORS]))
    if len(remarks) > MAX_REMARKS:
        what = f"{MAX_REMARKS} warnings and notes"
        more.append(_too_many(Severity.WARNING, what, remarks[MAX_REMARKS]))
    return in_source_order([*(one for one in ordered if one in kept), *more])


def _too_many(severity: Severity, what: str, following: Diagnostic) -> Diagnostic:
    return Diagnostic(
        "DT118",
        severity,
        f"more than {what}; the others are left out",
        following.span,
        "the next one is here" if following.span else "",
        hint="mend the first ones; the others often follow from them",
    )
