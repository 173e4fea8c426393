"""Read a loop over a product of numbers as nested loops over the factors.

    for i in range(0, R * S): ... i // S ... i % S ...

By the lemma of mixed radix (see digits) each i below the product is one choice of coordinates below
R and S, and a later i is a choice that comes later in their lexicographic order. So such a loop is
the same as several nested loops, if its body looks at i only through `//` and `%`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Radix
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region, is_affine, set_of
from dtpoly.verify.algebra.whole import Truth, Whole, compare, number
from dtpoly.verify.triton.reader import Reader


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The coordinates of a counter, outermost first, each with its range and its last value."""

    counter: Radix
    ranges: Mapping[str, Truth]
    last: Mapping[str, Whole]


def coordinates(
    read: Reader, counter: str, node: ast.For, name: str, high: Whole
) -> Coordinates | None:
    """Return the coordinates of a loop from 0 in steps of 1 whose end is written as a product.

    If at most one factor is a size and the others are constants, the loop has coordinates only if
    the body divides the counter by something that is no constant. Otherwise the counter stays a
    plain number, since sets can divide by constants. None for a loop without coordinates.
    """
    state = read.state
    end = _end(node.iter)
    if end is None or (is_affine(high) and not _is_divided(node.body, name)):
        return None
    factors = tuple(read.whole(one) for one in _factors(end))
    calls = set_of(state.facts)
    if len(factors) < 2 or not all(_is_extent(state.run, one, calls) for one in factors):
        return None
    digits = state.digits
    # The factors are no extents of a grid: products of those are known to be small, so `cut` notes
    # them as divisors. That is undone below.
    divisors = set(digits.divisors)
    radix = Radix(state.run.fresh(counter), factors)
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


def _is_extent(run: ProofRun, one: Whole, calls: Region) -> bool:
    """Return whether a factor is a constant above 1, or is known not to be negative."""
    if one.constant is not None:
        return one.constant > 1
    return is_affine(one) and run.holds(compare(">=", one, number(0)), calls)


def _is_divided(body: Sequence[ast.stmt], counter: str) -> bool:
    """Return whether a counter is divided by something that is no constant."""
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.FloorDiv | ast.Mod)
        and isinstance(node.left, ast.Name)
        and node.left.id == counter
        and not isinstance(node.right, ast.Constant)
        for statement in body
        for node in ast.walk(statement)
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
