"""Cast terms of the algorithm from one type to another, as the language says."""

from __future__ import annotations

from dtpoly.algorithm.expressions import Expr, Float, Integer
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.casts import as_value, fits
from dtpoly.verify.algebra.residues import is_less, settled
from dtpoly.verify.algebra.rounding import without_may
from dtpoly.verify.algebra.term_building import is_index, literal, rounded, whole_in
from dtpoly.verify.algebra.terms import Element, Literal, Term


def cast_of(operand: Expr, term: Term, kind: str, to: str) -> Term:
    """Return a value that the algorithm casts from one type to another.

    A written whole number that does not fit wraps. A written float that does not fit a type of
    whole numbers becomes the least number of the type: the language leaves open what such a cast
    gives, and the least number is what the compiler writes.
    """
    if isinstance(operand, Integer | Float) and to in kinds.WHOLES and not fits(term, to):
        return (
            wrapped_number(term, to) if isinstance(operand, Integer) else literal(kinds.LEAST[to])
        )
    if not is_less(kind, to):
        term = settled(kind, term)
    is_kept = kinds.is_float(kind) and kinds.holds(to, kind)
    if is_kept and kinds.is_float(to) and kinds.is_narrow(to):
        # A value that was computed with more digits than its type has is rounded where the cast is
        # written. An element that is only read has no more digits, so there rounding is optional.
        return rounded(to, term, may=isinstance(term, Element))
    is_far = kind == "tl.float64" or kinds.is_whole(kind) or bool(kinds.members(kind))
    if is_far and to in ("tl.float8e4nv", "tl.float8e5"):
        # GPUs have no direct conversion from these types to 8-bit floats: it goes through f32.
        term = rounded("tl.float32", term, may=True)
    if to == "tl.float32" and kinds.is_whole(kind):
        return rounded(to, term, may=True)
    if kind == "tl.float32" and kinds.is_whole(to) and not isinstance(term, Literal):
        # An index or a size that became a float may have been rounded to f32 before.
        bare = without_may(term)
        term = rounded(kind, bare, may=True) if is_index(bare) else term
    return as_value(term, kind, to)


def wrapped_number(term: Term, kind: str) -> Term:
    """Return a written number as a number of a type of whole numbers: it wraps as in torch."""
    value = whole_in(term) if isinstance(term, Literal) else None
    constant = None if value is None else value.constant
    if constant is None:
        return term
    least, largest = kinds.LEAST[kind], kinds.LARGEST[kind]
    return literal((constant - least) % (largest - least + 1) + least)
