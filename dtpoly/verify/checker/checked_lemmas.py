"""Check that each instance of a lemma in a certificate has the form that the lemma is about.

The lemmas themselves are proved in docs/proofs.md. To compare two sums of products, this module
multiplies both out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb
from typing import Any

from dtpoly.verify.algebra.proof_run import Assumption, Lemma
from dtpoly.verify.algebra.regions import ID
from dtpoly.verify.algebra.shared_nodes import rank
from dtpoly.verify.algebra.type_kinds import HALF
from dtpoly.verify.algebra.whole import Atom, Extreme, Whole, names_of
from dtpoly.verify.triton.earlier_texts import entries
from dtpoly.verify.triton.helpers import RUNTIME
from dtpoly.verify.triton.shifts import is_shift

# The largest power of a deviation.
MOST_POWER = 4
# The coefficient of each product of atoms.
Polynomial = Counter[tuple[str, ...]]


def problem(of: Assumption) -> str | None:
    """Return what is wrong with an instance of a lemma, or None if it has the form of its lemma."""
    return None if _has_form(of) else f"an instance has not the form of its lemma: {of.lemma}"


def _has_form(of: Assumption) -> bool:  # noqa: C901  # one case for each lemma
    match of.lemma, of.instance:
        case Lemma.MIXED_RADIX, (str(), Whole() as divisor, tuple(), tuple() as below):
            return _is(divisor, _product(below))
        case Lemma.GROUPS, (str(), Whole() as divisor, int() as group, Whole(), tuple() as below):
            return group > 1 and _is(divisor, _times(_product(below), Counter({(): group})))
        case Lemma.TURNED, (str() as whole, str() as left, Whole()):
            return whole != left
        case Lemma.OWN_NUMBER, (str() as one, tuple()):
            return one.startswith(ID)
        case Lemma.ADDRESS, (Whole() as offset, tuple() as strides, tuple() as indices):
            return len(strides) == len(indices) and _is(offset, _address(strides, indices))
        case Lemma.SHIFT, (str() as one, Whole() as first, str() as stride, int() as unit):
            is_power = unit > 0 and not unit & (unit - 1)
            is_sum = all(factor > 0 for _, factor in first.terms)
            return is_shift(one) and ".stride(" in stride and is_power and is_sum
        case Lemma.KNOWN, (str() as function, str() as text):
            return text in RUNTIME.get(function, ())
        case Lemma.KNOWN, (str() as function, str() as text, str() as meaning):
            return (text, meaning) in entries(function)
        case Lemma.REACH, (Whole() as value,):
            return all(_strides(monomial) == 1 for monomial, _ in value.terms if len(monomial) > 1)
        case Lemma.LOOKED_AT, (Whole() as value, factors, Whole() as total):
            numbers = _numbers(factors)
            return numbers is not None and _is(total, _product((value, *numbers)))
        case ((Lemma.BELOW | Lemma.PART), (Whole(),)):
            return True
        case Lemma.FACTORS, (Whole() as value, limits, int() as total):
            numbers = _numbers(limits)
            return numbers is not None and total < HALF and _largest(value, numbers) == total
        case Lemma.LARGER, (Whole() as value, Whole() as larger):
            return _is(larger, _enlarged(value))
        case Lemma.ROOM, (Whole(), Whole()):
            return True
        case Lemma.WRAPPED, (str() as one, Whole() as value, Whole()):
            return one not in names_of(value)
        case Lemma.PROGRAMS, (str(), Whole(), Whole()):
            return True
        case Lemma.PANELS, (Whole() as size, int() as step):
            return size.plain is not None and step >= 1
        case (Lemma.OWN_LANE, (str(), int(), int())) | (Lemma.COMPILED, (int(),)):
            return True
        case ((Lemma.PROMISED | Lemma.NO_NAN | Lemma.SKIPPED | Lemma.CASES), (str() as text,)):
            return bool(text)
        case Lemma.LEFT_OUT, (str() as counter, Whole() as size, int() as step):
            return step > 0 and counter not in names_of(size)
        case Lemma.FRAMES, (
            str() as one,
            str() as frame,
            str() as power,
            str() as new,
            str() as old,
        ):
            return one != frame and _is_quotient(*map(Fraction, (power, new, old)))
        case Lemma.MEANS, (str(), str() as powers, str() as moves):
            return _is_move(_told(powers), _told(moves))
        case _:
            return False


def _is_quotient(power: Fraction, new: Fraction, old: Fraction) -> bool:
    """Return whether a correction is h of the new frame by h of the old one; h is no constant."""
    return power != 0 and new == power and old == -power


def _told(polynomial: str) -> dict[tuple[str, ...], Fraction]:
    """Return the factors of products of names, as a text says them: `1*n*c*c + -2*c*c'*n`."""
    found: dict[tuple[str, ...], Fraction] = {}
    for product in polynomial.split(" + ") if polynomial else ():
        factor, *of = product.split("*")
        found[tuple(sorted(of))] = found.get(tuple(sorted(of)), Fraction(0)) + Fraction(factor)
    return {of: factor for of, factor in found.items() if factor}


def _is_move(
    powers: Mapping[tuple[str, ...], Fraction], moves: Mapping[tuple[str, ...], Fraction]
) -> bool:
    """Return whether a sum of powers of n deviations u moves like this from the mean c to c'.

    By the binomial theorem, the sum of `(u + d)**k`, where d is `c - c'`, is larger than that of
    `u**k` by the sum of `comb(k, j) * d**(k - j) * s(j)` over the j below k. Here s(j) is the sum
    of `u**j`: s(0) is n, and s(1) is 0.
    """
    wanted: dict[tuple[str, ...], Fraction] = {}
    for of, factor in powers.items():
        power = len(of)
        if of != ("u",) * power or power > MOST_POWER:
            return False
        for below in (j for j in range(power) if j != 1):
            summed = f"s{below}" if below else "n"
            left = power - below
            for times in range(left + 1):
                key = tuple(sorted((*("c",) * (left - times), *("c'",) * times, summed)))
                by = comb(power, below) * comb(left, times) * (-1) ** times
                wanted[key] = wanted.get(key, Fraction(0)) + factor * by
    return {of: factor for of, factor in wanted.items() if factor} == dict(moves)


def _strides(monomial: Sequence[Atom]) -> int:
    return sum(isinstance(atom, str) and ".stride(" in atom for atom in monomial)


def _polynomial(of: Whole) -> Polynomial:
    found: Polynomial = Counter()
    for monomial, factor in of.terms:
        found[_sorted(monomial)] += factor
    return found


def _sorted(monomial: Sequence[Atom]) -> tuple[str, ...]:
    return tuple(sorted(one if isinstance(one, str) else f"/{rank(one)}" for one in monomial))


def _times(left: Polynomial, right: Polynomial) -> Polynomial:
    found: Polynomial = Counter()
    for mine, factor in left.items():
        for theirs, other in right.items():
            found[tuple(sorted((*mine, *theirs)))] += factor * other
    return found


def _enlarged(of: Whole) -> Polynomial:
    """Return the number with each `min(c, x)`, where c is a constant, replaced by that constant."""
    found: Polynomial = Counter()
    for monomial, factor in of.terms:
        product: Polynomial = Counter({(): factor})
        for atom in monomial:
            product = _times(
                product,
                Counter({_sorted((atom,)): 1} if _bound(atom) is None else {(): _bound(atom)}),
            )
        found.update(product)
    return found


def _bound(of: Atom) -> int | None:
    """Return c for an atom `min(c, x)` or `min(x, c)` with a constant c, else None."""
    match of:
        case Extreme(largest=False, left=left, right=right):
            return right.constant if left.constant is None else left.constant
        case _:
            return None


def _numbers(parts: Any) -> tuple[Whole, ...] | None:
    """Return a tuple of numbers, or None if it is none."""
    if parts.__class__ is not tuple:
        return None
    numbers = tuple(one for one in parts if isinstance(one, Whole))
    return numbers if len(numbers) == len(parts) else None


def _largest(value: Whole, limits: Sequence[Whole]) -> int | None:
    """Return a sum of products with the largest magnitude of each factor, in the order of these."""
    left, total = list(limits), 0
    for monomial, factor in value.terms:
        product = abs(factor)
        for _ in monomial:
            most = left.pop(0).constant if left else None
            if most is None or most < 0:
                return None
            product *= most
        total += product
    return None if left else total


def _product(of: Sequence[Whole]) -> Polynomial:
    found: Polynomial = Counter({(): 1})
    for one in of:
        found = _times(found, _polynomial(one))
    return found


def _address(strides: Sequence[Whole], indices: Sequence[Whole]) -> Polynomial:
    found: Polynomial = Counter()
    named = frozenset[str]().union(*(names_of(one) for one in strides))
    for stride, index in zip(strides, indices, strict=True):
        if named & names_of(index):
            return Counter({("an index with a stride in it",): 1})
        found.update(_times(_polynomial(stride), _polynomial(index)))
    return found


def _is(of: Whole, other: Polynomial) -> bool:
    mine = _polynomial(of)
    return all(mine[one] == other[one] for one in {*mine, *other})
