"""A loop over a product of numbers in; the coordinates that it goes through, out.

    for i in range(0, R * S): ... i // S ... i % S ...

By the lemma of mixed radix each i below the product is one choice of coordinates below R and S,
and a later i is a choice that comes later in their lexicographic order. So such a loop is several
loops inside of each other, as far as its body looks at i only through `//` and `%`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dtpoly.frozen import dataclass
from dtpoly.verify.regions import holds, is_affine, set_of
from dtpoly.verify.terms import fresh
from dtpoly.verify.values import Radix
from dtpoly.verify.whole import Truth, Whole, compare, number

if TYPE_CHECKING:
    from dtpoly.verify.machine import Machine


@dataclass(frozen=True, slots=True)
class Coordinates:
    """What a counter is: its parts, outermost first, each with its range and its last value."""

    counter: Radix
    ranges: Mapping[str, Truth]
    last: Mapping[str, Whole]


def coordinates(machine: Machine, counter: str, over: ast.expr, high: Whole) -> Coordinates | None:
    """The coordinates of a loop from 0 in steps of 1, where its end is written as a product."""
    end = _end(over)
    if end is None or is_affine(high):
        return None
    factors = tuple(machine.whole(one) for one in _factors(end))
    calls = set_of(machine.facts)
    if len(factors) < 2 or not all(
        one.constant is None and is_affine(one) and holds(compare(">=", one, number(0)), calls)
        for one in factors
    ):
        return None
    digits = machine.digits
    # These are no extents of a grid, which would be known to be small.
    divisors = set(digits.divisors)
    radix = Radix(fresh(counter), factors)
    names: list[str] = []
    left: Whole | Radix = radix
    for factor in reversed(factors[1:]):
        assert isinstance(left, Radix)
        parts = digits.cut(left, factor)
        assert parts is not None, "a product can be divided by its last factor"
        left, part = parts
        assert isinstance(part, Whole)
        names.insert(0, str(part.plain))
    assert isinstance(left, Whole)
    names.insert(0, str(left.plain))
    digits.divisors = divisors
    return Coordinates(
        radix,
        {one: digits.ranges.pop(one) for one in names},
        {one: factor - 1 for one, factor in zip(names, factors, strict=True)},
    )


def _end(over: ast.expr) -> ast.expr | None:
    match over:
        case ast.Call(args=[end]) | ast.Call(args=[_, end]) | ast.Call(args=[_, end, _]):
            return end
        case _:
            return None


def _factors(of: ast.expr) -> list[ast.expr]:
    match of:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return [*_factors(left), *_factors(right)]
        case _:
            return [of]
