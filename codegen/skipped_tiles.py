"""Lets a kernel leave out the merge of a list with a tile of which nothing enters the list.

    for k: v, p = dt_list(v, p, tile, k)   -->   for k: if some element is not below the least of v:
                                                            v, p = dt_list(v, p, tile, k)

A list of a long row seldom changes: of n elements in random order, about count * ln(n / count) ever
enter a list of count places. To compare a tile with the last element of the list costs one
reduction; to take it in costs several for each element that enters. The first tile that a list
takes in is not compared, if there is no loop: it always enters.
"""

from dataclasses import replace

from dtpoly.ir.kernel import Fill, ForLoop, If, Let, Select, Step, TiledLoop
from dtpoly.ir.parts import assigned
from dtpoly.ir.tile_types import type_of
from dtpoly.ir.tile_values import Variable, axes_of

from .python_names import fresh

CANDIDATE = "candidate"


def with_skipped_tiles(body: tuple[Step, ...], names: frozenset[str]) -> tuple[Step, ...]:
    """Return a kernel's body, whose lists skip tiles. `names` are those of its parameters."""
    return _block(body, {*names, *assigned(body)}, set())


def _block(body: tuple[Step, ...], taken: set[str], begun: set[str]) -> tuple[Step, ...]:
    """Return a block. `begun` are the lists that have taken in nothing where it begins."""
    done: list[Step] = []
    for step in body:
        one = step.instruction
        match one:
            case Fill(name=name):
                begun.add(name)
            case ForLoop(body=inner) | If(body=inner):
                one = replace(one, body=_block(inner, taken, set()))
            case TiledLoop(main=main, tail=tail):
                parts = (_block(part, taken, set()) for part in (main, tail))
                one = replace(one, main=next(parts), tail=next(parts))
            case Select(count=count, name=name) if count and name not in begun:
                done.extend(_skipping(step, one, taken))
                continue
            case _:
                begun.difference_update(assigned((step,)))
        begun.difference_update(() if isinstance(one, Fill) else assigned((step,)))
        done.append(replace(step, instruction=one))
    return tuple(done)


def _skipping(step: Step, one: Select, taken: set[str]) -> tuple[Step, ...]:
    """Return a step of a list that skips its tile. What it compares has a name."""
    if isinstance(one.value, Variable):
        return (replace(step, instruction=replace(one, skips=True)),)
    element, axes = type_of(one.value), axes_of(one.value)
    if element is None:
        return (step,)
    name = fresh(CANDIDATE, taken)
    taken.add(name)
    whole = replace(one, value=Variable(name, axes, element), skips=True)
    named = replace(step, instruction=Let(name, one.value, axes))
    return (named, replace(step, instruction=whole))
