"""Bring the operands of an operation of the algorithm to the types in which they meet.

A written number has the type of what it meets. Whole numbers beside floats become floats, which may
not hold them. Where the language leaves it open whether a value is rounded, the term says `may`.
"""

from __future__ import annotations

from collections.abc import Sequence

from dtpoly.algorithm.dtypes import DType
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.cast_terms import wrapped_number
from dtpoly.verify.algebra.formats import TYPES, Format, joined
from dtpoly.verify.algebra.rounding import without_may
from dtpoly.verify.algebra.term_building import SIGNS, is_index, literal, rounded
from dtpoly.verify.algebra.terms import Literal, Term


def beside_floats(terms: Sequence[Term], formats: Sequence[Format], numbers: str) -> list[Term]:
    """Return operands such that a written number beside floats has, or may have, their type.

    This is sound since a written number never changes the width of a type. Beside f32, or beside
    narrower floats that are computed in f32, it is an f32 itself. Beside f64 it stays as it is.
    If there are only written numbers, they have the type `numbers` of the program, if it has one.
    Whole numbers are brought to the float type that they meet, which may not hold them.
    """
    met = joined(formats)
    if met.category < 2:
        return list(terms)
    if (wide := TYPES[DType.F64]) in met.held:
        # f64 holds all whole numbers but those of 64 bits.
        return [
            rounded(wide, term, may=True)
            if f.category == 1 and kinds.WIDTHS.get(strict(f), 0) > kinds.DIGITS[wide]
            else term
            for term, f in zip(terms, formats, strict=True)
        ]
    kind = kinds.REAL if met.is_callers else "tl.float32"
    of_floats = numbers if met.weak else kind
    return [
        rounded(kind, term, may=True)
        if f.category == 1
        else rounded(of_floats, term, may=True)
        if f.weak and f.category == 2 and of_floats
        else term
        for term, f in zip(terms, formats, strict=True)
    ]


def strict(of: Format) -> str:
    """Return the type of a value; for a written number, its type where no tensor is beside it."""
    if not of.weak or of.category == 0:
        return of.kind
    return "tl.float64" if of.category == 2 else next(iter(of.held))


def in_narrow_type(kind: str, terms: Sequence[Term], formats: Sequence[Format]) -> list[Term]:
    """Bring written numbers beside a tensor of narrow whole numbers to its type: they wrap."""
    return [
        rounded(kind, wrapped_number(term, kind)) if f.weak else term
        for term, f in zip(terms, formats, strict=True)
    ]


def nearest_float(term: Term) -> Term:
    """Return a written whole number as the nearest float; other terms stay as they are."""
    match term:
        case Literal(text=text) if text.lstrip("-").isdigit():
            return literal(float(int(text)))
        case _:
            return term


def compared_as_floats(
    operation: str, terms: Sequence[Term], formats: Sequence[Format], met: Format
) -> list[Term]:
    """Return operands, where an index or a size may be rounded to f32.

    That is so for an index or a size that became a narrower float beside f64, and for one that is
    compared.
    """
    is_wide = met.kind == "tl.float64"
    if not is_wide and operation not in SIGNS:
        return [*terms]
    found: list[Term] = []
    for term, own in zip(terms, formats, strict=True):
        is_asked = not is_wide or (own.category == 2 and own.kind != met.kind)
        is_label = not isinstance(term, Literal) and is_index(without_may(term))
        found.append(rounded("tl.float32", term, may=True) if is_asked and is_label else term)
    return found
