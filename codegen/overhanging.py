"""Lets loops over matrix products run to the end of a size, where descriptors load the tiles.

    for k in whole tiles: ...        -->  if all are described: for k in tiles: ...
    what is left of k, masked             else: both as they were

A descriptor loads 0 where a tile overhangs, which is what a mask would put there. So a round of the
loop also does what is done for the rest, and no step is left outside of the pipelined loop.
"""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.ir.kernel import (
    Block,
    ForLoop,
    If,
    Instruction,
    Lanes,
    Load,
    Mask,
    Product,
    Reshaped,
    Scalar,
    Step,
    WhereDescribed,
)
from dtpoly.ir.parts import assigned, inside, needed, values
from dtpoly.poly.loops import Combined, Compared


def overhanging(body: tuple[Step, ...]) -> tuple[Step, ...]:
    """The body of a kernel, or of one of its blocks."""
    done: list[Step] = []
    at = 0
    while at < len(body):
        step = body[at]
        both = _with_rest(step, body[at + 1]) if at + 1 < len(body) else None
        if both is not None:
            done.append(both)
            at += 2
            continue
        one = step.instruction
        if isinstance(one, ForLoop | If):
            step = replace(step, instruction=replace(one, body=overhanging(one.body)))
        done.append(step)
        at += 1
    return tuple(done)


def descriptors_needed(body: tuple[Step, ...]) -> tuple[str, ...]:
    """The descriptors with which no loop of a kernel has a rest, if there are any."""
    found = (one.descriptors for one in inside(body) if isinstance(one, WhereDescribed))
    return tuple(dict.fromkeys(name for names in found for name in names))


def _with_rest(step: Step, after: Step) -> Step | None:
    """A loop over whole tiles and the branch for the rest, if descriptors make them one loop."""
    match step.instruction, after.instruction:
        case (
            ForLoop(start=Affine(terms=(), constant=0), stop=Affine() as stop) as loop,
            If(conditions=(Compared(left=left),)) as end,
        ):
            size = stop + Affine((), loop.step - 1)
        case _:
            return None
    if left != Combined("%", (size, Affine((), loop.step))) or not size.terms:
        return None
    loads = [one for one in inside(loop.body) if isinstance(one, Load)]
    names = dict.fromkeys(one.block.descriptor for one in loads if isinstance(one.block, Block))
    if not names or not all(one.block for one in loads):
        return None
    if not _is_same(loop, end):
        return None
    whole = replace(loop, stop=size, body=_without_lanes(loop.body))
    both = WhereDescribed(tuple(names), (replace(step, instruction=whole),), (step, after))
    return Step(both, step.origin)


def _is_same(loop: ForLoop, end: If) -> bool:
    """Whether a round of the loop is what is done for the rest, but for masks."""
    match end.body:
        case (Step(instruction=Scalar(name=counter)), *rest) if counter == loop.name:
            pass
        case _:
            return False
    rounds = tuple(_unmasked(loop.body))
    # Masks are no more than conditions of loads: nothing else may look at one.
    masks = {one.name for one in inside(tuple(rest)) if isinstance(one, Mask)}
    is_plain = all(isinstance(one, Lanes | Load | Product | Reshaped) for one in rounds)
    is_alike = rounds == tuple(_unmasked(tuple(rest)))
    return is_plain and is_alike and masks.isdisjoint(assigned(loop.body))


def _without_lanes(body: tuple[Step, ...]) -> tuple[Step, ...]:
    """The body without lanes at which only loads look: descriptors are told where they start."""
    used = {name for step in body for value in values(step.instruction) for name in needed(value)}
    return tuple(
        step for step in body if not isinstance(one := step.instruction, Lanes) or one.name in used
    )


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
