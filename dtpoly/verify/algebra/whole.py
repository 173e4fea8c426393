"""Write whole numbers and conditions as symbols: polynomials over names, and formulas over these.

They are plain data, cheap to rename and to compare. `sets` turns affine ones into sets of isl.
Products of names (an index times a stride) stay symbols, and `strides` takes them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.shared_nodes import Shared, rank


@dataclass(frozen=True, slots=True, eq=False)
class Floor(Shared):
    """A quotient: `operand` divided by a positive number, rounded down."""

    operand: Whole
    divisor: int


@dataclass(frozen=True, slots=True, eq=False)
class Extreme(Shared):
    """The smaller or the larger of two numbers."""

    largest: bool
    left: Whole
    right: Whole


@dataclass(frozen=True, slots=True, eq=False)
class Either(Shared):
    """A choice: one number where a condition holds, and another elsewhere."""

    condition: Truth
    yes: Whole
    no: Whole


Atom = str | Floor | Extreme | Either
Monomial = tuple[Atom, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Whole(Shared):
    """A sum of products, each with a coefficient that is not 0, in a fixed order."""

    terms: tuple[tuple[Monomial, int], ...]

    def __add__(self, other: Whole | int) -> Whole:
        if isinstance(other, int):
            other = number(other)
        total = dict(self.terms)
        for monomial, coefficient in other.terms:
            total[monomial] = total.get(monomial, 0) + coefficient
        return _sum(total)

    def __neg__(self) -> Whole:
        return Whole(tuple((monomial, -c) for monomial, c in self.terms))

    def __sub__(self, other: Whole | int) -> Whole:
        return self + -(number(other) if isinstance(other, int) else other)

    def __mul__(self, other: Whole | int) -> Whole:
        if isinstance(other, int):
            other = number(other)
        total: dict[Monomial, int] = {}
        for left, c in self.terms:
            for right, d in other.terms:
                monomial = (*left, *right)
                if left and right:
                    monomial = tuple(sorted(monomial, key=_order))
                total[monomial] = total.get(monomial, 0) + c * d
        return _sum(total)

    @property
    def constant(self) -> int | None:
        """Return the value, if the number is a constant."""
        match self.terms:
            case ():
                return 0
            case (((), value),):
                return value
            case _:
                return None

    @property
    def plain(self) -> str | None:
        """Return the name, if the number is a single name."""
        match self.terms:
            case (((str() as name,), 1),):
                return name
            case _:
                return None

    def floor(self, divisor: int) -> Whole:
        """Return the number divided by a positive number, rounded down."""
        if all(c % divisor == 0 for _, c in self.terms):
            return Whole(tuple((monomial, c // divisor) for monomial, c in self.terms))
        inside: dict[Monomial, int] = {}
        outside: dict[Monomial, int] = {}
        for monomial, c in self.terms:
            (inside if c % divisor else outside)[monomial] = c
        rounded = Floor(_sum(inside), divisor)
        rest = _sum({monomial: c // divisor for monomial, c in outside.items()})
        if (value := rounded.operand.constant) is not None:
            return rest + value // divisor
        return rest + Whole((((rounded,), 1),))

    def modulo(self, divisor: int) -> Whole:
        """Return what `floor` with this divisor leaves over."""
        return self - self.floor(divisor) * divisor


def number(value: int) -> Whole:
    """Return a constant as a number."""
    return Whole((((), value),)) if value else Whole(())


@cache
def name(of: str) -> Whole:
    """Return a name as a number."""
    return Whole((((of,), 1),))


def extreme(largest: bool, left: Whole, right: Whole) -> Whole:
    """Return the larger or the smaller of two numbers."""
    if (apart := (left - right).constant) is not None:
        return left if (apart >= 0) is largest else right
    first, second = sorted((left, right), key=rank)
    return Whole((((Extreme(largest, first, second),), 1),))


def rounded_down(above: Whole, below: Whole) -> Whole | None:
    """Return the quotient n // d of a number that may be below 0, if the difference is one.

    Triton rounds towards 0. So a kernel that rounds down takes `max(d - 1 - n, 0) // d` from
    `max(n, 0) // d`: of these one is 0, and the other one is what is rounded.
    """
    match above.terms, below.terms:
        case (((Floor(operand=first, divisor=divisor),), 1),), (
            ((Floor(operand=second, divisor=other),), 1),
        ) if divisor == other:
            for one in _above_0(first):
                if number(divisor - 1) - one in _above_0(second):
                    return one.floor(divisor)
            return None
        case _:
            return None


def _above_0(value: Whole) -> tuple[Whole, ...]:
    """Return n if a number is the larger one of n and 0."""
    match value.terms:
        case (((Extreme(largest=True, left=left, right=right),), 1),):
            return tuple(a for a, b in ((left, right), (right, left)) if b.constant == 0)
        case _:
            return ()


def either(condition: Truth, yes: Whole, no: Whole) -> Whole:
    """Return one number where the condition holds, and the other elsewhere."""
    if yes == no or condition == TRUE:
        return yes
    return no if condition == FALSE else Whole((((Either(condition, yes, no),), 1),))


def _order(atom: Atom) -> tuple[str, str]:
    return (atom, "") if isinstance(atom, str) else ("", rank(atom))


@cache
def _monomial_order(monomial: Monomial) -> tuple[tuple[str, str], ...]:
    return tuple(_order(atom) for atom in monomial)


def _sum(terms: Mapping[Monomial, int]) -> Whole:
    kept = [(monomial, c) for monomial, c in terms.items() if c]
    if len(kept) > 1:
        kept.sort(key=lambda term: _monomial_order(term[0]))
    return Whole(tuple(kept))


@dataclass(frozen=True, slots=True, eq=False)
class Sign(Shared):
    """A comparison with 0: `operand == 0` if it holds exactly, else `operand >= 0`."""

    operand: Whole
    exactly: bool


@dataclass(frozen=True, slots=True, eq=False)
class All(Shared):
    """A conjunction: all parts hold. Without parts it is true."""

    parts: tuple[Truth, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Some(Shared):
    """A disjunction: at least one part holds. Without parts it is false."""

    parts: tuple[Truth, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Not(Shared):
    """A negation: the operand does not hold."""

    operand: Truth


Truth = Sign | All | Some | Not
TRUE: Truth = All(())
FALSE: Truth = Some(())


def compare(operation: str, left: Whole, right: Whole) -> Truth:
    """Return `left operation right` as a formula."""
    match operation:
        case "<":
            return sign(right - left - 1)
        case "<=":
            return sign(right - left)
        case ">":
            return sign(left - right - 1)
        case ">=":
            return sign(left - right)
        case "==":
            return sign(left - right, exactly=True)
        case "!=":
            return negation(sign(left - right, exactly=True))
        case _:
            raise ValueError(operation)


def sign(operand: Whole, *, exactly: bool = False) -> Truth:
    """Return `operand >= 0` or `operand == 0`, as true or false if the operand is a constant."""
    value = operand.constant
    if value is None:
        return Sign(operand, exactly) if exactly else _apart(operand)
    return TRUE if (value == 0 if exactly else value >= 0) else FALSE


def _apart(operand: Whole) -> Truth:
    """Return `operand >= 0`, split in two where the operand has the smaller of two numbers in it.

    It holds for the smaller number if it holds for both.
    """
    for monomial, coefficient in operand.terms:
        match monomial:
            case (Extreme(largest=largest, left=left, right=right),) if largest == (
                coefficient < 0
            ):
                rest = operand - Whole(((monomial, coefficient),))
                return both(sign(rest + left * coefficient), sign(rest + right * coefficient))
            case _:
                pass
    return Sign(operand, False)


def both(*parts: Truth) -> Truth:
    """Return the formula that all of the parts hold."""
    flat: dict[Truth, None] = {}
    for part in parts:
        match part:
            case All(parts=inner):
                flat.update(dict.fromkeys(inner))
            case _:
                flat[part] = None
    if FALSE in flat:
        return FALSE
    return next(iter(flat)) if len(flat) == 1 else All(tuple(flat))


def one_of(*parts: Truth) -> Truth:
    """Return the formula that at least one of the parts holds."""
    flat: dict[Truth, None] = {}
    for part in parts:
        match part:
            case Some(parts=inner):
                flat.update(dict.fromkeys(inner))
            case _:
                flat[part] = None
    if TRUE in flat:
        return TRUE
    return next(iter(flat)) if len(flat) == 1 else Some(tuple(flat))


def negation(of: Truth) -> Truth:
    """Return the formula that `of` does not hold."""
    match of:
        case Not(operand=operand):
            return operand
        case All(parts=()):
            return FALSE
        case Some(parts=()):
            return TRUE
        case _:
            return Not(of)


def within(low: Whole, value: Whole, high: Whole) -> Truth:
    """Return `low <= value < high` as a formula."""
    return both(compare("<=", low, value), compare("<", value, high))


@cache
def names_of(of: Whole | Truth) -> frozenset[str]:
    """Return every name in a number or a formula."""
    match of:
        case Whole(terms=terms):
            parts = (_names_of_atom(atom) for monomial, _ in terms for atom in monomial)
            return frozenset[str]().union(*parts)
        case Sign(operand=operand) | Not(operand=operand):
            return names_of(operand)
        case All(parts=parts) | Some(parts=parts):
            return frozenset[str]().union(*(names_of(part) for part in parts))


@cache
def _names_of_atom(atom: Atom) -> frozenset[str]:
    match atom:
        case str():
            return frozenset((atom,))
        case Floor(operand=operand):
            return names_of(operand)
        case Extreme(left=left, right=right):
            return names_of(left) | names_of(right)
        case Either(condition=condition, yes=yes, no=no):
            return names_of(condition) | names_of(yes) | names_of(no)


def atoms_of(of: Whole) -> frozenset[Atom]:
    """Return the atoms of a number that are no names: quotients, extremes and choices."""
    return frozenset(atom for one, _ in of.terms for atom in one if not isinstance(atom, str))


def exchanged(of: Whole, new: Mapping[Atom, Whole]) -> Whole:
    """Return the number with other numbers in place of some of its atoms."""
    total = Whole(())
    for monomial, coefficient in of.terms:
        product = number(coefficient)
        for atom in monomial:
            product = product * new.get(atom, Whole((((atom,), 1),)))
        total = total + product
    return total


Put = Mapping[str, Whole]


def put_whole(of: Whole, put: Put) -> Whole:
    """Return the number with other numbers in place of names."""
    if names_of(of).isdisjoint(put):
        return of
    total: dict[Monomial, int] = {}
    for monomial, coefficient in of.terms:
        for new, factor in _put_monomial(monomial, put):
            total[new] = total.get(new, 0) + coefficient * factor
    return _sum(total)


def _put_monomial(monomial: Monomial, put: Put) -> tuple[tuple[Monomial, int], ...]:
    """Return the terms of a product with other numbers in place of names."""
    if all(_names_of_atom(atom).isdisjoint(put) for atom in monomial):
        return ((monomial, 1),)
    product, *more = (_put_atom(atom, put) for atom in monomial)
    for one in more:
        product = product * one
    return product.terms


def _put_atom(atom: Atom, put: Put) -> Whole:
    match atom:
        case str():
            return put.get(atom, name(atom))
        case Floor(operand=operand, divisor=divisor):
            return put_whole(operand, put).floor(divisor)
        case Extreme(largest=largest, left=left, right=right):
            return extreme(largest, put_whole(left, put), put_whole(right, put))
        case Either(condition=condition, yes=yes, no=no):
            return either(put_truth(condition, put), put_whole(yes, put), put_whole(no, put))


def put_truth(of: Truth, put: Put) -> Truth:
    """Return the formula with numbers in place of names."""
    if names_of(of).isdisjoint(put):
        return of
    match of:
        case Sign(operand=operand, exactly=exactly):
            return sign(put_whole(operand, put), exactly=exactly)
        case Not(operand=operand):
            return negation(put_truth(operand, put))
        case All(parts=parts):
            return both(*(put_truth(part, put) for part in parts))
        case Some(parts=parts):
            return one_of(*(put_truth(part, put) for part in parts))


def linear_in(
    of: Whole, wanted: Callable[[str], bool], hidden_too: Callable[[str], bool] = lambda _: False
) -> tuple[dict[str, Whole], Whole] | None:
    """Return the factor of each wanted name, and the rest; None if it is not linear in them.

    Of some wanted names, the factors and the rest may be made all the same, as a quotient or a
    choice is that is `hidden_too`.
    """
    factors: dict[str, Whole] = {}
    rest = Whole(())
    for monomial, coefficient in of.terms:
        found = [atom for atom in monomial if isinstance(atom, str) and wanted(atom)]
        hidden = [
            inner
            for atom in monomial
            if not isinstance(atom, str)
            for inner in _names_of_atom(atom)
            if wanted(inner) and not hidden_too(inner)
        ]
        if hidden or len(found) > 1:
            return None
        if not found:
            rest = rest + Whole(((monomial, coefficient),))
            continue
        others = list(monomial)
        others.remove(found[0])
        factor = Whole(((tuple(others), coefficient),))
        factors[found[0]] = factors.get(found[0], Whole(())) + factor
    return factors, rest
