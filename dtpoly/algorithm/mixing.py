"""Finds the part of an algorithm that keeps a reduction from going on in another one's loop."""

from collections.abc import Iterator, Mapping

from dtpoly.algorithm.expression_motion import TangledExpressionError, motion_of
from dtpoly.algorithm.expressions import Apply, Dot, Expr, Read, Reduce, children
from dtpoly.algorithm.motion import Motion
from dtpoly.algorithm.program import Program, in_order, producers
from dtpoly.frozen import dataclass

OUTSIDE = "multiply or divide the sum by '{0}' behind the loop, and not each operand of the sum"
APART = (
    "take the product apart: a sum without '{0}' beside a value, and '{0}' times another sum behind"
    " the loop; that loses digits where all values of a row are far from 0"
)
# What these give does not say by how much it would change.
STEPS = ("floor", "ceil", "round", "trunc")
JUMPS = "'{1}' jumps, so no sum of it moves: compute '{0}' before that loop: {0}.{{fuse}}(...)"


@dataclass(frozen=True, slots=True)
class MixingPart:
    """A part that mixes a result with other values, and what could be written in its place."""

    part: Expr
    way: str = ""


def mixing_part(program: Program, func: str, reader: str) -> MixingPart | None:
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
                return MixingPart(error.expr, _way(error.expr, func, known, part))
            if one.name != reader:
                known[one.name] = found
    return None


def _way(part: Expr, func: str, known: Mapping[str, Motion], around: Expr) -> str:
    """Return what could be written in the place of a part; nothing if that is not known."""
    steps = [one.operation for one in _walk(around) if isinstance(one, Apply)]
    jump = next((one for one in steps if one in STEPS), None)
    if jump is not None:
        return JUMPS.format(func, jump)
    match part:
        case Apply(operation="mul" | "div" as operation, operands=(one, other)):
            first, second = (motion_of(side, known) for side in (one, other))
            if first.is_factor != second.is_factor and not (first.is_still or second.is_still):
                return APART.format(func)
            is_sum = isinstance(around, Reduce) and around.operation == "rsum"
            is_whole = is_sum and part in children(around)
            if is_whole and (first.is_still or (second.is_still and operation == "mul")):
                return OUTSIDE.format(func)
        case _:
            pass
    return ""


def _walk(expr: Expr) -> Iterator[Expr]:
    yield expr
    for one in children(expr):
        yield from _walk(one)


def summed_part(program: Program, mean: str, reader: str) -> MixingPart | None:
    """Return what a reader reduces that depends on a mean."""
    func = program.find_func(reader)
    operands = (one for part in _reductions(func.body) for one in children(part)) if func else ()
    return next((MixingPart(one) for one in operands if mean in _tensors(one)), None)


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
