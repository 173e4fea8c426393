"""Puts what is computed from a maximum between two loops into the second loop.

    for k: top_max = max(top_max, A[k])            for k: top_max = max(top_max, A[k])
    top = 2 * top_max                        -->
    for k: total += exp(2 * A[k] - top)            for k: total += exp(2 * A[k] - 2 * top_max)

Then nothing stands between the loops that they would have to wait for, and they can be joined
(`one_pass`). Only a multiple of the maximum is put there, and a number beside it: what is summed is
brought up to date for these by a factor.
"""

from collections.abc import Mapping
from dataclasses import replace

from dtpoly.ir.kernel import Accumulate, Collapse, ForLoop, If, Instruction, Let, Step, TiledLoop
from dtpoly.ir.parts import assigned, mapped, steps_inside, with_values
from dtpoly.ir.tile_values import Axes, Call, Converted, LiteralNumber, Value, Variable

EXTREME = ("rmax", "rmin")
KEPT = ("mul", "div", "add", "sub", "neg")


def with_frames_put(
    body: tuple[Step, ...], walks: tuple[range, range]
) -> tuple[tuple[Step, ...], tuple[range, range]]:
    """Return the body in which the second walk computes multiples of the first one's extremes."""
    walk, other = walks
    first, between = body[walk.start : walk.stop], body[walk.stop : other.start]
    sums = [one.instruction for one in steps_inside(first)]
    if any(isinstance(one, Accumulate) and one.reduction not in EXTREME for one in sums):
        return body, walks  # means are another matter
    known = {*assigned(first)}
    put = dict[str, Value]()
    for step in between:
        one = step.instruction
        if isinstance(one, Collapse) and one.source in known:
            known.add(one.name)
        if isinstance(one, Let) and _is_multiple(one.value, known):
            put[one.name] = _put(one.value, put)
            known.add(one.name)
    if not put:
        return body, walks
    second = tuple(_step(step, put) for step in body[other.start : other.stop])
    return (*body[: other.start], *second, *body[other.stop :]), walks


def _is_multiple(value: Value, known: set[str]) -> bool:
    """Return whether a value is a known one times a written number, or beside one."""
    match value:
        case Variable(name=name):
            return name in known
        case Converted(value=inner):
            return _is_multiple(inner, known)
        case Call(operation=operation, operands=operands) if operation in KEPT:
            others = [one for one in operands if not isinstance(one, LiteralNumber)]
            is_below = operation == "div" and isinstance(operands[0], LiteralNumber)
            return len(others) == 1 and not is_below and _is_multiple(others[0], known)
        case _:
            return False


def _put(value: Value, put: Mapping[str, Value]) -> Value:
    """Return a value with other values in the place of variables."""
    if isinstance(value, Variable):
        return put.get(value.name, value)
    return mapped(value, lambda one: _put(one, put))


def _step(step: Step, put: Mapping[str, Value]) -> Step:
    return replace(step, instruction=_instruction(step.instruction, put))


def _instruction(one: Instruction, put: Mapping[str, Value]) -> Instruction:
    def inside(some: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(_step(step, put) for step in some)

    def changed(value: Value, _: Axes) -> Value:
        return _put(value, put)

    match one:
        case ForLoop(body=body) | If(body=body):
            return replace(one, body=inside(body))
        case TiledLoop(main=main, tail=tail):
            return replace(one, main=inside(main), tail=inside(tail))
        case _:
            return with_values(one, changed)
