"""A directive that is understood and changes nothing in, a warning that says so out."""

from dtpoly.diagnostics import Diagnostic, Severity
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.settings import without_statement


def has_no_effect(primitive: Primitive) -> Diagnostic:
    """Code is the same without it: a user who measures must know that."""
    return Diagnostic(
        "DT198",
        Severity.WARNING,
        f"'{primitive.name}' changes nothing in this version",
        primitive.span,
        "is checked, and then left out of account",
        (),
        "remove it: the code is the same without it",
        without_statement(primitive.span),
    )
