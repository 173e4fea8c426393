"""Takes a tiled loop apart into a loop and a branch, and makes one of them.

    for k in whole tiles of the size: main     is     TiledLoop(k, size, step, main, tail)
    if something is left of it: tail

Lowering makes tiled loops of isl's loops. What looks at a kernel in the order in which it runs, as
printing does, takes them for the two steps that they stand for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.ir.kernel import ForLoop, If, Instruction, Step, TiledLoop
from dtpoly.poly.loops import Combined, Compared, Condition


def parts_of(step: Step) -> tuple[Step, Step]:
    """Return the loop over whole tiles and the branch for what is left, of a tiled loop."""
    one = step.instruction
    assert isinstance(one, TiledLoop)
    stop = one.size + Affine((), 1 - one.step)
    loop = ForLoop(one.name, Affine(), stop, one.step, one.main, one.unroll, one.is_pipelined)
    rest = If((_is_left(one.size, one.step),), one.tail, one.unless)
    return replace(step, instruction=loop), Step(rest, one.tail_origin)


def with_parts(step: Step, loop: Step, rest: Step) -> Step:
    """Return the tiled loop whose parts have become these: their bodies are others, and no more."""
    one, main, tail = step.instruction, loop.instruction, rest.instruction
    assert isinstance(one, TiledLoop)
    assert isinstance(main, ForLoop)
    assert isinstance(tail, If)
    made = replace(one, main=main.body, tail=tail.body, is_pipelined=main.is_pipelined)
    return replace(step, instruction=made)


def tiled(loop: Step, rest: Step) -> Step | None:
    """Return the tiled loop that two steps make; None if the second is not the first's rest."""
    match loop.instruction, rest.instruction:
        case (
            ForLoop(start=Affine(terms=(), constant=0), stop=Affine() as stop) as main,
            If(conditions=(condition,)) as tail,
        ) if stop.terms:
            size = stop + Affine((), main.step - 1)
        case _:
            return None
    made = TiledLoop(
        name=main.name,
        size=size,
        step=main.step,
        main=main.body,
        tail=tail.body,
        tail_origin=rest.origin,
        unless=tail.unless,
        unroll=main.unroll,
        is_pipelined=main.is_pipelined,
    )
    step = replace(loop, instruction=made)
    is_whole = condition == _is_left(size, main.step) and parts_of(step) == (loop, rest)
    return step if is_whole else None


def blocks_of(step: Step) -> tuple[Step, ...]:
    """Return a block as loops and branches with one body each, in the order in which they run."""
    return parts_of(step) if isinstance(step.instruction, TiledLoop) else (step,)


def of_blocks(step: Step, blocks: Sequence[Step]) -> Step:
    """Return the block of which these are the loops and branches now."""
    if isinstance(step.instruction, TiledLoop):
        return with_parts(step, *blocks)
    return blocks[0]


def is_alike(first: Instruction, second: Instruction) -> bool:
    """Return whether two blocks are run through in the same way."""
    match first, second:
        case ForLoop(), ForLoop():
            return replace(second, name=first.name, body=first.body) == first
        case TiledLoop(main=main, tail=tail, tail_origin=origin), TiledLoop():
            own = replace(second, main=main, tail=tail, tail_origin=origin)
            return replace(own, name=first.name) == first
        case If(), If():
            return replace(second, body=first.body) == first
        case _:
            return False


def flat(body: tuple[Step, ...]) -> Iterator[Step]:
    """Yield the steps of a body as they run: tiled loops as a loop and a branch."""
    for step in body:
        if isinstance(step.instruction, TiledLoop):
            yield from parts_of(step)
        else:
            yield step


def _is_left(size: Affine, by: int) -> Condition:
    return Compared(Combined("%", (size, Affine((), by))), Affine((), 1))
