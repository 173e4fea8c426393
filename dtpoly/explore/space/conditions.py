"""Simplifies constraints on numbers as far as the known numbers allow.

The rest of a constraint has a canonical form, so that equivalent choices leave the same rest. It is
a closed union of frozen data. True and False are constraints that are decided.
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import assert_never

from dtpoly.algorithm.choices import Condition, ConstraintOperation, Mention, WholeNumber
from dtpoly.frozen import dataclass

# The number of a place in the items of a space where a number stands, in the order of the text.
Place = int
Places = frozenset[Place]

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True, slots=True)
class Unknown:
    """A number that stands in one of these places; without places, there is no such number."""

    places: Places


_NOWHERE: Places = frozenset()


@dataclass(frozen=True, slots=True)
class ConditionSum:
    """The sum of a number and terms."""

    number: int
    terms: "tuple[Term, ...]"
    places: Places = field(compare=False)


@dataclass(frozen=True, slots=True)
class ConditionProduct:
    """The product of a number, which is not 0, and factors."""

    number: int
    factors: "tuple[Term, ...]"
    places: Places = field(compare=False)


@dataclass(frozen=True, slots=True)
class Remainder:
    """The remainder `left % right`, which is 0 if the right side is 0."""

    left: "Term"
    right: "Term"
    places: Places = field(compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison, `left operator right`."""

    operator: str
    left: "Term"
    right: "Term"
    places: Places = field(compare=False)


@dataclass(frozen=True, slots=True)
class Joined:
    """Conditions that must all hold, or of which one must hold."""

    is_all: bool
    parts: "tuple[Left, ...]"
    places: Places = field(compare=False)


Term = int | Unknown | ConditionSum | ConditionProduct | Remainder
Left = bool | Comparison | Joined

# What is known of places: the number there, or None if the point has no such number.
Known = Mapping[Place, int | None]


def condition_of(condition: Condition, places: Mapping[tuple[str, ...], Places]) -> Left:
    """Turn a constraint into one over the places of the numbers that it mentions."""
    assert isinstance(condition, ConstraintOperation)
    left, right = condition.left, condition.right
    if condition.operator in ("and", "or"):
        parts = (condition_of(left, places), condition_of(right, places))
        return joined(condition.operator == "and", parts)
    return compared(condition.operator, _term(left, places), _term(right, places))


def _term(condition: Condition, places: Mapping[tuple[str, ...], Places]) -> Term:
    match condition:
        case Mention(path=path):
            return Unknown(places[path])
        case WholeNumber(value=value):
            return value
        case ConstraintOperation(operator=symbol, left=left, right=right):
            one, two = _term(left, places), _term(right, places)
            if symbol == "*":
                return product(1, (one, two))
            if symbol == "%":
                return remainder(one, two)
            return total(0, (one, two if symbol == "+" else product(-1, (two,))))
        case _:
            assert_never(condition)


def total(number: int, terms: Iterable[Term]) -> Term:
    """Return a sum; inner sums are taken apart, and numbers are added."""
    rest: list[Term] = []
    for term in terms:
        match term:
            case int():
                number += term
            case ConditionSum(number=more, terms=others):
                number += more
                rest.extend(others)
            case _:
                rest.append(term)
    if not rest:
        return number
    return (
        rest[0]
        if len(rest) == 1 and not number
        else ConditionSum(number, tuple(rest), _together(rest))
    )


def product(number: int, factors: Iterable[Term]) -> Term:
    """Return a product; inner products are taken apart, and numbers are multiplied."""
    rest: list[Term] = []
    for factor in factors:
        match factor:
            case int():
                number *= factor
            case ConditionProduct(number=more, factors=others):
                number *= more
                rest.extend(others)
            case _:
                rest.append(factor)
    if not rest:
        return number
    if len(rest) == 1 and number == 1:
        return rest[0]
    return ConditionProduct(number, tuple(rest), _together(rest))


def remainder(left: Term, right: Term) -> Term:
    """Return `left % right`, as Python computes it, or 0 if the right side is 0."""
    if isinstance(left, int) and isinstance(right, int):
        return left % right if right else 0
    return Remainder(left, right, _together((left, right)))


def compared(symbol: str, left: Term, right: Term) -> Left:
    """Return a comparison with the number on its right side, divided by the factor on the left."""
    if isinstance(left, int) and isinstance(right, int):
        return _COMPARE[symbol](left, right)
    if isinstance(left, int):
        symbol, left, right = _TURNED[symbol], right, left
    if isinstance(left, ConditionSum) and isinstance(right, int) and left.number:
        return compared(symbol, total(0, left.terms), right - left.number)
    if isinstance(left, ConditionProduct) and isinstance(right, int) and left.number > 1:
        return _divided(symbol, left, right)
    return Comparison(symbol, left, right, _together((left, right)))


def _divided(symbol: str, left: ConditionProduct, right: int) -> Left:
    """Divide both sides: for whole numbers `n * rest < r` means `rest < r / n`, rounded up."""
    rest, number = product(1, left.factors), left.number
    if symbol in ("==", "!="):
        if right % number:
            # If the number is missing in a point, even this comparison counts as true.
            return Comparison(symbol, left, right, left.places)
        return compared(symbol, rest, right // number)
    is_up = symbol in ("<", ">=")
    return compared(symbol, rest, -(-right // number) if is_up else right // number)


def joined(is_all: bool, parts: Iterable[Left]) -> Left:
    """Join conditions that must all hold, or of which one must hold, without decided ones."""
    rest: dict[Left, None] = {}
    for part in parts:
        if isinstance(part, bool):
            if part is not is_all:
                return part
        elif isinstance(part, Joined) and part.is_all is is_all:
            rest |= dict.fromkeys(part.parts)
        else:
            rest[part] = None
    if not rest:
        return is_all
    return next(iter(rest)) if len(rest) == 1 else Joined(is_all, tuple(rest), _together(rest))


def mentioned(left: Left | Term) -> Places:
    """Return the places whose numbers the rest of a condition depends on."""
    return _NOWHERE if isinstance(left, int) else left.places


def _together(parts: Iterable[Left | Term]) -> Places:
    return _NOWHERE.union(*map(mentioned, parts))


def reduced(left: Left, known: Known) -> Left:
    """Simplify a condition, given that more numbers are known now."""
    if mentioned(left).isdisjoint(known):
        return left
    match left:
        case bool():
            return left
        case Comparison(operator=symbol, left=one, right=two):
            first, second = _known(one, known), _known(two, known)
            if first is None or second is None:
                return True
            return compared(symbol, first, second)
        case Joined(is_all=is_all, parts=parts):
            return joined(is_all, (reduced(part, known) for part in parts))
        case _:
            assert_never(left)


def _known(term: Term, known: Known) -> Term | None:
    """Return a term with the known numbers; None if one of its numbers is missing."""
    if mentioned(term).isdisjoint(known):
        return term
    match term:
        case int():
            return term
        case Unknown(places=places):
            numbers = (known[place] for place in sorted(places) if place in known)
            there = next((number for number in numbers if number is not None), None)
            if there is not None:
                return there
            rest = places.difference(known)
            return Unknown(rest) if rest else None
        case ConditionSum(number=number, terms=parts):
            some = [_known(part, known) for part in parts]
            return None if None in some else total(number, (s for s in some if s is not None))
        case ConditionProduct(number=number, factors=parts):
            some = [_known(part, known) for part in parts]
            return None if None in some else product(number, (s for s in some if s is not None))
        case Remainder(left=left, right=right):
            one, two = _known(left, known), _known(right, known)
            return None if one is None or two is None else remainder(one, two)
        case _:
            assert_never(term)
