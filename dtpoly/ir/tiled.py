"""Takes a tiled loop apart into a loop and a branch, and makes one of them.

    for k in whole tiles of the size: main     is     TiledLoop(k, size, step, main, tail)
    if something is left of it: tail

Lowering makes tiled loops of isl's loops. What looks at a kernel in the order in which it runs, as
printing does, takes them for the two steps that they stand for.
"""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.ir.kernel import ForLoop, If, Step, TiledLoop
from dtpoly.poly.loops import Combined, Compared, Condition


def parts_of(step: Step) -> tuple[Step, Step]:
    """The loop over whole tiles, and the branch for what is left, that a tiled loop stands for."""
    one = step.instruction
    assert isinstance(one, TiledLoop)
    stop = one.size + Affine((), 1 - one.step)
    loop = ForLoop(one.name, Affine(), stop, one.step, one.main, one.unroll, one.is_pipelined)
    rest = If((_is_left(one.size, one.step),), one.tail, one.unless)
    return replace(step, instruction=loop), Step(rest, one.tail_origin)


def with_parts(step: Step, loop: Step, rest: Step) -> Step:
    """The tiled loop whose parts have become these: their bodies are others, and no more."""
    one, main, tail = step.instruction, loop.instruction, rest.instruction
    assert isinstance(one, TiledLoop)
    assert isinstance(main, ForLoop)
    assert isinstance(tail, If)
    made = replace(one, main=main.body, tail=tail.body, is_pipelined=main.is_pipelined)
    return replace(step, instruction=made)


def tiled(loop: Step, rest: Step) -> Step | None:
    """The tiled loop that two steps are; None if the second is not what is left of the first."""
    match loop.instruction, rest.instruction:
        case (
            ForLoop(start=Affine(terms=(), constant=0), stop=Affine() as stop) as main,
            If(conditions=(condition,)) as tail,
        ) if stop.terms:
            size = stop + Affine((), main.step - 1)
        case _:
            return None
    made = TiledLoop(
        main.name,
        size,
        main.step,
        main.body,
        tail.body,
        rest.origin,
        tail.unless,
        main.unroll,
        main.is_pipelined,
    )
    step = replace(loop, instruction=made)
    is_whole = condition == _is_left(size, main.step) and parts_of(step) == (loop, rest)
    return step if is_whole else None


def flat(body: tuple[Step, ...]) -> Iterator[Step]:
    """The steps of a body as they run: tiled loops as a loop and a branch."""
    for step in body:
        if isinstance(step.instruction, TiledLoop):
            yield from parts_of(step)
        else:
            yield step


def _is_left(size: Affine, by: int) -> Condition:
    return Compared(Combined("%", (size, Affine((), by))), Affine((), 1))
