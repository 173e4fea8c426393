"""Finds maxima whose gradient vanishes, since the results do not depend on them.

In a safe softmax the largest element is taken away from all, and cancels in the end. `motion` says
how values move if it grows: `exp(A - top)` by a factor, a quotient of two such values not at all.
If no result moves, the derivative by `top` is 0, and nothing is derived of it.
"""

from collections.abc import Mapping

from dtpoly.algorithm.expression_motion import TangledExpressionError, motion_of
from dtpoly.algorithm.expressions import Dot, Expr, Read, Reduce, children, reads
from dtpoly.algorithm.motion import Motion
from dtpoly.algorithm.program import Func, Program, in_order
from dtpoly.gradient.derived_nodes import plain

EXTREMES = ("rmax", "rmin")


def vanishing(program: Program, of: tuple[str, ...]) -> frozenset[str]:
    """Return the Funcs that are maxima or minima, and on which no result depends in the end."""
    return frozenset(
        func.name
        for func in program.funcs
        if func.name not in of
        and isinstance(func.body, Reduce)
        and func.body.operation in EXTREMES
        and func.body.scan is None
        and _is_without_effect(func, program, of)
    )


def _is_without_effect(frame: Func, program: Program, of: tuple[str, ...]) -> bool:
    moved: dict[str, Motion] = {frame.name: Motion({frame.name: 1.0})}
    labels = {frame.name: frame.labels}
    for func in in_order(program, of):
        if func.into is not None and func.into.tensor in moved:
            return False  # it begins with what moves
        if func.name == frame.name or not any(one.tensor in moved for one in reads(func.body)):
            continue
        if not set(frame.labels) <= set(func.labels):
            return False
        if not _stays_in_place(func.body, frame, labels):
            return False
        try:
            found = motion_of(func.body, moved)
        except TangledExpressionError:
            return False
        if not found.is_still:
            moved[func.name], labels[func.name] = found, func.labels
    return not any(one in moved for one in of)


def _stays_in_place(expr: Expr, frame: Func, labels: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether what moves is read at the labels of the frame alone, and not summed over them.

    So each element of the frame moves elements of its own.
    """
    if isinstance(expr, Read) and expr.tensor in labels:
        own = dict(zip(labels[expr.tensor], expr.indices, strict=True))
        return expr.padding is None and all(own[one] == plain(one) for one in frame.labels)
    is_over_them = isinstance(expr, Reduce | Dot) and not set(frame.labels).isdisjoint(expr.labels)
    if is_over_them and any(one.tensor in labels for one in reads(expr)):
        return False
    return all(_stays_in_place(one, frame, labels) for one in children(expr))
