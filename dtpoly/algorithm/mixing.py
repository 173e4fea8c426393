"""Finds the part of an algorithm that keeps a reduction from going on in another one's loop."""

from collections.abc import Iterator

from dtpoly.algorithm.expression_motion import TangledExpressionError, motion_of
from dtpoly.algorithm.expressions import Dot, Expr, Read, Reduce, children
from dtpoly.algorithm.motion import Motion
from dtpoly.algorithm.program import Program, in_order, producers


def mixing_part(program: Program, func: str, reader: str) -> Expr | None:
    """Return the smallest part that mixes a result with other values; None if none is found.

    It is a part of the reader, or of a Func between the two.
    """
    below = producers(program)
    needed, pending = {reader}, [reader]
    while pending:
        for name in below[pending.pop()]:
            if name not in needed:
                needed.add(name)
                pending.append(name)
    known = {func: Motion({func: 1.0})}
    for one in in_order(program):
        if one.name not in needed or not known.keys() & {*below[one.name]}:
            continue
        parts = _reductions(one.body) if one.name == reader else (one.body,)
        for part in parts:
            try:
                found = motion_of(part, known)
            except TangledExpressionError as error:
                return error.expr
            if one.name != reader:
                known[one.name] = found
    return None


def summed_part(program: Program, mean: str, reader: str) -> Expr | None:
    """Return what a reader reduces that depends on a mean."""
    func = program.find_func(reader)
    operands = (one for part in _reductions(func.body) for one in children(part)) if func else ()
    return next((one for one in operands if mean in _tensors(one)), None)


def _reductions(expr: Expr) -> Iterator[Expr]:
    """Yield the reductions of an expression that are not inside of other ones."""
    if isinstance(expr, Reduce | Dot):
        yield expr
        return
    for one in children(expr):
        yield from _reductions(one)


def _tensors(expr: Expr) -> frozenset[str]:
    own = frozenset((expr.tensor,)) if isinstance(expr, Read) else frozenset[str]()
    return own.union(*(_tensors(one) for one in children(expr)))
