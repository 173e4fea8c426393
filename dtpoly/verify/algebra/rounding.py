"""Compare where the kernel rounds values with where the algorithm allows it.

A term says `round T` where a value is rounded to the type T, and `may T` where the algorithm gives
leave to round it to T. `value` uses these functions when it compares the two terms.
"""

from __future__ import annotations

from functools import cache

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.numerals import options
from dtpoly.verify.algebra.term_building import SIGNS, applied
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Literal,
    Place,
    Term,
    Total,
    children,
    rebuilt,
)


@cache
def rounds(term: Term) -> frozenset[str]:
    """Return the types to which some part of the term is rounded."""
    found = frozenset[str]().union(*(rounds(one) for one in children(term)))
    word, kind = split(term)
    return found | {kind} if word == "round" else found


@cache
def literals(term: Term) -> frozenset[str]:
    """Return the written numbers in the term."""
    own = frozenset((term.text,)) if isinstance(term, Literal) else frozenset[str]()
    return own.union(*(literals(one) for one in children(term)))


def split(term: Term) -> tuple[str, str]:
    """Return `round` or `may` with the type that the term names; two empty texts for others."""
    if isinstance(term, AppliedOperation):
        word, _, kind = term.operation.partition(" ")
        if word in ("round", "may"):
            return word, kind
    return "", ""


@cache
def without_may(
    term: Term, kept: frozenset[str] = frozenset(), texts: frozenset[str] = frozenset()
) -> Term:
    """Return the term without its leaves to round, except for those that the kernel may use.

    The kernel may use a leave for one of the `kept` types. It may also use the leave of a written
    number that rounding changes, if the kernel itself has written numbers: those may have been
    computed from the rounded one.
    """
    parts = tuple(without_may(one, kept, texts) for one in children(term))
    word, kind = split(term)
    if word == "may" and not any(allows(kind, one) for one in kept):
        is_other = isinstance(parts[0], Literal) and options(term) - {parts[0].text}
        return term if texts and is_other else parts[0]
    if (
        isinstance(term, AppliedOperation)
        and term.operation in SIGNS
        and any(map(_is_index, parts))
    ):
        # Beside an index arithmetic is carried out only with the number itself, unless the
        # kernel has another number.
        parts = tuple(_as_written(one, texts) for one in parts)
    # With the leave gone, arithmetic of whole numbers can be carried out.
    return (
        applied(term.operation, parts)
        if isinstance(term, AppliedOperation)
        else rebuilt(term, parts)
    )


def _is_index(term: Term) -> bool:
    return isinstance(term, Place)


def _as_written(term: Term, texts: frozenset[str]) -> Term:
    """Return a number without its leave to round, unless rounding may give one of these texts."""
    match term:
        case AppliedOperation(operands=(Literal() as number,)) if split(term)[0] == "may":
            return term if options(term) - {number.text} & texts else number
        case _:
            return term


def without_steps(operation: str, term: Term) -> Term:
    """Return a reduction without leaves to round partial results.

    Such a leave stands around a reduction by the same operation inside of this one.
    """
    match term:
        case AppliedOperation(operation=own) | Total(operation=own) if own == operation:
            return rebuilt(term, tuple(without_steps(operation, one) for one in children(term)))
        case AppliedOperation(operands=(inner,)) if split(term)[0] == "may":
            bare = without_steps(operation, inner)
            is_step = isinstance(bare, AppliedOperation | Total) and bare.operation == operation
            return bare if is_step else term
        case _:
            return term


def allows(may: str, kind: str) -> bool:
    """True if a value may be rounded to `kind`, where the algorithm lets it be rounded to `may`."""
    return may == kind or kinds.holds(kind, may)
