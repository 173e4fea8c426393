"""Checks the values that SQLite returns, and gives them their types or raises ValueError.

SQLite keeps any value in a column, and a file of results may come from anybody.
"""

import json
import zlib
from collections.abc import Callable, Mapping
from math import isnan
from typing import Any, TypeVar, cast

from dtpoly.explore.store.measured_question import Question, SetupFacts, UserQuestion
from dtpoly.explore.store.results import (
    EmittedText,
    Fit,
    FunctionCall,
    Outcome,
    Proven,
    RefusedPoint,
    Result,
    TextProof,
)

MOST_BYTES = 2**24  # of an emitted text; real ones have less than a hundredth of it

T = TypeVar("T")


def text(value: object) -> str:
    """Check that a value is a text."""
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def whole(value: object) -> int:
    """Check that a value is a whole number."""
    if type(value) is not int:
        raise ValueError("a whole number")
    return value


def real(value: object) -> float:
    """Check that a value is a number that is not negative; infinity stands for a missing number."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError("a number")
    if isnan(value) or value < 0:
        raise ValueError("a number from 0 on")
    return float(value)


def finite(value: object) -> float:
    """Check that a value is a number that is neither negative nor infinite."""
    if real(value) == float("inf"):
        raise ValueError("a finite number")
    return real(value)


def time(value: object) -> float:
    """Check that a value is a time above 0, since others are divided by it."""
    if not finite(value):
        raise ValueError("a time above 0")
    return finite(value)


def maybe(read: Callable[[object], T], value: object) -> T | None:
    """Read a value with a function, or return None if the column is empty."""
    return None if value is None else read(value)


def named(read: Callable[[object], T], value: object) -> dict[str, T]:
    """Read values by name, from JSON."""
    found: object = json.loads(text(value))
    if not isinstance(found, dict):
        raise ValueError("an object of JSON")
    return {name: read(one) for name, one in cast(dict[str, object], found).items()}


def question(row: tuple[Any, ...]) -> Question:
    """Read a row of `question`, without its number."""
    name, program, func, sizes, dtype, seed, device, versions = row
    asked = UserQuestion(
        text(name), text(program), text(func), named(whole, sizes), text(dtype), whole(seed)
    )
    return Question(asked, SetupFacts(text(device), named(text, versions)))


def result(row: tuple[Any, ...]) -> tuple[str, Mapping[str, str], Result]:
    """Read a row of `result`, without its question: the point, its parameters, and the result."""
    point, parameters, outcome, kind, reason, median, low, high, *rest = row
    samples, error, allowed, baselines, text_hash, seconds = rest
    found = Result(
        outcome=Outcome(outcome),
        kind=text(kind),
        reason=text(reason),
        median=maybe(time, median),
        quarter=maybe(finite, low),
        three_quarters=maybe(finite, high),
        samples=whole(samples),
        error=maybe(real, error),
        allowed=maybe(real, allowed),
        baselines=named(time, baselines),
        text_hash=text(text_hash),
        seconds=finite(seconds),
    )
    if found.is_timed and found.median is None:
        raise ValueError("a time of what is measured")
    return text(point), named(text, parameters), found


def emitted(row: tuple[Any, ...]) -> EmittedText | RefusedPoint:
    """Read a row of `emitted`, without its algorithm and its point."""
    packed, call, kind, reason = row
    if packed is None:
        return RefusedPoint(text(kind), text(reason))
    if not isinstance(packed, bytes):
        raise ValueError("a text that is packed")
    found = json.loads(text(call))
    passed = named(text, json.dumps(found["passed"]))
    others = tuple(map(text, found.get("others", ())))
    of = FunctionCall(
        text(found["func"]), text(found["function"]), passed, found["is_rough"] is True, others
    )
    return EmittedText(_unpacked(packed), of)


def _unpacked(packed: bytes) -> str:
    """Unpack a text up to a limit, because few bytes may unpack to more than any memory holds."""
    reader = zlib.decompressobj()
    data = reader.decompress(packed, MOST_BYTES)
    if not reader.eof:
        raise ValueError("the end of a text that is packed")
    return data.decode()


def fit(row: tuple[Any, ...]) -> Fit:
    """Read a row of `compiled`, without its keys."""
    kind, reason, kernels = row
    found: object = json.loads(text(kernels))
    if not isinstance(found, list):
        raise ValueError("a list of JSON")
    of = [named(lambda one: one, json.dumps(one)) for one in cast(list[object], found)]
    return Fit(text(kind), text(reason), of)


def proof(row: tuple[Any, ...]) -> TextProof:
    """Read a row of `proof`, without its keys."""
    verdict, layer, reason = row
    return TextProof(Proven(verdict), text(layer), text(reason))
