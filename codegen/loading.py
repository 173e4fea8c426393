"""Converts a tile where it is loaded instead of wherever it is used.

`A_tile = tl.load(...).to(real)` then stands once, in place of `A_tile.to(real)` at every use. This
is done where every use wants the same type.
"""

from collections.abc import Callable
from dataclasses import replace

from dtpoly.ir.kernel import ForLoop, If, Instruction, Let, Load, Step, TiledLoop
from dtpoly.ir.kinds import Element
from dtpoly.ir.parts import assigned_by, inside, mapped, values, walk, with_values
from dtpoly.ir.tile_values import Axes, Converted, Value, Variable
from dtpoly.ir.tiled import parts_of, with_parts

Change = Callable[[Value], Value]


def converted_at_loads(body: tuple[Step, ...]) -> tuple[Step, ...]:
    """Convert tiles at their loads, and remove what then is only another name for a loaded tile."""
    done: list[Step] = []
    rest = body
    while rest:
        step, rest = rest[0], rest[1:]
        match step.instruction:
            case ForLoop(body=inner) | If(body=inner) as block:
                step = replace(step, instruction=replace(block, body=converted_at_loads(inner)))
            case TiledLoop():
                step = with_parts(step, *converted_at_loads(parts_of(step)))
            case Load(name=name, converted=None) as load:
                end = _end(rest, name)
                element = _wanted(rest[:end], name)
                if element is not None:
                    step = replace(step, instruction=replace(load, converted=element))
                    rest = _changed(rest[:end], _unconverted(name)) + rest[end:]
                rest = _without_aliases(rest, name)
            case _:
                pass
        done.append(step)
    return tuple(done)


def _end(rest: tuple[Step, ...], name: str) -> int:
    """Find the step up to which a name that was just set keeps its meaning."""
    at = (i for i, step in enumerate(rest) if name in assigned_by(step.instruction))
    return next(at, len(rest))


def _wanted(rest: tuple[Step, ...], name: str) -> Element | None:
    """Return the one type in which a tile is used, if there is one."""
    found: set[Element] = set()
    uses = 0
    for one in inside(rest):
        if name in assigned_by(one):
            return None  # it is accumulated into, or a block inside has another of that name
        for value in values(one):
            for part in walk(value):
                if isinstance(part, Variable) and part.name == name:
                    uses += 1
                if isinstance(part, Converted) and _is(part.value, name):
                    uses -= 1
                    found.add(part.dtype)
    return next(iter(found)) if len(found) == 1 and not uses else None


def _is(value: Value, name: str) -> bool:
    return isinstance(value, Variable) and value.name == name


def _unconverted(name: str) -> Change:
    def change(value: Value) -> Value:
        match value:
            case Converted(value=Variable(name=own, axes=axes), dtype=element) if own == name:
                return Variable(own, axes, element)
            case _:
                return mapped(value, change)

    return change


def _without_aliases(rest: tuple[Step, ...], name: str) -> tuple[Step, ...]:
    """Remove lines such as `base = A_tile`, which give a tile a second name."""
    for at, step in enumerate(rest[: _end(rest, name)]):
        match step.instruction:
            case Let(name=alias, value=Variable(name=own)) if own == name:
                after = rest[at + 1 :]
                if any(n in (alias, name) for one in inside(after) for n in assigned_by(one)):
                    continue
                return rest[:at] + _without_aliases(_changed(after, _renamed(alias, name)), name)
            case _:
                pass
    return rest


def _renamed(alias: str, name: str) -> Change:
    def change(value: Value) -> Value:
        if isinstance(value, Variable) and value.name == alias:
            return replace(value, name=name)
        return mapped(value, change)

    return change


def _changed(rest: tuple[Step, ...], change: Change) -> tuple[Step, ...]:
    return tuple(replace(step, instruction=_in(step.instruction, change)) for step in rest)


def _in(one: Instruction, change: Change) -> Instruction:
    def laid_out(value: Value, _: Axes) -> Value:
        return change(value)

    if isinstance(one, ForLoop | If):
        return replace(one, body=_changed(one.body, change))
    if isinstance(one, TiledLoop):
        return replace(one, main=_changed(one.main, change), tail=_changed(one.tail, change))
    return with_values(one, laid_out)
