"""Compute two terms to numbers at one point, to show that a kernel is wrong there.

A layer may fail to prove that a kernel stores what the algorithm says. `differ` then tells whether
the two terms have different numbers for given sizes and indices: if so, the kernel is refuted.

An element of an input is a number of its type that depends on tensor and index alone. A value that
its type does not hold is rounded or wraps, as in that type. A value that may be rounded is any
number near it (see between). An operation that is not known by its name gives some number that
depends on its operands. So equal terms give equal numbers, and terms that are equal up to roundings
that are allowed give numbers that may be equal.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import product
from typing import TypeGuard

import islpy as isl

from dtpoly.budget import OverBudgetError
from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.between import (
    Between,
    NoNumberError,
    Plain,
    alike,
    between,
    computed,
    ends,
    is_nan,
    jump,
    leeway,
    nearest,
    resolved,
    spread,
)
from dtpoly.verify.algebra.identities import is_identity
from dtpoly.verify.algebra.listed import LISTS
from dtpoly.verify.algebra.number_operations import carried_out, with_nan
from dtpoly.verify.algebra.proof_limits import check_time
from dtpoly.verify.algebra.rounding import allows, rounds, split
from dtpoly.verify.algebra.sets import as_points, points_of
from dtpoly.verify.algebra.terms import (
    EXTREMES,
    NTH,
    RUNNING,
    AppliedOperation,
    Carried,
    Choose,
    Element,
    Given,
    Index,
    Literal,
    Pair,
    Place,
    PlaceOf,
    Stored,
    Term,
    Total,
    ValueOf,
    children,
    names,
    walk,
)
from dtpoly.verify.algebra.whole import (
    All,
    Atom,
    Either,
    Extreme,
    Floor,
    Not,
    Sign,
    Some,
    Truth,
    Whole,
    number,
    put_truth,
)

Number = Plain | tuple[Plain, Plain]
MOST_POINTS = 6_000
# Elements are tried all above 0, and all below: a maximum with 0 differs between the two.
SIGNS = (1, -1)
SMALL = 100


@dataclass
class Evaluation:
    """Numbers for the names at one point, and the results of terms computed so far."""

    point: Mapping[str, int]
    # Types to which values may be rounded: a rounding to one of these makes no difference.
    allowed: frozenset[str]
    # The types of inputs and scalars.
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    # The sign of the elements of inputs; and whether elements that are whole numbers may be any
    # number of their type, or only small ones.
    sign: int = 1
    is_wide: bool = False
    # The inputs that are f16, among those whose types callers decide; the others are f32.
    narrow: frozenset[str] = frozenset()
    # Whether some elements of inputs, and some scalars, are NaN.
    has_nan: bool = False
    done: dict[Term, Number] = field(default_factory=dict[Term, Number])
    left: list[int] = field(default_factory=lambda: [MOST_POINTS])
    # Inside of a reduction: the evaluation around it, which has not yet chosen numbers for the
    # bound names `own`. Terms without these names are computed there, once.
    outer: Evaluation | None = None
    own: frozenset[str] = frozenset()


def differ(
    kernel: Term,
    algorithm: Term,
    point: Mapping[str, int],
    allowed: frozenset[str],
    types: Mapping[str, str] | None = None,
) -> bool:
    """Return whether two terms have different numbers at a point; False where nobody can say it."""
    known = types or {}
    callers = sorted(frozenset[str]().union(*map(kinds.members, known.values())) - {*kinds.FLOATS})
    # Of the inputs whose types callers decide, all, none, or just one is f16.
    narrow = [frozenset(callers), frozenset[str](), *(frozenset({one}) for one in callers)]
    ways = product(SIGNS, (False, True), dict.fromkeys(narrow))
    return any(_differ(kernel, algorithm, Evaluation(point, allowed, known, *way)) for way in ways)


def differ_by_nan(
    kernel: Term,
    algorithm: Term,
    point: Mapping[str, int],
    allowed: frozenset[str],
    types: Mapping[str, str] | None = None,
) -> bool:
    """Return whether two terms differ at a point where some elements are NaN; False if not known.

    It is asked only if one of the terms leaves out NaN somewhere, as Triton's `maximum` does. Other
    terms treat NaN in no way of their own.
    """
    if not (_leaves_out_nan(kernel) or _leaves_out_nan(algorithm)):
        return False
    at = Evaluation(point, allowed, types or {}, has_nan=True)
    return _differ(kernel, algorithm, at)


def _leaves_out_nan(term: Term) -> bool:
    """Return whether a term has a maximum or minimum that ignores operands that are NaN."""
    own = isinstance(term, AppliedOperation | Total) and term.operation.endswith(kinds.WITHOUT_NAN)
    return own or any(map(_leaves_out_nan, children(term)))


def _differ(kernel: Term, algorithm: Term, at: Evaluation) -> bool:
    try:
        first = _number(kernel, at)
        second = _number(algorithm, replace(at, done={}, left=[MOST_POINTS]))
    except (NoNumberError, OverBudgetError, ValueError, OverflowError, ZeroDivisionError):
        return False
    return not _alike(first, second)


def _alike(first: Number, second: Number) -> bool:
    if not isinstance(first, tuple) and not isinstance(second, tuple):
        return alike(first, second)
    if not isinstance(first, tuple) or not isinstance(second, tuple):
        return False
    return all(alike(one, other) for one, other in zip(first, second, strict=True))


def _some(*parts: object) -> float:
    """Return a number from 0.5 to 1.5 that depends on the arguments alone."""
    found = hashlib.sha256(repr(parts).encode()).digest()
    return 0.5 + int.from_bytes(found[:6], "big") / 2**48


def _given(at: Evaluation, one: str, *indices: int) -> float:
    """Return the number for an element of an input, or for a scalar: one of its type."""
    kind = at.types.get(one, "")
    found = _some(one, *indices)
    if kind == kinds.BOOL:
        return int(found > 1)
    if not kinds.is_whole(kind):
        if at.has_nan and _some("nan", one, *indices) > 1:
            return math.nan
        return at.sign * (nearest(found, resolved(kind, at.narrow)) if kind else found)
    large = int.from_bytes(hashlib.sha256(repr((one, indices)).encode()).digest(), "big")
    value = at.sign * (large if at.is_wide else 1 + large % SMALL)
    least, largest = kinds.LEAST.get(kind, 0), kinds.LARGEST.get(kind, SMALL)
    return value if least <= value <= largest else value % (largest - least + 1) + least


def _whole(of: Whole, at: Evaluation) -> int:
    """Compute a whole number of indices and sizes; a name without a number is 0."""
    total = 0
    for monomial, coefficient in of.terms:
        product = coefficient
        for atom in monomial:
            product *= _atom(atom, at)
        total += product
    return total


def _atom(atom: Atom, at: Evaluation) -> int:
    match atom:
        case str():
            return at.point.get(atom, 0)
        case Floor(operand=operand, divisor=divisor):
            return _whole(operand, at) // divisor
        case Extreme(largest=largest, left=left, right=right):
            ends = (_whole(left, at), _whole(right, at))
            return max(ends) if largest else min(ends)
        case Either(condition=condition, yes=yes, no=no):
            return _whole(yes if _holds(condition, at) else no, at)


def _holds(of: Truth, at: Evaluation) -> bool:
    match of:
        case Sign(operand=operand, exactly=exactly):
            value = _whole(operand, at)
            return value == 0 if exactly else value >= 0
        case All(parts=parts):
            return all(_holds(part, at) for part in parts)
        case Some(parts=parts):
            return any(_holds(part, at) for part in parts)
        case Not(operand=operand):
            return not _holds(operand, at)


def _plain(term: Term, at: Evaluation) -> Plain:
    found = _number(term, at)
    if isinstance(found, tuple):
        raise NoNumberError
    return found


def _number(term: Term, at: Evaluation) -> Number:
    while at.outer is not None and not at.own & names(term):
        at = at.outer
    if term not in at.done:
        at.left[0] -= 1
        if at.left[0] < 0:
            raise NoNumberError
        found = _evaluated(term, at)
        at.done[term] = found if isinstance(found, tuple) else computed(found)
    return at.done[term]


def _evaluated(term: Term, at: Evaluation) -> Number:  # noqa: C901  # one case for each kind of term
    match term:
        case Literal(text=text):
            return _literal(text)
        case Given(name=one):
            return _given(at, one)
        case Place(value=value):
            return _whole(value, at)
        case Element(tensor=tensor, indices=indices):
            return _given(at, tensor, *(_index(index, at) for index in indices))
        case Choose(condition=condition, yes=yes, no=no):
            return _number(yes if _holds(condition, at) else no, at)
        case Pair(value=value, place=where):
            return (_plain(value, at), _plain(where, at))
        case PlaceOf(pair=inner) | ValueOf(pair=inner):
            found = _number(inner, at)
            if not isinstance(found, tuple):
                raise NoNumberError
            return found[1] if isinstance(term, PlaceOf) else found[0]
        case Carried():
            raise NoNumberError
        case AppliedOperation():
            return _of_operation(term, at)
        case Total(operation=operation) if operation in LISTS:
            raise NoNumberError  # a list is no number; only what is at a place of it is
        case Total(operation=operation, bound=bound, domain=domain, body=body):
            values = [_number(body, inner) for inner in _inside(bound, domain, at)]
            return _reduced(operation, values)
        case Stored(cases=cases):
            for bound, condition, value in cases:
                for there in _inside(bound, condition, at):
                    return _number(value, there)
            return _some("nothing", len(at.done))


def _of_operation(term: AppliedOperation, at: Evaluation) -> Number:
    operation, operands = term.operation, term.operands
    word, kind = split(term)
    if operation == RUNNING:
        return _running(operands[0], at)
    if word:
        found = _plain(operands[0], at)
        is_free = word == "may" or any(allows(one, kind) for one in at.allowed)
        return _rounded(found, kind, at.narrow, is_free=is_free)
    if operation == NTH:
        return _nth(operands[0], _plain(operands[1], at), at)
    is_same = len({*operands}) < len(operands)
    return _applied(operation, [_number(one, at) for one in operands], is_same=is_same)


def _running(term: Term, at: Evaluation) -> Number:
    """Return a value that a loop keeps in a frame, if nothing in it is rounded.

    The loop rounds in another frame than the term says.
    """
    if rounds(term):
        raise NoNumberError
    return _number(term, at)


def _index(index: Index, at: Evaluation) -> int:
    if not isinstance(index, Whole):
        raise NoNumberError  # it is data, and no numbers are made up for that
    return _whole(index, at)


def _rounded(found: Plain, kind: str, narrow: frozenset[str], *, is_free: bool) -> Plain:
    """Return a number that is, or (`is_free`) may be, brought to a type.

    In a type of whole numbers it wraps; in a type of floats it becomes the nearest number.
    """
    if not kinds.is_whole(kind):
        if is_nan(found):
            return found
        if is_free:
            return leeway(found, kind, narrow)
        return between([nearest(one, resolved(kind, narrow)) for one in ends(found)])
    if is_free:
        return found
    if isinstance(found, Between):
        raise NoNumberError
    if kind not in kinds.LEAST or not math.isfinite(found) or int(found) != found:
        raise NoNumberError
    least, count = kinds.LEAST[kind], 1 << kinds.WIDTHS[kind]
    return (int(found) - least) % count + least


def _literal(text: str) -> float:
    if text in ("True", "False"):
        # No float: beside a number of 64 bits it would lose digits.
        return int(text == "True")
    if text == "undefined":
        return _some("undefined")
    above, _, below = kinds.exact(text).partition("/")
    if above.lstrip("-").isdigit() and not below:
        return int(above)
    return float(above) / float(below or 1)


def _inside(bound: tuple[str, ...], where: Truth, at: Evaluation) -> list[Evaluation]:
    """Return an evaluation for each choice of the bound names for which a formula holds."""
    check_time()
    values = {one: number(value) for one, value in at.point.items() if one not in bound}
    there = as_points(points_of(put_truth(where, values)), bound)
    for one in range(there.dim(isl.dim_type.param)):
        there = there.fix_val(isl.dim_type.param, one, isl.Val(0))
    if not there.is_bounded():
        raise NoNumberError
    found: list[Evaluation] = []

    def note(point: isl.Point) -> None:
        chosen = {
            one: int(point.get_coordinate_val(isl.dim_type.set, i).to_python())
            for i, one in enumerate(bound)
        }
        inner = replace(at, point={**at.point, **chosen}, done={}, outer=at, own=frozenset(chosen))
        found.append(inner)

    if int(there.count_val().to_python()) > MOST_POINTS:
        raise NoNumberError
    there.foreach_point(note)
    at.left[0] -= len(found)
    return found


def _reduced(operation: str, values: list[Number]) -> Number:
    if " in " in operation:
        raise NoNumberError  # it is rounded at each step, and the order of the steps is not known
    if operation in EXTREMES:
        if any(is_nan(part) for one in values if isinstance(one, tuple) for part in one):
            raise NoNumberError
        return _best(operation, [one for one in values if isinstance(one, tuple)])
    if operation.endswith(kinds.WITHOUT_NAN):
        operation, values = _numbers_alone(operation, values)
    start: dict[str, Number] = {"add": 0, "mul": 1, "maximum": -math.inf, "minimum": math.inf}
    total: Number = start.get(operation, int(operation != "or"))
    for one in values:
        total = _applied(operation, [total, one])
    return total


def _numbers_alone(operation: str, values: list[Number]) -> tuple[str, list[Number]]:
    """Return the operation without its mark, and the values without NaN.

    If all values are NaN, the result is not known.
    """
    numbers = [one for one in values if not is_nan(one)]
    if values and not numbers:
        raise NoNumberError
    return operation.removesuffix(kinds.WITHOUT_NAN), numbers


def _best(operation: str, pairs: list[tuple[Plain, Plain]]) -> Number:
    """Return the first pair with the largest, or smallest, value; it must be the best for sure."""
    sign = -1 if EXTREMES[operation] in ("maximum", "or") else 1

    def first_last(one: tuple[Plain, Plain]) -> tuple[float, float]:
        first, last = sorted(sign * end for end in ends(one[0]))
        return first, last

    def key(one: tuple[Plain, Plain]) -> tuple[float, float]:
        return first_last(one)[1], ends(one[1])[0]

    # Of nothing it is a pair that loses against each other one.
    best = min(pairs, key=key, default=(sign * math.inf, math.inf))
    others = [one for one in pairs if one != best]
    if any(isinstance(one[0], Between) for one in pairs) and any(
        first_last(one)[0] <= first_last(best)[1] for one in others
    ):
        raise NoNumberError
    return best


def _nth(pairs: Term, place: Plain, at: Evaluation) -> Number:
    """Return the pair at a place of a list; its order must be beyond doubt."""
    operation = next(one.operation for one in walk(pairs) if _is_list(one))
    found = sorted({(-one[0], one[1]) for one in _pairs(operation, pairs, at)})
    if not isinstance(place, int):
        raise NoNumberError
    least = kinds.LEAST.get(operation.removeprefix("list of "), -math.inf)
    value, where = found[place] if place < len(found) else (-least, 2**63 - 1)
    return -value, where


def _is_list(term: Term) -> TypeGuard[AppliedOperation | Total]:
    return isinstance(term, AppliedOperation | Total) and term.operation in LISTS


def _pairs(operation: str, term: Term, at: Evaluation) -> Iterator[tuple[float, int]]:
    """Yield the pairs of a list that say something."""
    match term:
        case AppliedOperation(operation=own, operands=operands) if own == operation:
            for one in operands:
                yield from _pairs(operation, one, at)
        case Total(operation=own, bound=bound, domain=domain, body=body) if own == operation:
            for inner in _inside(bound, domain, at):
                yield from _pairs(operation, body, inner)
        case Choose(condition=condition, yes=yes, no=no):
            yield from _pairs(operation, yes if _holds(condition, at) else no, at)
        case _ if is_identity(operation, term):
            return
        case _:
            found = _number(term, at)
            if not isinstance(found, tuple):
                raise NoNumberError
            value, where = (_sure(one) for one in found)
            yield value, int(where)


def _sure(one: Plain) -> float:
    """Return a number that is known exactly, and is no NaN."""
    if isinstance(one, Between) or is_nan(one):
        raise NoNumberError
    return one


def _applied(operation: str, operands: list[Number], *, is_same: bool = False) -> Number:
    """Carry out an operation, some operands of which may be the same term."""
    if operation in EXTREMES:
        return _reduced(operation, operands)
    if operation.endswith(kinds.WITHOUT_NAN):
        return _reduced(operation, operands)
    plain = [one for one in operands if not isinstance(one, tuple)]
    if len(plain) < len(operands):
        raise NoNumberError
    if any(map(is_nan, plain)):
        return with_nan(operation, plain)
    numbers = [one for one in plain if not isinstance(one, Between)]
    if len(numbers) < len(plain):
        return spread(operation, plain, lambda ways: _carried_out(operation, ways))
    found = None if is_same else jump(operation, numbers)
    return _carried_out(operation, numbers) if found is None else found


def _carried_out(operation: str, numbers: Sequence[float]) -> float:
    found = carried_out(operation, numbers)
    if found is not None:
        return found
    # Floats count only with as many digits as every order of a sum agrees on.
    return _some(operation, *(str(a) if isinstance(a, int) else f"{a:.9g}" for a in numbers))
