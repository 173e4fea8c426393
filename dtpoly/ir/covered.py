"""Finds the loop that a covered tiled loop is where all of its descriptors are there.

    for k in whole tiles: main         where A_blocks and B_blocks are there:
    if something is left: tail    -->      for k in tiles, to the end of the size: main
                                       else: both as they are

A descriptor loads 0 where a tile overhangs, which is what a mask would put there.
"""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.ir.kernel import ForLoop, If, Lanes, Step, TiledLoop
from dtpoly.ir.parts import needed, values
from dtpoly.ir.tiled import parts_of


def covering(step: Step) -> Step:
    """Return the loop to the end of the size that a covered loop is with its descriptors."""
    one, main = step.instruction, parts_of(step)[0].instruction
    assert isinstance(one, TiledLoop)
    assert isinstance(main, ForLoop)
    loop = replace(
        main, stop=one.size, body=_without_lanes(one.main), is_specialized=one.is_specialized
    )
    return replace(step, instruction=loop)


def covered_loops(body: tuple[Step, ...]) -> Iterator[TiledLoop]:
    """Yield the loops of a body that need no tail where their descriptors are there."""
    for step in body:
        match step.instruction:
            case TiledLoop(main=main, tail=tail, covered=covered) as one:
                if covered:
                    yield one
                yield from covered_loops((*main, *tail))
            case ForLoop(body=inner) | If(body=inner):
                yield from covered_loops(inner)
            case _:
                pass


def _without_lanes(body: tuple[Step, ...]) -> tuple[Step, ...]:
    """The body without lanes at which only loads look: descriptors are told where they start."""
    used = {name for step in body for value in values(step.instruction) for name in needed(value)}
    return tuple(
        step for step in body if not isinstance(one := step.instruction, Lanes) or one.name in used
    )
