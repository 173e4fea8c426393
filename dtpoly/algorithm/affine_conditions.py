"""Reads conditions on indices and sizes out of truths: `l <= m and (m < l + 1024 or l < 64)`.

A clause holds where at least one of its sums is not negative, and a condition states clauses of
which all hold. What else a truth says, of data, is no clause: it only says less then.
"""

from collections.abc import Iterable, Mapping
from itertools import product

from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Conditions,
    Expr,
    Index,
    Integer,
    Reshape,
    Size,
    SizedIndex,
    Term,
    walk,
)
from dtpoly.frozen import dataclass

Clause = Conditions  # of which at least one holds
Put = Mapping[str, Affine]  # labels, and the indices that stand for them
Terms = tuple[tuple[Term, int], ...]  # of a sum: each with its coefficient

# For a comparison `left OP right`, what is at least 0: the sign of `left - right`, and a number.
SIGNS: Mapping[str, tuple[int, int]] = {"ge": (1, 0), "gt": (1, -1), "le": (-1, 0), "lt": (-1, -1)}
OPPOSITE = {"ge": "lt", "lt": "ge", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
TRUTHS = (*OPPOSITE, "and", "or", "not")
MOST_CLAUSES = 16  # that a condition may state


@dataclass(frozen=True, slots=True)
class Stated:
    """Clauses that hold where a truth holds; if they are all that it says, also the other way."""

    clauses: tuple[Clause, ...]
    is_all: bool

    @property
    def labels(self) -> frozenset[str]:
        """Return the labels whose indices the clauses are about."""
        return frozenset(labels_of_clauses(self.clauses))


NOTHING_STATED = Stated((), is_all=False)


def labels_of_clauses(clauses: Iterable[Clause]) -> tuple[str, ...]:
    """Return the labels that clauses are about, each once."""
    return tuple(dict.fromkeys(x for clause in clauses for one in clause for x in one.labels))


def stated(truth: Expr, put: Put, *, holds: bool = True) -> Stated:
    """Return what is stated of indices and sizes where a truth holds, or where it does not."""
    match truth:
        case Reshape(operand=operand):
            return stated(operand, put, holds=holds)
        case Apply(operation="not", operands=(inner,)):
            return stated(inner, put, holds=not holds)
        case Apply(operation="and" | "or" as operation, operands=(left, right)):
            one, two = stated(left, put, holds=holds), stated(right, put, holds=holds)
            return _both(one, two) if (operation == "and") is holds else _either(one, two)
        case Apply(operation=operation, operands=(left, right)) if operation in OPPOSITE:
            first, second = sum_of(left, put), sum_of(right, put)
            if first is None or second is None:
                return NOTHING_STATED
            return _compared(operation if holds else OPPOSITE[operation], first, second)
        case _:
            return NOTHING_STATED


def has_data_end(truth: Expr) -> bool:
    """Return whether a truth compares indices with elements of tensors: a range from data."""
    for node in walk(truth):
        if isinstance(node, Apply) and node.operation in OPPOSITE:
            sides = [sum_of(one, {}) for one in node.operands]
            has_index = any(one is not None and one.labels for one in sides)
            if None in sides and has_index:
                return True
    return False


def _compared(operation: str, left: SizedIndex, right: SizedIndex) -> Stated:
    match operation:
        case "eq":
            return Stated(((left - right,), (right - left,)), is_all=True)
        case "ne":
            return Stated(((_plus(left - right, -1), _plus(right - left, -1)),), is_all=True)
        case _:
            sign, number = SIGNS[operation]
            return Stated(((_plus((left - right).scaled(sign), number),),), is_all=True)


def _both(one: Stated, two: Stated) -> Stated:
    clauses = tuple(dict.fromkeys((*one.clauses, *two.clauses)))
    return Stated(clauses, one.is_all and two.is_all)


def _either(one: Stated, two: Stated) -> Stated:
    if len(one.clauses) * len(two.clauses) > MOST_CLAUSES:
        return NOTHING_STATED
    pairs = product(one.clauses, two.clauses)
    clauses = tuple(dict.fromkeys(tuple(dict.fromkeys((*a, *b))) for a, b in pairs))
    return Stated(clauses, one.is_all and two.is_all)


def _plus(one: SizedIndex, number: int) -> SizedIndex:
    return SizedIndex(one.index + Affine((), number), one.sizes)


def negated(one: SizedIndex) -> SizedIndex:
    """Return the sum that is not negative where another one is."""
    return _plus(one.scaled(-1), -1)


def sum_of(expr: Expr, put: Put) -> SizedIndex | None:
    """Return an expression as a sum of labels and sizes times whole numbers, if it is one."""
    match expr:
        case Integer(value=value):
            return SizedIndex(Affine((), value))
        case Index(label=label):
            return SizedIndex(put.get(label, Affine(((label, 1),))))
        case Size(label=label):
            return SizedIndex(Affine(), Affine(((label, 1),)))
        case Reshape(operand=operand):
            return sum_of(operand, put)
        case Apply(operation="neg", operands=(inner,)):
            below = sum_of(inner, put)
            return None if below is None else below.scaled(-1)
        case Apply(operation="add" | "sub" as operation, operands=(left, right)):
            first, second = sum_of(left, put), sum_of(right, put)
            if first is None or second is None:
                return None
            return first - second.scaled(1 if operation == "sub" else -1)
        case (
            Apply(operation="mul", operands=(Integer(value=factor), other))
            | Apply(operation="mul", operands=(other, Integer(value=factor)))
        ):
            below = sum_of(other, put)
            return None if below is None else below.scaled(factor)
        case _:
            return None


def is_linear(clause: Clause) -> bool:
    """Return whether a clause is about labels alone: none is divided, and none is data."""
    return all(isinstance(term, str) for one in clause for term, _ in one.index.terms)


def implies(one: Clause, other: Clause) -> bool:
    """Return whether a clause is seen to hold where another one holds."""
    if any(_is_number(each) and _number(each) >= 0 for each in other):
        return True
    return all(any(_is_at_least(wanted, each) for wanted in other) for each in one) and bool(one)


def is_false(clause: Clause) -> bool:
    """Return whether no sum of a clause can be at least 0."""
    return all(_is_number(each) and _number(each) < 0 for each in clause)


def _is_at_least(one: SizedIndex, other: SizedIndex) -> bool:
    """Return whether a sum is another one plus a number that is not negative.

    The search of ranges asks this thousands of times, so no difference is made.
    """
    return (
        _number(one) >= _number(other)
        and _are_same(one.index.terms, other.index.terms)
        and _are_same(one.sizes.terms, other.sizes.terms)
    )


def _are_same(some: Terms, others: Terms) -> bool:
    """Return whether terms are the same ones in any order; each stands once in a sum."""
    return some == others or (len(some) == len(others) > 1 and {*some} == {*others})


def _is_number(one: SizedIndex) -> bool:
    return not one.index.terms and not one.sizes.terms


def _number(one: SizedIndex) -> int:
    return one.index.constant + one.sizes.constant


def substituted_clause(clause: Clause, put: Put) -> Clause:
    """Return a clause with indices in the place of labels."""
    return tuple(SizedIndex(one.index.substitute(put), one.sizes) for one in clause)


@dataclass(frozen=True, slots=True)
class AllOver:
    """Groups of clauses that do not all hold, for no indices of labels of these sizes.

    In the clauses, `place_of_bound` names these indices.
    """

    sizes: tuple[str, ...]
    clauses: tuple[Clause, ...]


def place_of_bound(at: int) -> str:
    """Return the name of an index of which `AllOver` speaks."""
    return f"*{at}"


@dataclass(frozen=True, slots=True)
class KnownConditions:
    """Clauses that hold, groups of clauses of which one does not hold, and those of all indices."""

    true: tuple[Clause, ...] = ()
    false: tuple[tuple[Clause, ...], ...] = ()
    all_over: AllOver | None = None

    def holds(self, clause: Clause) -> bool:
        """Return whether a clause is known to hold."""
        return implies((), clause) or any(implies(one, clause) for one in self.true)

    def fails(self, clauses: Iterable[Clause]) -> bool:
        """Return whether some of the clauses is known not to hold."""
        clauses = tuple(clauses)
        if any(all(self._is_refuted(one) for one in clause) for clause in clauses):
            return True
        more = KnownConditions((*self.true, *clauses))
        return any(all(map(more.holds, group)) for group in self.false)

    def _is_refuted(self, one: SizedIndex) -> bool:
        return is_false((one,)) or self.holds((negated(one),))

    def also(self, *more: Clause) -> "KnownConditions":
        """Return what is known if further clauses hold."""
        new = tuple(one for one in more if not self.holds(one))
        if not new:
            return self
        return KnownConditions((*self.true, *new), self.false, self.all_over)._followed()

    def without(self, group: tuple[Clause, ...]) -> "KnownConditions":
        """Return what is known if some of these clauses does not hold."""
        return KnownConditions(self.true, (*self.false, group), self.all_over)._followed()

    def _followed(self) -> "KnownConditions":
        """Return what is known, with what follows where all but one clause of a group hold."""
        for group in self.false:
            open_ones = [one for one in group if not self.holds(one)]
            if len(open_ones) == 1:
                other = KnownConditions(self.true, self.false, self.all_over)
                found = other.also(*((negated(one),) for one in open_ones[0]))
                if found is not other:
                    return found
        return self

    def entering(self, bound: Mapping[str, str]) -> "KnownConditions":
        """Return what is known inside of a reduction; `bound` has the sizes of its new indices."""
        spoken = self.all_over
        if spoken is None or sorted(spoken.sizes) != sorted(bound.values()):
            return self
        left = dict(bound)
        put: dict[str, Affine] = {}
        for at, size in enumerate(spoken.sizes):
            name = next(one for one, other in left.items() if other == size)
            del left[name]
            put[place_of_bound(at)] = Affine(((name, 1),))
        return self.without(tuple(substituted_clause(one, put) for one in spoken.clauses))
