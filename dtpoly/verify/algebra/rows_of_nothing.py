"""Compare two terms where nothing of a row is reduced: both may be a nan there, or both 0.

A mean over no element is 0 / 0, and exp(-inf - -inf) is a nan, too: so a kernel that adds up
nothing and an algorithm that adds up nans have the same quotient. If the divisor has a term beside
the sum, such as exp(1 - m) with a maximum m of nothing, both are 0. Nothing is asked here of what
data are. A value is followed as the set of what it can be: `nan`, `-inf`, `0`, `inf`, or `number`
for any other one. None stands for values of which nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product

from dtpoly.verify.algebra.frame_terms import ZERO
from dtpoly.verify.algebra.frames import OF_MASKED
from dtpoly.verify.algebra.numerals import finite
from dtpoly.verify.algebra.proof_limits import check_time
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region, set_of, without
from dtpoly.verify.algebra.rounding import split
from dtpoly.verify.algebra.term_building import plain
from dtpoly.verify.algebra.terms import (
    RUNNING,
    AppliedOperation,
    Choose,
    Element,
    Literal,
    Term,
    Total,
    children,
    names,
    renamed,
    sources,
)

Values = frozenset[str] | None
Known = Mapping[Term, str]
NAN, LOW, NOTHING, HIGH, NUMBER = "nan", "-inf", "0", "inf", "number"
# What a term is if it can be nothing else: two numbers need not be the same one.
SURE = tuple(frozenset({one}) for one in (NAN, LOW, NOTHING, HIGH))
OF_ELEMENTS = (NAN, LOW, NOTHING, HIGH, NUMBER)
# Of so many elements each kind of number is tried.
MOST_ELEMENTS = 3
IDENTITIES = {"add": NOTHING, "maximum": LOW, "minimum": HIGH}


def are_alike(run: ProofRun, kernel: Term, algorithm: Term, where: Region) -> bool:
    """Return whether two terms are a nan everywhere on a set, or one infinity, or 0.

    That may depend on what an element is, such as that of a sink: each kind of number is tried.
    """
    elements = {one for term in (kernel, algorithm) for one in _elements(term, frozenset())}
    if len(elements) > MOST_ELEMENTS:
        return False
    for each in product(OF_ELEMENTS, repeat=len(elements)):
        known: Known = dict[Term, str](zip(elements, each, strict=True))
        first, second = (_values(run, one, where, known) for one in (kernel, algorithm))
        if first != second or first not in SURE:
            return False
    return True


def _elements(term: Term, bound: frozenset[str]) -> Iterator[Element]:
    """Yield the elements of tensors that stand outside of all reductions."""
    if isinstance(term, Element) and names(term).isdisjoint(bound):
        yield term
    if isinstance(term, Total):
        bound = bound.union(term.bound)
    for one in children(term):
        yield from _elements(one, bound)


def _values(run: ProofRun, term: Term, where: Region, known: Known) -> Values:
    """Return what a term can be on a set; it is known what elements outside of reductions are."""
    check_time()
    match term:
        case Literal():
            return _of_text(plain(term))
        case Element():
            kind = known.get(term)
            return None if kind is None else frozenset({kind})
        case Choose(condition=condition, yes=yes, no=no):
            holds = set_of(condition)
            ways = ((yes, where.intersect(holds)), (no, where.subtract(holds)))
            return _joined(
                [_values(run, o, there, known) for o, there in ways if not run.is_empty(there)]
            )
        case Total(operation=operation) if operation in IDENTITIES:
            return _of_total(run, renamed(run, term), where, known)
        case AppliedOperation(operation=operation, operands=(inner, *_)) if (
            operation == RUNNING or split(term)[0]
        ):
            found = _values(run, inner, where, known)
            is_kept = found is not None and (operation == RUNNING or NUMBER not in found)
            return found if is_kept else None
        case AppliedOperation(operation="mul", operands=(a, b)) if any(
            _is_masked(run, *pair, where, known) for pair in ((a, b), (b, a))
        ):
            run.take(OF_MASKED)
            return frozenset({NOTHING})
        case AppliedOperation(operation=operation, operands=operands) if operation in APPLIED:
            return _applied(operation, [_values(run, one, where, known) for one in operands])
        case _:
            return None


def _is_masked(run: ProofRun, weight: Term, value: Term, where: Region, known: Known) -> bool:
    """Return whether a weight is 0 by its mask, beside a value of data that is then masked, too."""
    while split(weight)[0]:
        (weight,) = children(weight)
    if not isinstance(weight, Choose) or ZERO not in (weight.yes, weight.no):
        return False
    return bool(sources(value)) and _values(run, weight, where, known) == frozenset({NOTHING})


def _of_text(term: Term) -> Values:
    text = term.text if isinstance(term, Literal) else ""
    if text in (NAN, LOW, NOTHING, HIGH):
        return frozenset({text})
    return None if finite(text) is None else frozenset({NUMBER})


def _joined(ways: list[Values]) -> Values:
    known = [one for one in ways if one is not None]
    return frozenset[str]().union(*known) if len(known) == len(ways) else None


def _of_total(run: ProofRun, total: Total, where: Region, known: Known) -> Values:
    """Return what a reduction can be; of nothing it is its identity."""
    nothing = frozenset({IDENTITIES[total.operation]})
    inside = where.intersect(set_of(total.domain))
    if run.is_empty(inside):
        return nothing
    operand = _values(run, total.body, inside, known)
    if operand == nothing:
        return nothing
    if operand is None or operand != frozenset({NAN}):
        return None
    is_filled = run.is_subset(where, without(inside, total.bound))
    return operand if is_filled else operand | nothing


def _applied(operation: str, operands: list[Values]) -> Values:
    """Return what an operation can give; a nan beside anything is a nan."""
    if operation in OF_ONE:
        (operand,) = operands
        if operand is None:
            return None
        return _joined([OF_ONE[operation].get(one) for one in operand])
    if operation in OF_TWO and frozenset({NAN}) in operands:
        return frozenset({NAN})
    found = list[Values]()
    if None in operands:
        return None
    for one in product(*(operand for operand in operands if operand is not None)):
        found.append(frozenset({NAN}) if NAN in one else OF_TWO[operation](*one))
    return _joined(found)


def _negated(one: str) -> str:
    return {LOW: HIGH, HIGH: LOW}.get(one, one)


def _sum(one: str, other: str) -> Values:
    if {one, other} == {LOW, HIGH}:
        return frozenset({NAN})
    for a, b in ((one, other), (other, one)):
        if a in (LOW, HIGH):
            return frozenset({a})
        if a == NOTHING:
            return frozenset({b})
    return frozenset({NUMBER, NOTHING})


def _product(one: str, other: str) -> Values:
    for a, b in ((one, other), (other, one)):
        if a == NOTHING:
            return frozenset({NAN if b in (LOW, HIGH) else NOTHING})
    return frozenset({NUMBER}) if one == other == NUMBER else None


def _quotient(one: str, other: str) -> Values:
    if one == other == NOTHING or {one, other} <= {LOW, HIGH}:
        return frozenset({NAN})
    return frozenset({NOTHING}) if one == NOTHING or other in (LOW, HIGH) else None


def _larger(one: str, other: str) -> Values:
    if LOW in (one, other):
        return frozenset({one if other == LOW else other})
    return frozenset({one}) if one == other else None


def _smaller(one: str, other: str) -> Values:
    if HIGH in (one, other):
        return frozenset({one if other == HIGH else other})
    return frozenset({one}) if one == other else None


OF_TWO: Mapping[str, Callable[[str, str], Values]] = {
    "add": _sum,
    "sub": lambda one, other: _sum(one, _negated(other)),
    "mul": _product,
    "div": _quotient,
    "maximum": _larger,
    "minimum": _smaller,
}
_EXP = {
    NAN: frozenset({NAN}),
    LOW: frozenset({NOTHING}),
    NOTHING: frozenset({NUMBER}),
    NUMBER: frozenset({NUMBER}),
    HIGH: frozenset({HIGH}),
}
OF_ONE: Mapping[str, Mapping[str, frozenset[str]]] = {
    "exp": _EXP,
    "exp2": _EXP,
    "neg": {one: frozenset({_negated(one)}) for one in (NAN, LOW, NOTHING, NUMBER, HIGH)},
    "log": {
        NAN: frozenset({NAN}),
        LOW: frozenset({NAN}),
        NOTHING: frozenset({LOW}),
        HIGH: frozenset({HIGH}),
    },
}
APPLIED = (*OF_TWO, *OF_ONE)
