"""Build terms so that equal values become equal terms.

Both sides of a proof, the algorithm and the kernels, build their terms with these functions.
Written numbers are exact fractions, arithmetic of indices and sizes is carried out on `Whole`
numbers, and comparisons of these become formulas. So the two sides differ in less, and the rest is
compared by unification (see unify).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import product

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.numerals import (
    NOT_NUMBERS,
    brought_to,
    compared,
    is_single,
    is_whole,
    options,
)
from dtpoly.verify.algebra.regions import is_affine
from dtpoly.verify.algebra.terms import (
    EXTREMES,
    NTH,
    AppliedOperation,
    Choose,
    Element,
    Given,
    Literal,
    Place,
    Stored,
    Term,
    Total,
    children,
    choose,
    of_truth,
    rebuilt,
    truth_of,
)
from dtpoly.verify.algebra.whole import (
    FALSE,
    TRUE,
    Either,
    Whole,
    both,
    compare,
    extreme,
    negation,
    number,
    one_of,
)

SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
# The comparisons that hold between any finite number and an infinite one.
BEYOND = {"inf": ("lt", "le"), "-inf": ("gt", "ge")}
# Operations whose result is one of their operands, all of which have the same type.
KEEPS = ("maximum", "minimum", "where", *EXTREMES, NTH)
WIDE = ("cast tl.int32", "cast tl.int64")
# Numbers that every float type holds.
HELD = {"0", "1", "-1", "2", "-2", "1/2", "inf", "-inf", "nan", "True", "False"}
# Operations that change no whole number.
ROUNDS = ("floor", "ceil", "nearest", "trunc")
# Operations on the bits of written numbers, which Python computes.
BITWISE = {"bitand": int.__and__, "bitor": int.__or__, "bitxor": int.__xor__}
OF_INDICES = ("add", "sub", "mul", "neg", "abs", "maximum", "minimum", "cdiv", "mod")
# Operations for which the residues of the operands decide the residue of the result.
OF_RESIDUES = ("add", "sub", "mul", "neg")
LEAST_HELD, LARGEST_HELD = Fraction(1, 64), 128
MOST_FACTORS = 64
BITS: Mapping[Term, Term] = {Literal("0"): Literal("False"), Literal("1"): Literal("True")}


def literal(value: float) -> Literal:
    """Return a number as an exact literal."""
    if isinstance(value, float) and not math.isfinite(value):
        return Literal(repr(value))
    return Literal(str(Fraction(value)))


def place(value: Whole) -> Term:
    """Return a whole number of indices and sizes as a term.

    If it contains a choice between two numbers, the term is a choice between two places.
    """
    constant = value.constant
    if constant is not None:
        return literal(constant)
    for monomial, coefficient in value.terms:
        for at, atom in enumerate(monomial):
            if isinstance(atom, Either):
                others = Whole((((*monomial[:at], *monomial[at + 1 :]), coefficient),))
                rest = value - Whole(((monomial, coefficient),))
                yes, no = rest + others * atom.yes, rest + others * atom.no
                return choose(atom.condition, place(yes), place(no))
    return Place(value)


def whole_in(term: Term) -> Whole | None:
    """Return the whole number of indices and sizes that a term stands for, or None."""
    match term:
        case Place(value=value):
            return value
        case Literal(text=text) if text.lstrip("-").isdigit():
            return number(int(text))
        case _:
            return None


def _is_short(text: str, kind: str) -> bool:
    """Return whether a type holds a number: it has few binary digits, and is near to 1."""
    if text in NOT_NUMBERS or "inf" in text:
        return False
    value = abs(Fraction(text))
    digits = kinds.DIGITS.get(kind, min(kinds.DIGITS.values()))
    odd = value.numerator // (value.numerator & -value.numerator or 1)
    return (
        value.denominator & (value.denominator - 1) == 0
        and odd.bit_length() <= digits
        and LEAST_HELD <= value <= LARGEST_HELD
    )


def rounded(kind: str, term: Term, *, may: bool = False) -> Term:
    """Return a term for a value that is rounded to a type or, with `may`, that may be rounded.

    A written number is rounded at once, if it is known what comes of it (see numerals). Where the
    type holds the value anyway, the term stays as it is.
    """
    if kinds.is_whole(kind) and not may:
        term = _wrapped(kind, _unwrapped(kind, term))
    if not may and not kinds.is_whole(kind):
        ways = {brought_to(kind, one) for one in options(plain(term))}
        if len(ways) == 1:
            text, is_known = ways.pop()
            term = Literal(text)
            if is_known:
                return term
    match plain(term):
        case Literal(text=text) if is_held(text, kind):
            return term
        case AppliedOperation(operation=operation) if _holds(kind, operation):
            return term
        case AppliedOperation(operation="where", operands=(condition, yes, no)):
            first, second = rounded(kind, yes, may=may), rounded(kind, no, may=may)
            return AppliedOperation("where", (condition, first, second))
        case Element(tensor=tensor) if tensor in kinds.members(kind):
            return term
        case Choose(condition=condition, yes=yes, no=no):
            first, second = rounded(kind, yes, may=may), rounded(kind, no, may=may)
            return choose(condition, first, second)
        case _:
            return AppliedOperation(f"{'may' if may else 'round'} {kind}", (term,))


def is_held(text: str, kind: str) -> bool:
    """Return whether a type is known to hold a written number."""
    if not kinds.is_whole(kind):
        return text in HELD or _is_short(text, kind)
    if text in ("True", "False"):
        return True
    known = text.lstrip("-").isdigit() and kind in kinds.LEAST
    return known and kinds.LEAST[kind] <= int(text) <= kinds.LARGEST[kind]


def _wrapped(kind: str, term: Term) -> Term:
    """Return a written number as a number of a type of whole numbers: it wraps."""
    match term:
        case Literal(text=text) if kind in kinds.LEAST and text.lstrip("-").isdigit():
            least, count = kinds.LEAST[kind], 2 ** kinds.WIDTHS[kind]
            return term if is_held(text, kind) else literal((int(text) - least) % count + least)
        case _:
            return term


@cache
def _residue(kind: str, term: Term) -> Term:
    """Drop the wraps inside of a term that itself wraps in a type of whole numbers (lemma 6).

    An inner wrap to a type that is as wide, or wider, changes nothing below sums, differences and
    products, where only residues count. Only there it is dropped.
    """
    match term:
        case AppliedOperation(operation=operation, operands=operands) if operation in OF_RESIDUES:
            return applied(operation, [_unwrapped(kind, one) for one in operands])
        case AppliedOperation(operation="where", operands=(condition, yes, no)):
            sides = [_unwrapped(kind, one) for one in (yes, no)]
            return applied("where", [condition, *sides])
        case Total(operation=("add" | "mul"), body=body):
            return rebuilt(term, (_unwrapped(kind, body),))
        case Choose() | Stored():
            return rebuilt(term, tuple(_unwrapped(kind, one) for one in children(term)))
        case Literal():
            return _wrapped(kind, plain(term))
        case _:
            return term


def _unwrapped(kind: str, term: Term) -> Term:
    match term:
        case AppliedOperation(operation=operation, operands=(inner,)) if _wraps_as(kind, operation):
            return _unwrapped(kind, inner)
        case _:
            return _residue(kind, term)


def _wraps_as(kind: str, operation: str) -> bool:
    """Return whether an operation wraps numbers in a type at least as wide as `kind`."""
    word, _, other = operation.partition(" ")
    width = kinds.WIDTHS.get(other, 0)
    if other in (kinds.SIZE, kinds.OFFSET):
        width = kinds.LEAST_WIDTH
    return word == "round" and 0 < kinds.WIDTHS.get(kind, 0) <= width


def _holds(kind: str, operation: str) -> bool:
    """Return whether an operation rounds to a type all of whose values `kind` holds."""
    word, _, narrow = operation.partition(" ")
    return word == "round" and kinds.holds(kind, narrow)


def plain(term: Term) -> Term:
    """Return the term; if it is the least or largest number of a type, just as a number."""
    return Literal(kinds.exact(term.text)) if isinstance(term, Literal) else term


def applied(operation: str, operands: Sequence[Term]) -> Term:  # noqa: C901  # one case for each rule
    """Return the term of an operation.

    An operation on indices and sizes is carried out, and so is one on truths or written numbers
    where the result is known.
    """
    if operation not in KEEPS:
        operands = [plain(one) for one in operands]
    of_wholes = _of_wholes(operation, [whole_in(one) for one in operands])
    if of_wholes is not None:
        return of_wholes
    of_truths = _of_truths(operation, operands)
    if of_truths is not None:
        return of_truths
    match operation, operands:
        case _, [Literal(text=first), Literal(text=second)] if operation in SIGNS:
            return compared(operation, first, second)
        case _, [first, second] if operation in SIGNS and (all_ways := _ways(first, second)):
            # The numbers may be rounded in several ways. The comparison is decided if it is true
            # for all of them, or false for all of them.
            found = {compared(operation, *way) for way in all_ways}
            return found.pop() if len(found) == 1 else AppliedOperation(operation, (first, second))
        case _, [Place(value=value), Literal(text=text)] if operation in SIGNS:
            return _beside(operation, value, text, tuple(operands))
        case _, [Literal(text=text), Place(value=value)] if operation in SIGNS:
            return _beside(TURNED[operation], value, text, tuple(operands))
        case "ne", [term, Literal(text="0")] if (truth := is_any(term)) is not None:
            return truth
        case "where", [Literal(text=text), yes, no] if text not in NOT_NUMBERS:
            return no if text == "0" else yes
        case "and", ([Literal(text="True"), one] | [one, Literal(text="True")]) if (
            _truth(one, ()) is not None
        ):
            return one
        case "where", [c, AppliedOperation(operation="where", operands=(d, yes, _)), no] if c == d:
            return applied("where", [c, yes, no])
        case "where", [c, yes, AppliedOperation(operation="where", operands=(d, _, no))] if c == d:
            return applied("where", [c, yes, no])
        case _, [term] if operation.startswith("round "):
            return rounded(operation.removeprefix("round "), term)
        case _, [term] if operation in ROUNDS and (whole_in(term) is not None or is_whole(term)):
            return term
        case _, [term] if operation in WIDE and is_index(term):
            return term
        case "neg", [Literal(text=text)]:
            return Literal(
                text[1:] if text.startswith("-") else "nan" if text == "nan" else f"-{text}"
            )
        case "fma", [a, b, c]:
            return applied("add", [applied("mul", [a, b]), c])
        case "pow", [a, Literal(text=text)] if is_product(operands):
            result = a
            for _ in range(int(text) - 1):
                result = applied("mul", [result, a])
            return result
        case "clamp", [a, low, high]:
            return applied("minimum", [applied("maximum", [a, low]), high])
        case _:
            return AppliedOperation(operation, tuple(operands))


def _ways(first: Term, second: Term) -> list[tuple[str, str]]:
    """Return the pairs of numbers that two compared terms can be; empty if not all are known."""
    return list(product(_compared_as(first), _compared_as(second)))


def _compared_as(term: Term) -> Iterable[str]:
    """Return the numbers that a term can be; an infinite one can only be itself."""
    match term:
        case Literal(text=("inf" | "-inf") as text):
            return (text,)
        case _:
            return options(term)


def is_product(operands: Sequence[Term]) -> bool:
    """Return whether a power is a product of a few factors: its exponent is small and written."""
    match operands:
        case [_, Literal(text=text)]:
            return text.isdigit() and 1 <= int(text) <= MOST_FACTORS
        case _:
            return False


def _beside(operation: str, value: Whole, text: str, operands: tuple[Term, ...]) -> Term:
    """Compare a whole number of indices and sizes with a written number: a formula over names.

    This is sound since both are exact: `k > 3/2` holds where `2 * k > 3` does, and every k is
    finite.
    """
    if text in NOT_NUMBERS or not is_affine(value):
        return AppliedOperation(operation, operands)
    if "inf" in text:
        return of_truth(TRUE if operation in (*BEYOND[text], "ne") else FALSE)
    limit = Fraction(text)
    apart = compare(SIGNS[operation], value * limit.denominator, number(limit.numerator))
    return of_truth(apart)


def as_truth(term: Term, bools: Collection[str] = ()) -> Term | None:
    """Return the truth that was made a number, 0 or 1; None for other terms.

    A 0 that is added to it does not matter. Elements of the tensors `bools` are known to be truths.
    """
    match term:
        case AppliedOperation(operation="add", operands=(inner, Literal(text="0"))):
            return as_truth(inner, bools)
        case AppliedOperation(
            operation="where", operands=(truth, Literal(text="1"), Literal(text="0"))
        ):
            return _truth(truth, bools)
        case _:
            return None


def is_any(term: Term, bools: Collection[str] = ()) -> Term | None:
    """Return the truth that a number is not 0, if it is a sum or product of truths as 0 or 1."""
    found = _counted(term, bools, {})
    return None if found is None else found[0]


_Counted = tuple[Term, int] | None
# Sums of more truths than that are left as they are. A text can double a sum again and again.
MOST_TRUTHS = 64


def _counted(term: Term, bools: Collection[str], known: dict[Term, _Counted]) -> _Counted:
    """Return the truth that such a number is not 0, and how large the number is at most.

    No such number is below 0. So a sum is 0 if all its parts are, and a product is 0 if one part
    is. A number that is rounded to a type counts only if the type holds the largest it can be:
    then it does not wrap.
    """
    if term not in known:
        known[term] = _count(term, bools, known)
    return known[term]


def _count(term: Term, bools: Collection[str], known: dict[Term, _Counted]) -> _Counted:
    match term:
        case AppliedOperation(operation="add" | "mul" as operation, operands=(first, second)):
            left, right = _counted(first, bools, known), _counted(second, bools, known)
            if left is not None and right is not None:
                (a, most), (b, other) = left, right
                # Also for a product this is not less than the number of truths in it, so that
                # MOST_TRUTHS bounds the size of terms.
                largest = max(most + other, most * other if operation == "mul" else 0)
                word = "or" if operation == "add" else "and"
                return (applied(word, [a, b]), largest) if largest <= MOST_TRUTHS else None
        case AppliedOperation(operation=operation, operands=(inner,)) if operation.startswith(
            "round "
        ):
            found, kind = _counted(inner, bools, known), operation.removeprefix("round ")
            fits = found is not None and found[1] <= kinds.LARGEST.get(kind, 0)
            return found if fits else None
        case _:
            pass
    truth = as_truth(term, bools)
    return None if truth is None else (truth, 1)


def _truth(term: Term, bools: Collection[str]) -> Term | None:
    """Return a term as a truth, if it is one; else None.

    A 0 or 1 beside truths counts as one, since reductions begin with these.
    """
    match term:
        case Literal(text="True" | "False") | Given(is_bool=True):
            return term
        case Element(tensor=tensor):
            return term if tensor in bools else None
        case AppliedOperation(operation=operation) if operation in SIGNS:
            return term
        case Choose() | Stored() | AppliedOperation(operation="not"):
            return _of_parts(term, [_truth(one, bools) for one in children(term)])
        case AppliedOperation(operation="and" | "or") | Total(operation="and" | "or"):
            parts = [BITS.get(one) or _truth(one, bools) for one in children(term)]
            return _of_parts(term, parts)
        case _:
            return None


def _of_parts(term: Term, parts: Sequence[Term | None]) -> Term | None:
    known = tuple(one for one in parts if one is not None)
    return rebuilt(term, known) if len(known) == len(parts) else None


def is_index(term: Term) -> bool:
    """Return whether a term is computed from indices and sizes alone.

    That it stays in the range of its type is proved by another layer (see overflow).
    """
    match term:
        case Place() | Literal():
            return whole_in(term) is not None
        case AppliedOperation(operation=operation, operands=operands):
            return operation in OF_INDICES and all(is_index(one) for one in operands)
        case Choose(yes=yes, no=no):
            return is_index(yes) and is_index(no)
        case _:
            return False


def _of_wholes(operation: str, wholes: Sequence[Whole | None]) -> Term | None:
    known = [one for one in wholes if one is not None]
    if len(known) < len(wholes):
        return None
    found = _computed(operation, known)
    constant = _constant(found)
    return found if constant is None or is_single(Fraction(constant)) else None


def _constant(term: Term | None) -> int | None:
    """Return the written whole number that a term is, or None."""
    value = None if term is None else whole_in(term)
    return None if value is None else value.constant


def _computed(operation: str, known: Sequence[Whole]) -> Term | None:
    match operation, known:
        case "add", [a, b]:
            return place(a + b)
        case "sub", [a, b]:
            return place(a - b)
        case "mul", [a, b]:
            return place(a * b)
        case "neg", [a]:
            return place(-a)
        case "abs", [a] if a.constant is not None:
            return literal(abs(a.constant))
        case (("maximum" | "minimum"), [a, b]):
            return place(extreme(operation == "maximum", a, b))
        case "mod", [a, b] if (b.constant or 0) > 0 and is_affine(a):
            return place(a.modulo(b.constant or 1))
        case "cdiv", [a, b] if (b.constant or 0) > 0 and is_affine(a):
            return place(-(-a).floor(b.constant or 1))
        case _, [a] if operation in WIDE:
            return place(a)
        case _, [a, b] if operation in BITWISE:
            if a.constant is None or b.constant is None:
                return None
            return literal(BITWISE[operation](a.constant, b.constant))
        case _, [a, b] if operation in SIGNS:
            return of_truth(compare(SIGNS[operation], a, b))
        case _:
            return None


def _of_truths(operation: str, operands: Sequence[Term]) -> Term | None:
    truths = [truth_of(one) for one in operands]
    match operation, truths:
        case ("and", [first, second]) if first is not None and second is not None:
            return of_truth(both(first, second))
        case ("or", [first, second]) if first is not None and second is not None:
            return of_truth(one_of(first, second))
        case ("not", [first]) if first is not None:
            return of_truth(negation(first))
        case ("where", [condition, *_]) if condition is not None:
            return choose(condition, operands[1], operands[2])
        case "cast tl.int1", [first] if first is not None:
            return operands[0]
        case _:
            return None
