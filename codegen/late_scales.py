"""Multiplies the largest of some elements by their scale, instead of each element.

    scores = acc * scale                      scores = acc * scale
    top_part = max(scores)             -->    top_part = max(acc) * scale
    total += exp(scores - top)                total += exp(scores - top)

For a scale above 0 both are the same number: of two numbers the larger one has the larger product.
Then nothing but the exponent asks for the product of each element, and a GPU computes `acc * scale
- top` in one step. Of the few operations that each score of attention costs this saves one.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TypeGuard

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Collapse, ForLoop, If, Instruction, Let, Step, TiledLoop
from dtpoly.ir.kinds import Element
from dtpoly.ir.parts import assigned, needed, steps_inside, values, walk
from dtpoly.ir.tile_values import (
    Call,
    Converted,
    IndexValue,
    LiteralNumber,
    Masked,
    Value,
    Variable,
    axes_of,
)

from .folded_scales import EXTREMES, WIDE
from .python_names import fresh

# Written numbers between these are far from what 32 bits do not hold, also as products of a few.
LEAST, MOST = 2.0**-30, 2.0**30


@dataclass(frozen=True, slots=True)
class ScaledTile:
    """A tile `value * scale`, where the scale is one number above 0."""

    value: Value
    scale: Value
    dtype: Element

    @property
    def name(self) -> str:
        """Return the name of what is scaled."""
        return self.value.name if isinstance(self.value, Variable) else ""

    @property
    def product(self) -> Call:
        """Return the tile as a value."""
        return Call("mul", (self.value, self.scale), axes_of(self.value), self.dtype)


@dataclass(frozen=True, slots=True)
class _Room:
    """Holds facts about a kernel: how often names are read, and of which tiles it takes a maximum.

    `names` are all names so far; more are added to it.
    """

    reads: Mapping[str, int]
    reduced: Collection[str]
    sizes: Collection[str]
    names: set[str]

    def fresh(self, name: str) -> str:
        """Return a new name that is like another one."""
        found = fresh(f"{name}_unscaled", self.names)
        self.names.add(found)
        return found


def with_late_scales(
    body: tuple[Step, ...], sizes: Collection[str], names: Collection[str]
) -> tuple[Step, ...]:
    """Return the body in which maxima of scaled tiles are scaled themselves.

    `sizes` are the variables that hold the size of a label.
    """
    steps = tuple(steps_inside(body))
    if any(_has_logarithm(value) for step in steps for value in values(step.instruction)):
        return body
    room = _Room(reads_of(steps), _reduced(steps), sizes, {*names, *assigned(body)})
    return _block(body, room)


def _has_logarithm(value: Value) -> bool:
    """Return whether a logarithm is computed, as a log-sum-exp is.

    Such a result is the same in any frame for real numbers, but not for those of the ring in which
    kernels are run without rounding: there a product with a scale has another order.
    """
    return any(isinstance(one, Call) and one.operation in ("log", "log2") for one in walk(value))


def reads_of(steps: Iterable[Step]) -> Counter[str]:
    """Count how often each name is read, also by a reduction of its lanes."""
    found = Counter[str]()
    for step in steps:
        one = step.instruction
        for value in values(one):
            found.update(needed(value))
        if isinstance(one, Collapse):
            found[one.source] += 1
    return found


def _reduced(steps: Iterable[Step]) -> frozenset[str]:
    """Return the tiles that, maybe with a mask, a maximum is taken of."""
    instructions = [step.instruction for step in steps]
    sources = {one.source for one in instructions if _is_extreme(one)}
    tiles = (one.value for one in instructions if isinstance(one, Let) and one.name in sources)
    inner = (one.value if isinstance(one, Masked) else one for one in tiles)
    return frozenset(one.name for one in inner if isinstance(one, Variable))


def _is_extreme(one: Instruction) -> TypeGuard[Collapse]:
    return isinstance(one, Collapse) and one.reduction in EXTREMES and one.index is None


def _block(body: tuple[Step, ...], room: _Room) -> tuple[Step, ...]:
    """Return a block with late scales; a tile and its maximum stand in one block."""
    known: dict[str, ScaledTile] = {}
    done: list[Step] = []
    for step in body:
        made: tuple[Step, ...]
        match step.instruction:
            case ForLoop(body=inner) | If(body=inner) as one:
                made = (replace(step, instruction=replace(one, body=_block(inner, room))),)
            case TiledLoop(main=main, tail=tail) as one:
                parts = replace(one, main=_block(main, room), tail=_block(tail, room))
                made = (replace(step, instruction=parts),)
            case one if _is_extreme(one) and (tile := _tile_of(one, done, known, room)):
                done[-1] = replace(done[-1], instruction=_without_scale(done[-1], tile))
                made = _scaled_maximum(step, one, tile, room)
            case _:
                made = (step,)
        for new in made:
            for name in assigned((new,)):
                known = {own: of for own, of in known.items() if name not in (own, of.name)}
        if isinstance(one := step.instruction, Let) and one.name in room.reduced:
            tile = scaled_tile(one.value, room.sizes)
            if tile is not None and room.reads[one.name] > 1:
                made, known[one.name] = _named(step, one, tile, room)
        done += made
    return tuple(done)


def scaled_tile(value: Value, sizes: Collection[str]) -> ScaledTile | None:
    """Return a product of a tile and a number above 0 as such; None for other values."""
    match value:
        case Call(operation="mul", operands=(a, b), dtype=dtype) if dtype in WIDE:
            for one, other in ((a, b), (b, a)):
                if axes_of(one) and not axes_of(other) and _is_positive(other, sizes):
                    return ScaledTile(one, other, dtype)
        case _:
            pass
    return None


def _named(
    step: Step, one: Let, tile: ScaledTile, room: _Room
) -> tuple[tuple[Step, ...], ScaledTile]:
    """Return the steps that set a scaled tile such that what is scaled has a name."""
    if isinstance(tile.value, Variable):
        return (step,), tile
    bare = Variable(room.fresh(one.name), axes_of(tile.value), tile.dtype)
    named = replace(tile, value=bare)
    steps = (
        replace(step, instruction=Let(bare.name, tile.value, bare.axes)),
        replace(step, instruction=replace(one, value=named.product)),
    )
    return steps, named


def _is_positive(value: Value, sizes: Collection[str], *, is_divisor: bool = False) -> bool:
    """Return whether a number is above 0, and made of written numbers and of sizes alone.

    Sizes may only divide. Where one is 0 the scale is infinite, and the elements are 0, as sums of
    nothing are: so they are no numbers, with the scale or without it.
    """
    match value:
        case LiteralNumber(value=number):
            return LEAST <= number <= MOST
        case Converted(value=inner, dtype=dtype) if dtype in WIDE:
            return _is_positive(inner, sizes, is_divisor=is_divisor)
        case IndexValue(index=index):
            are_sizes = all(label in sizes and times > 0 for label, times in index.terms)
            return is_divisor and bool(index.terms) and index.constant >= 0 and are_sizes
        case Call(operation="sqrt", operands=(inner,)):
            return is_divisor and _is_positive(inner, sizes, is_divisor=True)
        case Call(operation="rsqrt", operands=(inner,)):
            return not is_divisor and _is_positive(inner, sizes, is_divisor=True)
        case Call(operation="mul", operands=operands):
            return all(_is_positive(one, sizes, is_divisor=is_divisor) for one in operands)
        case Call(operation="div", operands=(a, b)):
            below = _is_positive(b, sizes, is_divisor=not is_divisor)
            return below and _is_positive(a, sizes, is_divisor=is_divisor)
        case _:
            return False


def _tile_of(
    one: Collapse, done: list[Step], known: Mapping[str, ScaledTile], room: _Room
) -> ScaledTile | None:
    """Return the scaled tile that the last step has made, maybe with a mask, to be reduced."""
    made = done[-1].instruction if done else None
    if not isinstance(made, Let) or made.name != one.source or room.reads[one.source] > 1:
        return None
    inner = made.value.value if isinstance(made.value, Masked) else made.value
    if isinstance(made.value, Masked) and not math.isinf(made.value.other):
        return None
    if not isinstance(inner, Variable) or inner.name not in known:
        return None
    tile = known[inner.name]
    is_alike = axes_of(tile.value) == inner.axes and tile.dtype == inner.dtype
    return tile if is_alike else None


def _without_scale(step: Step, tile: ScaledTile) -> Let:
    """Return the tile that is reduced, with its mask and without its scale."""
    made = step.instruction
    assert isinstance(made, Let)
    if isinstance(made.value, Masked):
        return replace(made, value=replace(made.value, value=tile.value))
    return replace(made, value=tile.value)


def _scaled_maximum(step: Step, one: Collapse, tile: ScaledTile, room: _Room) -> tuple[Step, ...]:
    plain = Variable(room.fresh(one.name), one.kept, tile.dtype)
    product = Call("mul", (plain, tile.scale), one.kept, tile.dtype)
    return (
        replace(step, instruction=replace(one, name=plain.name)),
        replace(step, instruction=Let(one.name, product, one.kept)),
    )
