"""Writes expressions without the masks that say what is known already."""

from dtpoly.algorithm.affine_conditions import (
    Clause,
    KnownConditions,
    Stated,
    has_data_end,
    labels_of_clauses,
    stated,
)
from dtpoly.algorithm.expressions import (
    Apply,
    Conditions,
    Dot,
    Expr,
    Read,
    Reduce,
    map_children,
    walk,
)
from dtpoly.algorithm.inference import Types, type_of
from dtpoly.algorithm.range_search import truth_of
from dtpoly.algorithm.substitute import as_condition
from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class MaskedValue:
    """A value where all clauses hold, and another one elsewhere, which is a written number."""

    condition: Expr
    value: Expr
    other: Expr
    clauses: tuple[Clause, ...]

    @property
    def whole(self) -> Expr:
        """Return the choice between both."""
        return Apply("where", (self.condition, self.value, self.other))


def unmasked(expr: Expr, clauses: tuple[Clause, ...], types: Types) -> Expr:
    """Return an expression that has the same value where clauses hold, with fewer masks.

    A mask stays if the value has another type without it.
    """
    if not clauses:
        return expr
    if isinstance(expr, Reduce | Dot):
        # What is known of a label says nothing of the label that a reduction binds again.
        bound = {*expr.labels}
        clauses = tuple(one for one in clauses if bound.isdisjoint(labels_of_clauses((one,))))
    expr = map_children(expr, lambda one: unmasked(one, clauses, types))
    match expr:
        case Apply(operation="where", operands=(condition, yes, no)):
            holds = truth_of(condition, {}, KnownConditions().also(*clauses))
            if holds is None:
                return expr
            kept = yes if holds else no
            return kept if type_of(kept, types) == type_of(expr, types) else expr
        case Apply(operation="and", operands=(left, right)):
            return _left_open(left, right, clauses, decides=False) or expr
        case Apply(operation="or", operands=(left, right)):
            return _left_open(left, right, clauses, decides=True) or expr
        case _:
            return expr


def _left_open(
    left: Expr, right: Expr, clauses: tuple[Clause, ...], *, decides: bool
) -> Expr | None:
    """Return the side of an `and` or `or` that says something, if the other one says nothing."""
    known = KnownConditions().also(*clauses)
    if truth_of(left, {}, known) is (not decides):
        return right
    return left if truth_of(right, {}, known) is (not decides) else None


def masked_value(expr: Expr, types: Types) -> MaskedValue | None:
    """Return the value that is masked by conditions on indices and sizes, if an expression is such.

    What its mask says of data stays in the value.
    """
    match expr:
        case Apply(operation="where", operands=(condition, yes, no)):
            if has_data_end(condition):
                return None
        case _:
            return None
    for value, other, holds in ((yes, no, True), (no, yes, False)):
        said = _of_single(stated(condition, {}, holds=holds))
        if not said.clauses or not _is_written(other) or _is_written(value):
            continue
        if type_of(value, types) != type_of(expr, types):
            continue
        asked = condition if said.is_all and holds else as_truth(said.clauses)
        if not said.is_all:
            return MaskedValue(asked, unmasked(expr, said.clauses, types), other, said.clauses)
        inner = masked_value(value, types)
        if inner is not None and inner.other == other:
            clauses = tuple(dict.fromkeys((*said.clauses, *inner.clauses)))
            return MaskedValue(Apply("and", (asked, inner.condition)), inner.value, other, clauses)
        return MaskedValue(asked, value, other, said.clauses)
    return None


def _of_single(said: Stated) -> Stated:
    """Return what is stated by clauses of one sum each."""
    clauses = tuple(one for one in said.clauses if len(one) == 1)
    return Stated(clauses, is_all=said.is_all and len(clauses) == len(said.clauses))


def as_truth(clauses: tuple[Clause, ...]) -> Expr:
    """Return the truth that all clauses hold."""
    found: Expr | None = None
    for clause in clauses:
        either: Expr | None = None
        for one in clause:
            holds = as_condition((one,))
            assert holds is not None
            either = holds if either is None else Apply("or", (either, holds))
        assert either is not None
        found = either if found is None else Apply("and", (found, either))
    assert found is not None
    return found


def _is_written(expr: Expr) -> bool:
    """Return whether a value is made of numbers, indices and scalars alone."""
    return not any(isinstance(one, Read | Reduce | Dot) for one in walk(expr))


def single(clauses: tuple[Clause, ...]) -> Conditions:
    """Return the sums of the clauses that have just one."""
    return tuple(clause[0] for clause in clauses if len(clause) == 1)
