"""Computes exponentials of a running maximum as powers of two, where a scale takes the factor.

    scores = acc * scale                      scores = acc * (scale * log2(e))
    top = max(top, scores)              -->   top = max(top, scores)
    total += exp(scores - top)                total += exp2(scores - top)

A GPU computes `exp(x)` as `exp2(x * log2(e))`. In a loop over keys this multiplication is one of
the few that each score costs. If scores are multiplied by a number anyway, that number takes the
factor: then scores and their maximum are larger by log2(e), and so are all differences of them.
This is done only if nothing but exponentials depends on the maximum: otherwise it stays as it is.
"""

import math
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.ir.kernel import (
    Accumulate,
    Collapse,
    Fill,
    ForLoop,
    If,
    Instruction,
    Let,
    Reshaped,
    Step,
    TiledLoop,
)
from dtpoly.ir.kinds import REAL
from dtpoly.ir.parts import (
    assigned_by,
    mapped,
    needed,
    operands_of,
    steps_inside,
    values,
    with_values,
)
from dtpoly.ir.tile_types import type_of
from dtpoly.ir.tile_values import (
    Axes,
    Call,
    Converted,
    LiteralNumber,
    Masked,
    Merged,
    Value,
    Variable,
    axes_of,
)

LOG2_E = math.log2(math.e)
# The types in which a number with the factor is about as exact as one without it.
WIDE = (REAL, DType.F32, DType.F64)
EXTREMES = ("rmax", "rmin")
KEEPING = ("maximum", "minimum", "add", "sub", "neg")


class _CannotFoldError(Exception):
    """A maximum, or what it is made of, is needed without the factor."""


def with_folded_scales(body: tuple[Step, ...], starts: frozenset[float]) -> tuple[Step, ...]:
    """Return the body in which running maxima have the factor log2(e), if their scales take it.

    A running maximum, or minimum, is a reduction that begins at one of the `starts`.
    """
    steps = tuple(steps_inside(body))
    begun = {
        one.name
        for one in (step.instruction for step in steps)
        if isinstance(one, Fill) and one.value in starts
    }
    for name in sorted(begun):
        try:
            body = _with_factor(body, _members(steps, name, starts))
        except _CannotFoldError:
            continue
    return body


def _members(steps: Iterable[Step], name: str, starts: frozenset[float]) -> frozenset[str]:
    """Return the names that get the factor if one does.

    They are those that are computed from it, and those that it is computed from, up to scales.
    """
    instructions = [step.instruction for step in steps]
    members, before = {name}, set[str]()
    while members != before:
        before = set(members)
        for one in instructions:
            mine = set(assigned_by(one)) & members
            depends = any(_is_outside(value, members) for value in _read(one))
            if mine or depends:
                members |= _needs(one, members, starts)
    return frozenset(members)


def _read(one: Instruction) -> Iterator[Value]:
    """Yield the values of an instruction; a collapse reads the tile that it reduces."""
    yield from values(one)
    if isinstance(one, Collapse):
        yield Variable(one.source, (), REAL)


def _is_outside(value: Value, members: Set[str]) -> bool:
    """Return whether a member is in a value, but not in an exponential."""
    if isinstance(value, Call) and value.operation == "exp":
        return False
    if isinstance(value, Variable):
        return value.name in members
    return any(_is_outside(one, members) for one in operands_of(value))


def _needs(one: Instruction, members: set[str], starts: frozenset[float]) -> set[str]:
    """Return the names that must have the factor if one that this sets, or reads, has it.

    Raises _CannotFoldError where that cannot be.
    """
    match one:
        case Fill(name=name, value=value) if math.isinf(value) or value in starts:
            # It is beyond all that matters, with the factor and without it.
            return {name}
        case Let(name=name, value=value) | Reshaped(name=name, value=value):
            return {name, *_missing(value, members)}
        case Accumulate(name=name, reduction=reduction, value=value) if reduction in EXTREMES:
            return {name, *_missing(value, members)}
        case Collapse(name=name, source=source, reduction=reduction, index=None) if (
            reduction in EXTREMES
        ):
            return {name, source}
        case _:
            raise _CannotFoldError


def _missing(value: Value, members: Set[str]) -> set[str]:
    missing: set[str] = set()
    _scaled(value, members, missing)
    return missing


def _scaled(value: Value, members: Set[str], missing: set[str]) -> Value:
    """Return a value times log2(e), and note the variables that must have the factor for that.

    Raises _CannotFoldError where it cannot have it without another multiplication of each lane.
    """
    match value:
        case Variable(name=name):
            if name not in members:
                missing.add(name)
            return value
        case LiteralNumber(value=number) if number == 0 or math.isinf(number):
            return value
        case Call(operation=operation) if operation in KEEPING:
            return mapped(value, lambda one: _scaled(one, members, missing))
        case Call(operation="where", operands=(test, *sides)):
            if not members.isdisjoint(needed(test)):
                # A condition asks for the value without the factor.
                raise _CannotFoldError
            changed = (_scaled(one, members, missing) for one in sides)
            return replace(value, operands=(test, *changed))
        case Call(operation="mul", operands=(left, right), dtype=dtype) if dtype in WIDE:
            return _scaled_product(value, left, right, members, missing)
        case Masked(other=other) if other == 0 or math.isinf(other):
            return mapped(value, lambda one: _scaled(one, members, missing))
        case Converted(value=inner, dtype=dtype) if dtype in WIDE:
            if dtype is not DType.F32 and type_of(inner) is DType.F32:
                # A number of 32 bits would lose digits that are there where the caller has 64.
                raise _CannotFoldError
            return mapped(value, lambda one: _scaled(one, members, missing))
        case Merged(reduction=reduction) if reduction in EXTREMES:
            return mapped(value, lambda one: _scaled(one, members, missing))
        case _:
            raise _CannotFoldError


def _scaled_product(
    value: Call, left: Value, right: Value, members: Set[str], missing: set[str]
) -> Value:
    """Return a product with the factor: in the operand that has it already, or in a number."""
    has_left, has_right = (not members.isdisjoint(needed(one)) for one in (left, right))
    if has_left and has_right:
        raise _CannotFoldError
    if has_left or has_right:
        # What is multiplied by the other operand has the factor already, so the product has it.
        inner, other = (left, right) if has_left else (right, left)
        changed = _scaled(inner, members, missing)
        pair = (changed, other) if has_left else (other, changed)
        return replace(value, operands=pair)
    for one, other in ((right, left), (left, right)):
        if not axes_of(one) and axes_of(other):
            by = Call("mul", (one, LiteralNumber(LOG2_E)), (), value.dtype)
            return replace(value, operands=(left, by) if one is right else (by, right))
    raise _CannotFoldError


def _with_factor(body: tuple[Step, ...], members: frozenset[str]) -> tuple[Step, ...]:
    return tuple(replace(o, instruction=_changed(o.instruction, members)) for o in body)


def _changed(one: Instruction, members: frozenset[str]) -> Instruction:
    """Return an instruction, with the blocks inside of it, that knows of the factor."""
    match one:
        case ForLoop(body=inner) | If(body=inner):
            return replace(one, body=_with_factor(inner, members))
        case TiledLoop(main=main, tail=tail):
            main, tail = _with_factor(main, members), _with_factor(tail, members)
            return replace(one, main=main, tail=tail)
        case _:
            pass
    if members.isdisjoint(assigned_by(one)):
        return with_values(one, lambda value, _: _in_twos(value, members))

    def scaled(value: Value, _: Axes) -> Value:
        return _complete(value, members)

    return with_values(one, scaled)


def _in_twos(value: Value, members: frozenset[str]) -> Value:
    """Return a value whose exponentials of members are powers of two."""
    if isinstance(value, Call) and value.operation == "exp":
        if members.isdisjoint(needed(value)):
            return value
        operands = tuple(_complete(one, members) for one in value.operands)
        return replace(value, operation="exp2", operands=operands)
    if isinstance(value, Variable) and value.name in members:
        raise _CannotFoldError
    return mapped(value, lambda one: _in_twos(one, members))


def _complete(value: Value, members: frozenset[str]) -> Value:
    """Return a value times log2(e), if all of its variables have the factor."""
    missing: set[str] = set()
    found = _scaled(value, members, missing)
    if missing:
        raise _CannotFoldError
    return found
