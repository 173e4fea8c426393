"""Leaves out masks that a load has already.

    X_tile = load(..., mask=x_mask & c_mask, other=0)      X_tile = load(...)
    acc += dot(W_tile, where(c_mask, X_tile, 0))      -->  acc += dot(W_tile, X_tile)

Where nothing is computed of a tile, Triton brings it to the matrix units without registers, and
loads it some rounds ahead.
"""

from collections.abc import Mapping
from dataclasses import replace

from dtpoly.ir.kernel import ForLoop, If, Instruction, Load, Step, TiledLoop
from dtpoly.ir.parts import assigned, mapped, with_values
from dtpoly.ir.tile_values import Axes, Converted, Masked, Value, Variable


def without_loaded_masks(body: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the body in which what a load leaves out is not left out once more."""
    return _block(body, {})


def _block(body: tuple[Step, ...], around: Mapping[str, Load]) -> tuple[Step, ...]:
    known = dict(around)
    done: list[Step] = []
    for step in body:
        match step.instruction:
            case ForLoop(body=inner) | If(body=inner) as one:
                inside = _still(known, inner)
                step = replace(step, instruction=replace(one, body=_block(inner, inside)))
            case TiledLoop(main=main, tail=tail) as one:
                inside = _still(known, (*main, *tail))
                parts = replace(one, main=_block(main, inside), tail=_block(tail, inside))
                step = replace(step, instruction=parts)
            case one:
                step = replace(step, instruction=_without_masks(one, known))
        known = _still(known, (step,))
        if isinstance(step.instruction, Load):
            known[step.instruction.name] = step.instruction
        done.append(step)
    return tuple(done)


def _still(known: Mapping[str, Load], body: tuple[Step, ...]) -> dict[str, Load]:
    """Return the loads whose tiles, and whose masks, some steps do not set anew."""
    changed = {*assigned(body)}
    return {name: load for name, load in known.items() if changed.isdisjoint(_names(load))}


def _names(load: Load) -> set[str]:
    tests = load.conditions
    named = (name for test in tests for name in (*test.value.labels, *test.axes, test.name or ""))
    return {load.name, *named}


def _without_masks(one: Instruction, known: Mapping[str, Load]) -> Instruction:
    def changed(value: Value, _: Axes) -> Value:
        return _bare(value, known)

    return with_values(one, changed)


def _bare(value: Value, known: Mapping[str, Load]) -> Value:
    """Return a value in which loaded tiles have no mask that their loads have."""
    if isinstance(value, Masked):
        inner = value.value
        while isinstance(inner, Converted):
            inner = inner.value
        load = known.get(inner.name) if isinstance(inner, Variable) else None
        if load is not None and load.other == value.other:
            left = tuple(test for test in value.conditions if test not in load.conditions)
            if not left:
                return value.value
            if len(left) < len(value.conditions):
                return replace(value, conditions=left)
    return mapped(value, lambda inner: _bare(inner, known))
