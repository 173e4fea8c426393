"""Simplifies a kernel's body, so that it reads as if a person had written it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.ir.kernel import (
    Accumulate,
    Fill,
    ForLoop,
    If,
    Let,
    Load,
    LoopScalar,
    Step,
    Store,
    TiledLoop,
)
from dtpoly.ir.parts import inside
from dtpoly.ir.tile_values import Converted, IndexValue, LiteralNumber, Value
from dtpoly.ir.tiled import parts_of, with_parts

from .scopes import OFFSET
from .widths import is_wide

# Reductions for which `start (+) value` is the value itself if the start is the identity.
PLAIN_SUMS = ("rsum", "rprod")


def without_empty_starts(body: tuple[Step, ...]) -> tuple[Step, ...]:
    """`acc = 0; acc += value` as `acc = value`, where the value is a whole tile of its own."""
    done: list[Step] = []
    for step in body:
        match step.instruction:
            case ForLoop(body=inner) | If(body=inner):
                inner = without_empty_starts(inner)
                # A block that only gave other names to tiles is empty now, and is left out.
                if inner:
                    done.append(replace(step, instruction=replace(step.instruction, body=inner)))
            case TiledLoop():
                parts = without_empty_starts(parts_of(step))
                done.extend((with_parts(step, *parts),) if len(parts) == 2 else parts)
            case Accumulate(name=name, value=value) as one if (
                one.reduction in PLAIN_SUMS
                and not isinstance(value, LiteralNumber)
                and _axes(value) == one.axes
                and (at := _start(done, name)) is not None
            ):
                del done[at]
                done.append(replace(step, instruction=Let(name, value, one.axes)))
            case _:
                done.append(step)
    return tuple(done)


def _axes(value: Value) -> tuple[str, ...]:
    return () if isinstance(value, LiteralNumber) else value.axes


def _start(done: list[Step], name: str) -> int | None:
    """Find where an accumulator starts; None if something may have touched it since."""
    for at in reversed(range(len(done))):
        match done[at].instruction:
            case Fill(name=started) if started == name:
                return at
            case ForLoop() | If() | TiledLoop():
                return None
            case Accumulate(name=other) if other == name:
                return None
            case _:
                pass
    return None


def without_detours(body: tuple[Step, ...], sizes: Iterable[str] = ()) -> tuple[Step, ...]:
    """`x = x_start; S[x - x_start]` as `S[0]`: indices that count from where they stand."""
    numbers = (one.name for one in inside(body) if isinstance(one, ForLoop | LoopScalar))
    return _without_detours(body, {}, frozenset((*numbers, *sizes)))


def _without_detours(
    body: tuple[Step, ...], known: Mapping[str, Affine], narrow: frozenset[str]
) -> tuple[Step, ...]:
    places = dict(known)
    done: list[Step] = []
    for step in body:
        one = step.instruction
        match one:
            case ForLoop(body=inner) | If(body=inner):
                one = replace(one, body=_without_detours(inner, places, narrow))
            case TiledLoop(main=main, tail=tail):
                main = _without_detours(main, places, narrow)
                one = replace(one, main=main, tail=_without_detours(tail, places, narrow))
            case Let(name=name, value=Converted(IndexValue(index, ()), dtype=dtype)) if (
                dtype == OFFSET
            ):
                places[name] = index
            case Load(indices=indices) | Store(indices=indices):
                shorter = tuple(_shorter(index, places, narrow) for index in indices)
                one = replace(one, indices=shorter)
            case _:
                pass
        done.append(replace(step, instruction=one))
    return tuple(done)


def _shorter(index: Affine, places: Mapping[str, Affine], narrow: frozenset[str]) -> Affine:
    """Return the index without what cancels, over names as wide as offsets if need be."""
    wide = {at.plain: Affine(((name, 1),)) for name, at in places.items() if at.plain is not None}
    short = index.substitute(places).substitute(wide)
    return short if len(short.labels) < len(index.labels) and is_wide(short, narrow) else index
