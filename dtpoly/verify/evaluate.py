"""A term and numbers for its names in, a number out: whether two terms differ, at one place.

Elements of inputs are numbers of their types that depend on tensor and index alone. What a type
does not hold is rounded, or wraps, as it is in the type. What is not known by name is some number
that depends on its operands. So equal terms give equal numbers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from itertools import product

import islpy as isl

from dtpoly.frozen import dataclass
from dtpoly.verify import kinds
from dtpoly.verify.limits import OutOfTimeError, check_time
from dtpoly.verify.rounding import allows, split
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
    names,
)
from dtpoly.verify.whole import (
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

Number = float | tuple[float, float]
MOST_POINTS = 6_000
CLOSE = 1e-7
# With all elements above 0, and below: a maximum with 0 is another one.
SIGNS = (1, -1)
CALLERS = ("tl.float16", "tl.float32")
SMALL = 100
# What is not below, or is less than the least, is no number with all the digits of its type.
LARGEST = {"tl.float16": 65520.0, "tl.float8e5": 57344.0, "tl.float8e4nv": 448.0}
LEAST = {"tl.float16": 2.0**-14, "tl.float8e5": 2.0**-14, "tl.float8e4nv": 2.0**-6}


OF_ONE: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "exp2": lambda a: 2.0**a,
    "log": math.log,
    "log2": math.log2,
    "sqrt": math.sqrt,
    "sqrt_rn": math.sqrt,
    "rsqrt": lambda a: 1 / math.sqrt(a),
    "sin": math.sin,
    "cos": math.cos,
    "erf": math.erf,
    "tanh": math.tanh,
    "sigmoid": lambda a: 1 / (1 + math.exp(-a)),
}


class NoNumberError(Exception):
    """The term has no number: its value depends on what is not in it."""


@dataclass
class Evaluation:
    """Numbers for names, and what terms were found to be."""

    point: Mapping[str, int]
    # Types to which values may be rounded: there that makes no difference.
    allowed: frozenset[str]
    # Of inputs and scalars.
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    # Of the elements of inputs; and whether whole numbers are any of their type.
    sign: int = 1
    is_wide: bool = False
    # A type that the caller decides.
    callers: str = "tl.float16"
    done: dict[Term, Number] = field(default_factory=dict[Term, Number])
    left: list[int] = field(default_factory=lambda: [MOST_POINTS])
    # What holds where the names are not chosen that a reduction binds.
    outer: Evaluation | None = None
    own: frozenset[str] = frozenset()


def differ(
    kernel: Term,
    algorithm: Term,
    point: Mapping[str, int],
    allowed: frozenset[str],
    types: Mapping[str, str] | None = None,
) -> bool:
    """Do two terms have other numbers there? False where that cannot be said."""
    ways = product(SIGNS, (False, True), CALLERS)
    known = types or {}
    return any(_differ(kernel, algorithm, Evaluation(point, allowed, known, *way)) for way in ways)


def _differ(kernel: Term, algorithm: Term, at: Evaluation) -> bool:
    try:
        first = _number(kernel, at)
        second = _number(algorithm, replace(at, done={}, left=[MOST_POINTS]))
    except (NoNumberError, OutOfTimeError, ValueError, OverflowError, ZeroDivisionError):
        return False
    return not _alike(first, second)


def _alike(first: Number, second: Number) -> bool:
    if isinstance(first, tuple) or isinstance(second, tuple):
        return first == second
    if isinstance(first, int) and isinstance(second, int):
        return first == second
    if math.isnan(first) or math.isnan(second):
        return math.isnan(first) and math.isnan(second)
    return first == second or abs(first - second) <= CLOSE * max(abs(first), abs(second))


def _some(*parts: object) -> float:
    """A number that depends on these alone."""
    found = hashlib.sha256(repr(parts).encode()).digest()
    return 0.5 + int.from_bytes(found[:6], "big") / 2**48


def _given(at: Evaluation, one: str, *indices: int) -> float:
    """An element of an input, or a scalar: a number of its type."""
    kind = at.types.get(one, "")
    found = _some(one, *indices)
    if kind == kinds.BOOL:
        return int(found > 1)
    if not kinds.is_whole(kind):
        return at.sign * (_nearest(found, kind, at.callers) if kind else found)
    large = int.from_bytes(hashlib.sha256(repr((one, indices)).encode()).digest(), "big")
    value = at.sign * (large if at.is_wide else 1 + large % SMALL)
    least, largest = kinds.LEAST.get(kind, 0), kinds.LARGEST.get(kind, SMALL)
    return value if least <= value <= largest else value % (largest - least + 1) + least


def _whole(of: Whole, at: Evaluation) -> int:
    """A number; a name that nothing is known of is 0."""
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


def _plain(term: Term, at: Evaluation) -> float:
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
        at.done[term] = _evaluated(term, at)
    return at.done[term]


def _evaluated(term: Term, at: Evaluation) -> Number:
    match term:
        case Literal(text=text):
            return _literal(text)
        case Given(name=one):
            return _given(at, one)
        case Place(value=value):
            return _whole(value, at)
        case Element(tensor=tensor, indices=indices):
            return _given(at, tensor, *(_whole(index, at) for index in indices))
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
                is_free = word == "may" or any(allows(one, kind) for one in at.allowed)
                return found if is_free else _rounded(found, kind, at.callers)
            return _applied(operation, [_number(one, at) for one in operands])
        case Total(operation=operation, bound=bound, domain=domain, body=body):
            values = [_number(body, inner) for inner in _inside(bound, domain, at)]
            return _reduced(operation, values)
        case Stored(cases=cases):
            for bound, condition, value in cases:
                for there in _inside(bound, condition, at):
                    return _number(value, there)
            return _some("nothing", len(at.done))


def _rounded(found: float, kind: str, callers: str) -> float:
    """A number brought to a type: a whole one wraps, others become the nearest that it has."""
    if not kinds.is_whole(kind):
        return _nearest(found, kind, callers)
    if kind not in kinds.LEAST or not math.isfinite(found) or int(found) != found:
        raise NoNumberError
    least, count = kinds.LEAST[kind], 1 << kinds.WIDTHS[kind]
    return (int(found) - least) % count + least


def _nearest(found: float, kind: str, callers: str) -> float:
    """The nearest number of a type of floats."""
    kinds_of = {one if one in kinds.DIGITS else callers for one in kinds.members(kind)}
    if {"tl.float16", "tl.bfloat16"} <= kinds_of:
        kinds_of.add("tl.float32")
    if kinds_of:
        kind = max(kinds_of, key=lambda one: kinds.DIGITS[one])
    digits = {**kinds.DIGITS, kinds.REAL: 24, "tf32": 11}.get(kind)
    if digits is None:
        raise NoNumberError
    if found == 0 or not math.isfinite(found):
        return found
    if not LEAST.get(kind, 2.0**-100) <= abs(found) < LARGEST.get(kind, math.inf):
        raise NoNumberError
    fraction, exponent = math.frexp(found)
    return math.ldexp(round(math.ldexp(fraction, digits)), exponent - digits)


def _literal(text: str) -> float:
    if text in ("True", "False"):
        return float(text == "True")
    if text == "undefined":
        return _some("undefined")
    above, _, below = kinds.exact(text).partition("/")
    if above.lstrip("-").isdigit() and not below:
        return int(above)
    return float(above) / float(below or 1)


def _inside(bound: tuple[str, ...], where: Truth, at: Evaluation) -> list[Evaluation]:
    """The choices of the bound names for which a formula holds."""
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
    if operation in ("argmax", "argmin"):
        pairs = [one for one in values if isinstance(one, tuple)]
        sign = -1 if operation == "argmax" else 1
        return min(pairs, key=lambda one: (sign * one[0], one[1]), default=(-sign * math.inf, 0.0))
    start: dict[str, Number] = {"add": 0, "mul": 1, "maximum": -math.inf, "minimum": math.inf}
    total: Number = start.get(operation, int(operation != "or"))
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
        case _, [a] if operation in OF_ONE:
            return OF_ONE[operation](a)
        case "rem", [a, b]:
            if isinstance(a, int) and isinstance(b, int):
                return (abs(a) % abs(b)) * (-1 if a < 0 else 1)
            return math.fmod(a, b)
        case "floordiv", [int(a), int(b)]:
            return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        case "mod", [a, b]:
            return a % b if isinstance(a, int) and isinstance(b, int) else a - b * math.floor(a / b)
        case "div_rn", [a, b]:
            return a / b
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
            return -(-a // b)
        case _, [a] if operation.startswith("cast tl.") and kinds.is_whole(operation[5:]):
            if not kinds.LEAST[operation[5:]] <= int(a) <= kinds.LARGEST[operation[5:]]:
                raise NoNumberError
            return int(a)
        case "where", [a, b, c]:
            return b if a else c
        case _:
            return _some(operation, *(round(one, 9) for one in numbers))
