"""Computes tiles with their axes in the order in which products need them.

    s[m, l] = Q[m, k] @ K[k, l]                   s[l, m] = K[l, k] @ Q[k, m]
    w[m, l] = exp(s[m, l])                  -->   w[l, m] = exp(s[l, m])
    acc[l, n] += permute(w)[l, m] @ G[m, n]       acc[l, n] += w[l, m] @ G[m, n]

A tile in registers is turned through shared memory, in each round of the loop. A tile that was
loaded is read by a product from shared memory anyway, in either order. So tiles that products need
turned, and nothing needs as they are, are computed the other way round, with all that they are
computed from lane by lane. The same numbers are multiplied and added.
"""

from collections.abc import Iterator
from dataclasses import field, replace

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import (
    Fill,
    ForLoop,
    If,
    Instruction,
    Let,
    Load,
    Product,
    Step,
    TiledLoop,
)
from dtpoly.ir.parts import assigned_by, inside, mapped, values, walk, with_values
from dtpoly.ir.tile_values import Axes, Value, Variable

MATRIX = 2  # axes


@dataclass
class _Tiles:
    """Facts about the tiles of a kernel, by the names of the tiles."""

    axes: dict[str, set[Axes]] = field(default_factory=dict[str, set[Axes]])
    # Computed from each other, lane by lane.
    links: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    fixed: set[str] = field(default_factory=set[str])  # something needs them as they are
    wanted: set[str] = field(default_factory=set[str])  # a product needs them turned


def turned_tiles(body: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the body in which no product turns a tile that could be computed as it is needed."""
    done: set[str] = set()
    while names := _worth_turning(body) - done:
        done |= names
        body = _turned(body, names)
    return body


def _worth_turning(body: tuple[Step, ...]) -> set[str]:
    """Return the tiles that are to be turned."""
    known = _Tiles()
    for one in inside(body):
        _look_at(one, known)
    known.fixed |= {name for name, found in known.axes.items() if len(found) > 1}
    group = {name: name for name in known.axes}

    def first(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    for left, right in known.links:
        if left in group and right in group:
            group[first(left)] = first(right)
        else:
            known.fixed |= {left, right}
    fixed = {first(name) for name in known.fixed if name in group}
    wanted = {first(name) for name in known.wanted if name in group} - fixed
    return {name for name in group if first(name) in wanted}


def _look_at(one: Instruction, known: _Tiles) -> None:
    """Note what an instruction sets, and how it needs what it reads."""
    match one:
        case Fill(shape=(_, _)):
            return  # a product says its axes
        case Let(name=name, value=value, axes=axes) if len(axes) == MATRIX:
            known.axes.setdefault(name, set()).add(axes)
            for tile in _matrices(value):
                # What lacks an axis is laid out as it is needed.
                known.links.append((name, tile.name))
                if tile.axes != axes:
                    known.fixed |= {name, tile.name}
        case Load(name=name, axes=axes, block=None, taken=()) if len(axes) == MATRIX:
            known.axes.setdefault(name, set()).add(axes)
        case Product(name=name, left_axes=(row, _) as rows, right_axes=(_, column) as columns):
            known.axes.setdefault(name, set()).add((row, column))
            for value, axes in ((one.left, rows), (one.right, columns)):
                for tile in _matrices(value):
                    (known.fixed if tile.axes == axes else known.wanted).add(tile.name)
        case _:
            known.fixed |= {*assigned_by(one)}
            known.fixed |= {tile.name for value in values(one) for tile in _matrices(value)}


def _matrices(value: Value) -> Iterator[Variable]:
    return (part for part in walk(value) if isinstance(part, Variable) and len(part.axes) == MATRIX)


def _turned(body: tuple[Step, ...], names: set[str]) -> tuple[Step, ...]:
    return tuple(replace(one, instruction=_changed(one.instruction, names)) for one in body)


def _changed(one: Instruction, names: set[str]) -> Instruction:
    """Return an instruction that sets and reads some tiles the other way round."""
    match one:
        case ForLoop(body=inner) | If(body=inner):
            return replace(one, body=_turned(inner, names))
        case TiledLoop(main=main, tail=tail):
            return replace(one, main=_turned(main, names), tail=_turned(tail, names))
        case _:
            pass
    made = with_values(one, lambda value, _: _in_order(value, names))
    match made:
        case Fill(name=name, shape=shape) if name in names:
            return replace(made, shape=shape[::-1])
        case Let(name=name, axes=axes) | Load(name=name, axes=axes) if name in names:
            return replace(made, axes=axes[::-1])
        case Product(name=name) if name in names:
            return replace(
                made,
                left=made.right,
                left_axes=made.right_axes[::-1],
                right=made.left,
                right_axes=made.left_axes[::-1],
            )
        case _:
            return made


def _in_order(value: Value, names: set[str]) -> Value:
    if isinstance(value, Variable) and value.name in names and len(value.axes) == MATRIX:
        return replace(value, axes=value.axes[::-1])
    return mapped(value, lambda one: _in_order(one, names))
