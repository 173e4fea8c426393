"""A term and numbers for its names in, a number out: whether two terms differ, at one place.

Elements of inputs are numbers that depend on tensor and index alone; what is not known by name is
some number that depends on its operands. So equal terms give equal numbers, and others seldom.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import islpy as isl

from dtpoly.verify import kinds
from dtpoly.verify.rounding import split
from dtpoly.verify.sets import as_points, points_of
from dtpoly.verify.terms import (
    Apply,
    Carried,
    Choose,
    Element,
    Given,
    Literal,
    Pair,
    Place,
    PlaceOf,
    Stored,
    Term,
    Total,
    ValueOf,
)
from dtpoly.verify.whole import TRUE, Truth, Whole, names_of, number, put_truth, put_whole

Number = float | tuple[float, float]
MOST_POINTS = 3_000
CLOSE = 1e-7


class NoNumberError(Exception):
    """The term has no number: its value depends on what is not in it."""


@dataclass
class Evaluation:
    """Numbers for names, and what terms were found to be."""

    point: Mapping[str, int]
    # Types to which values may be rounded: there that makes no difference.
    allowed: frozenset[str]
    done: dict[Term, Number] = field(default_factory=dict[Term, Number])
    left: int = MOST_POINTS


def differ(
    kernel: Term, algorithm: Term, point: Mapping[str, int], allowed: frozenset[str]
) -> bool:
    """Do two terms have other numbers there? False where that cannot be said."""
    try:
        first = _number(kernel, Evaluation(point, allowed))
        second = _number(algorithm, Evaluation(point, allowed))
    except (NoNumberError, OverflowError, ZeroDivisionError):
        return False
    return not _alike(first, second)


def _alike(first: Number, second: Number) -> bool:
    if isinstance(first, tuple) or isinstance(second, tuple):
        return first == second
    if math.isnan(first) or math.isnan(second):
        return math.isnan(first) and math.isnan(second)
    return first == second or abs(first - second) <= CLOSE * max(abs(first), abs(second))


def _some(*parts: object) -> float:
    """A number that depends on these alone."""
    found = hashlib.sha256(repr(parts).encode()).digest()
    return 0.5 + int.from_bytes(found[:6], "big") / 2**48


def _whole(of: Whole, at: Evaluation) -> int:
    values = {one: number(value) for one, value in at.point.items()}
    for one in names_of(of):
        values.setdefault(one, number(0))
    found = put_whole(of, values).constant
    if found is None:
        raise NoNumberError
    return found


def _holds(of: Truth, at: Evaluation) -> bool:
    values = {one: number(0) for one in names_of(of)}
    values |= {one: number(value) for one, value in at.point.items()}
    return put_truth(of, values) == TRUE


def _plain(term: Term, at: Evaluation) -> float:
    found = _number(term, at)
    if isinstance(found, tuple):
        raise NoNumberError
    return found


def _number(term: Term, at: Evaluation) -> Number:
    if term not in at.done:
        at.left -= 1
        if at.left < 0:
            raise NoNumberError
        at.done[term] = _evaluated(term, at)
    return at.done[term]


def _evaluated(term: Term, at: Evaluation) -> Number:
    match term:
        case Literal(text=text):
            return _literal(text)
        case Given(name=one):
            return _some("given", one)
        case Place(value=value):
            return _whole(value, at)
        case Element(tensor=tensor, indices=indices):
            return _some(tensor, *(_whole(index, at) for index in indices))
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
        case Apply(operation=operation, operands=operands):
            word, kind = split(term)
            if word:
                found = _plain(operands[0], at)
                # What is rounded where it may not be is another number.
                return found if word == "may" or kind in at.allowed else found * (1 + 1e-4)
            return _applied(operation, [_number(one, at) for one in operands])
        case Total(operation=operation, bound=bound, domain=domain, body=body):
            values = [_number(body, inner) for inner in _inside(bound, domain, at)]
            return _reduced(operation, values)
        case Stored(cases=cases):
            for bound, condition, value in cases:
                for there in _inside(bound, condition, at):
                    return _number(value, there)
            return _some("nothing", len(at.done))


def _literal(text: str) -> float:
    if text in ("True", "False"):
        return float(text == "True")
    if text == "undefined":
        return _some("undefined")
    above, _, below = kinds.exact(text).partition("/")
    return float(above) / float(below or 1)


def _inside(bound: tuple[str, ...], where: Truth, at: Evaluation) -> list[Evaluation]:
    """The choices of the bound names for which a formula holds."""
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
        inner = Evaluation({**at.point, **chosen}, at.allowed, {}, at.left)
        found.append(inner)

    if int(there.count_val().to_python()) > MOST_POINTS:
        raise NoNumberError
    there.foreach_point(note)
    at.left -= len(found)
    return found


def _reduced(operation: str, values: list[Number]) -> Number:
    if operation in ("argmax", "argmin"):
        pairs = [one for one in values if isinstance(one, tuple)]
        sign = -1 if operation == "argmax" else 1
        return min(pairs, key=lambda one: (sign * one[0], one[1]), default=(-sign * math.inf, 0.0))
    start = {"add": 0.0, "mul": 1.0, "maximum": -math.inf, "minimum": math.inf, "or": 0.0}
    total: Number = start.get(operation, 1.0)
    for one in values:
        total = _applied(operation, [total, one])
    return total


def _applied(operation: str, operands: list[Number]) -> Number:
    if operation in ("argmax", "argmin"):
        return _reduced(operation, operands)
    numbers = [one for one in operands if not isinstance(one, tuple)]
    if len(numbers) < len(operands):
        raise NoNumberError
    match operation, numbers:
        case "add", [a, b]:
            return a + b
        case "sub", [a, b]:
            return a - b
        case "mul", [a, b]:
            return a * b
        case "div", [a, b]:
            return a / b
        case "neg", [a]:
            return -a
        case "abs", [a]:
            return abs(a)
        case (("maximum" | "or"), [a, b]):
            return max(a, b)
        case (("minimum" | "and"), [a, b]):
            return min(a, b)
        case "not", [a]:
            return 1 - a
        case "exp", [a]:
            return math.exp(a)
        case "lt", [a, b]:
            return float(a < b)
        case "le", [a, b]:
            return float(a <= b)
        case "gt", [a, b]:
            return float(a > b)
        case "ge", [a, b]:
            return float(a >= b)
        case "eq", [a, b]:
            return float(a == b)
        case "ne", [a, b]:
            return float(a != b)
        case (("floor" | "ceil"), [a]):
            return float(math.floor(a) if operation == "floor" else math.ceil(a))
        case "cdiv", [a, b]:
            return float(math.ceil(a / b))
        case "mod", [a, b]:
            return a - b * math.floor(a / b)
        case _, [a] if operation.startswith("cast "):
            return float(math.trunc(a))
        case "where", [a, b, c]:
            return b if a else c
        case _:
            return _some(operation, *(round(one, 9) for one in numbers))
