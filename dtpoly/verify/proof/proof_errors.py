"""Says in words why a proof ended early: what was not understood, or what took too long."""

from __future__ import annotations

import islpy as isl

from dtpoly.budget import OverBudgetError
from dtpoly.verify.algebra.algorithm_terms import Unsaid
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.regions import NotAffine
from dtpoly.verify.proof.stored_values import Unwritten

# Errors that a strange text may cause while it is read; the text then counts as not proved.
CONFUSED = (LookupError, ValueError, TypeError, AttributeError, AssertionError, ArithmeticError)


def is_late(error: BaseException) -> bool:
    """Return whether a proof ended for want of time."""
    return isinstance(error, OverBudgetError | isl.Error)


def told(error: BaseException) -> tuple[int, str]:
    """Return the line where something went wrong, and why."""
    match error:
        case Unread():
            return error.line, error.what
        case Unwritten():
            return error.access.line, error.why
        case NotAffine():
            return 0, "a product of sizes in a condition or an index"
        case Unsaid():
            return 0, f"the algorithm has '{error}', which has no proof"
        case OverBudgetError() | isl.Error():
            return 0, "it takes too long"
        case RecursionError():
            return 0, "it is nested too deeply"
        case _:
            return 0, f"it is not understood ({type(error).__name__}: {error})"
