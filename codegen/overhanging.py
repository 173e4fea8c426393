"""Lets loops over matrix products run to the end of a size, where descriptors load the tiles.

    for k in whole tiles: ...        -->  if all are described: for k in tiles: ...
    what is left of k, masked             else: both as they were

A descriptor loads 0 where a tile overhangs, which is what a mask would put there. So a round of the
loop also does what is done for the rest, and no step is left outside of the pipelined loop.
"""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.ir.covered import covered_loops
from dtpoly.ir.kernel import (
    DescribedBlock,
    ForLoop,
    If,
    Instruction,
    Lanes,
    Load,
    LoopScalar,
    Mask,
    Product,
    Reshaped,
    Step,
    TiledLoop,
)
from dtpoly.ir.parts import assigned, inside


def overhanging(body: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the body of a kernel, or of one of its blocks."""
    done: list[Step] = []
    for step in body:
        match step.instruction:
            case TiledLoop(main=main, tail=tail) as one:
                if names := _covers(one):
                    one = replace(one, covered=names)
                else:
                    one = replace(one, main=overhanging(main), tail=overhanging(tail))
                done.append(replace(step, instruction=one))
            case ForLoop(body=inner) | If(body=inner) as one:
                done.append(replace(step, instruction=replace(one, body=overhanging(inner))))
            case _:
                done.append(step)
    return tuple(done)


def descriptors_needed(body: tuple[Step, ...]) -> tuple[str, ...]:
    """Return the descriptors with which no loop of a kernel has a rest, if there are any."""
    return tuple(dict.fromkeys(name for one in covered_loops(body) for name in one.covered))


def _covers(tiled: TiledLoop) -> tuple[str, ...]:
    """Return the descriptors that load all tiles of a loop; none if it needs a tail anyway."""
    loads = [one for one in inside(tiled.main) if isinstance(one, Load)]
    names = dict.fromkeys(
        one.block.descriptor for one in loads if isinstance(one.block, DescribedBlock)
    )
    is_whole = all(one.block for one in loads) and _is_same(tiled)
    return tuple(names) if is_whole else ()


def _is_same(tiled: TiledLoop) -> bool:
    """Return whether a round of the main part is what is done in the tail, but for masks."""
    match tiled.tail:
        case (Step(instruction=LoopScalar(name=counter)), *rest) if counter == tiled.name:
            pass
        case _:
            return False
    rounds = tuple(_unmasked(tiled.main))
    # Masks are no more than conditions of loads: nothing else may look at one.
    masks = {one.name for one in inside(tuple(rest)) if isinstance(one, Mask)}
    is_plain = all(isinstance(one, Lanes | Load | Product | Reshaped) for one in rounds)
    is_alike = rounds == tuple(_unmasked(tuple(rest)))
    return is_plain and is_alike and masks.isdisjoint(assigned(tiled.main))


def _unmasked(body: tuple[Step, ...]) -> Iterator[Instruction]:
    """Give the instructions as they are when descriptors load: without masks."""
    for step in body:
        match step.instruction:
            case Mask():
                pass
            case Load() as load:
                yield replace(load, conditions=(), other=None)
            case one:
                yield one
