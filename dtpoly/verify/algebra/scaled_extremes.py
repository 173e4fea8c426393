"""Bring a maximum of elements times a factor to the form of a maximum of products (lemma 14).

The factor is above 0, and infinite only where a size is 0. There nothing is moved, unless all that
is reduced is 0, as sums of nothing are: 0 times infinity is a nan in both forms. What a mask leaves
out may stand beside it, if that is the identity of the reduction. A maximum of 0 and inf is none of
these: times infinity it is inf, but the products are a nan and inf.
"""

from __future__ import annotations

from collections.abc import Callable

from dtpoly.verify.algebra.frame_terms import EXTREME, ZERO
from dtpoly.verify.algebra.identities import IDENTITY
from dtpoly.verify.algebra.numerals import finite
from dtpoly.verify.algebra.positive_factors import is_positive, multiplied, sizes_in
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region, set_of
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Literal,
    Term,
    Total,
    choose,
    rebuilt,
    renamed,
)
from dtpoly.verify.algebra.whole import compare, number

# Says how two terms differ on a set; None if they are equal there.
Compares = Callable[[ProofRun, Term, Term, Region], object | None]


def with_factors_inside(
    run: ProofRun, operation: str, term: Term, where: Region, compares: Compares
) -> Term:
    """Return a reduction in which factors above 0 stand beside what is reduced."""
    match term:
        case AppliedOperation(operation=own, operands=operands) if own == operation:
            parts = (with_factors_inside(run, own, one, where, compares) for one in operands)
            return rebuilt(term, tuple(parts))
        case Total(operation=own) if own == operation and _has_factor(term.body, operation):
            new = renamed(run, term)
            inside = where.intersect(set_of(new.domain))
            return rebuilt(new, (with_factors_inside(run, operation, new.body, inside, compares),))
        case Choose(condition=condition, yes=yes, no=no) if _has_factor(term, operation):
            holds = set_of(condition)
            first = with_factors_inside(run, operation, yes, where.intersect(holds), compares)
            second = with_factors_inside(run, operation, no, where.subtract(holds), compares)
            return choose(condition, first, second)
        case AppliedOperation(operation="mul", operands=(a, b)) if operation in EXTREME:
            for total, by in ((a, b), (b, a)):
                if isinstance(total, Total) and total.operation == operation and is_positive(by):
                    return _moved(run, total, by, where, compares) or term
            return term
        case _:
            return term


def _has_factor(term: Term, operation: str) -> bool:
    """Return whether something in a reduction is a reduction times a factor."""
    match term:
        case Total(operation=own, body=body):
            return own == operation and _has_factor(body, operation)
        case Choose(yes=yes, no=no):
            return _has_factor(yes, operation) or _has_factor(no, operation)
        case AppliedOperation(operation="mul", operands=operands):
            return any(isinstance(one, Total) and one.operation == operation for one in operands)
        case AppliedOperation(operation=own, operands=operands) if own == operation:
            return any(_has_factor(one, operation) for one in operands)
        case _:
            return False


def _moved(run: ProofRun, total: Total, by: Term, where: Region, compares: Compares) -> Term | None:
    """Return a reduction with a factor inside, if that is the same at all points; else None."""
    new = renamed(run, total)
    inside = where.intersect(set_of(new.domain))
    for size in sizes_in(by):
        at_zero = inside.intersect(set_of(compare("==", size, number(0))))
        if not run.is_empty(at_zero) and not _is_zero(
            run, new.operation, new.body, at_zero, compares
        ):
            return None
    return rebuilt(new, (multiplied(new.body, by, new.operation),))


def _is_zero(run: ProofRun, operation: str, term: Term, where: Region, compares: Compares) -> bool:
    """Return whether a value is 0 on a set, or the identity of what reduces it."""
    match term:
        case Literal() if term == IDENTITY[operation]:
            return True
        case AppliedOperation(
            operation="mul", operands=(a, Literal(text=text)) | (Literal(text=text), a)
        ) if (by := finite(text)) is not None and by > 0:
            return _is_zero(run, operation, a, where, compares)
        case Choose(condition=condition, yes=yes, no=no):
            holds = set_of(condition)
            return _is_zero(run, operation, yes, where.intersect(holds), compares) and _is_zero(
                run, operation, no, where.subtract(holds), compares
            )
        case _:
            return run.is_empty(where) or compares(run, term, ZERO, where) is None
