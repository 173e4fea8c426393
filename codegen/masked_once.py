"""Masks the scores of a tile once, instead of all that is computed from them.

    top_tile = where(mask, acc, -inf)             seen = where(mask, acc, -inf)
    top = max(top, max(top_tile) * scale)   -->   top = max(top, max(seen) * scale)
    e = where(mask, exp(acc * scale - top), 0)    e = exp(seen * scale - top)

The maximum begins with a finite number, so it is finite, and exp(-inf - top) is 0. A tile on the
edge of a window, or on the diagonal, has three masks otherwise: one for the maximum, one for the
sum, and one for the product.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Collapse, Fill, ForLoop, If, Instruction, Let, Step, TiledLoop
from dtpoly.ir.parts import assigned, mapped, needed, steps_inside, with_values
from dtpoly.ir.tile_values import Axes, Call, Masked, Test, Value, Variable, axes_of

from .folded_scales import EXTREMES
from .late_scales import ScaledTile, reads_of, scaled_tile
from .python_names import fresh

EXPONENTIALS = ("exp", "exp2")


@dataclass(frozen=True, slots=True)
class MaskedScores:
    """Scores of a block that are -inf where one of the tests does not hold."""

    value: Value
    tests: tuple[Test, ...]


def with_masks_once(
    body: tuple[Step, ...],
    starts: Collection[float],
    sizes: Collection[str],
    names: Collection[str],
) -> tuple[Step, ...]:
    """Return the body in which exponents are masked where the maximum's elements are.

    A running maximum begins at one of the `starts`, all of which are finite. `sizes` are the
    variables that hold the size of a label.
    """
    fills = (one.instruction for one in steps_inside(body) if isinstance(one.instruction, Fill))
    begun = frozenset(one.name for one in fills if one.value in starts)
    return _block(body, _MaskedTiles(begun, sizes, {*names, *assigned(body)}))


@dataclass(frozen=True, slots=True)
class _MaskedTiles:
    """Holds facts about a kernel: which running maxima begin with a finite number, and its sizes.

    `names` are all names so far; more are added to it.
    """

    begun: frozenset[str]
    sizes: Collection[str]
    names: set[str]


def _block(body: tuple[Step, ...], room: _MaskedTiles) -> tuple[Step, ...]:
    scaled: dict[str, ScaledTile] = {}  # by the name that the product has
    seen: dict[str, MaskedScores] = {}
    done: list[Step] = []
    for at, step in enumerate(body):
        made: tuple[Step, ...]
        match step.instruction:
            case ForLoop(body=inner) | If(body=inner) as one:
                made = (replace(step, instruction=replace(one, body=_block(inner, room))),)
            case TiledLoop(main=main, tail=tail) as one:
                parts = replace(one, main=_block(main, room), tail=_block(tail, room))
                made = (replace(step, instruction=parts),)
            case Let(name=name, value=Masked(value=Variable() as tile)) as one if _is_reduced(
                one, body[at + 1 :]
            ):
                masked = Variable(fresh(f"{tile.name}_seen", room.names), one.axes, tile.dtype)
                room.names.add(masked.name)
                made = (
                    replace(step, instruction=replace(one, name=masked.name)),
                    replace(step, instruction=Let(name, masked, one.axes)),
                )
                seen |= _in_place_of(tile, one, masked, scaled)
                done += made
                continue
            case one:
                made = (replace(step, instruction=_changed(one, seen, room.begun)),)
        _forget({*assigned(made)}, scaled, seen)
        if isinstance(one := step.instruction, Let):
            product = scaled_tile(one.value, room.sizes)
            if product is not None:
                scaled[one.name] = product
        done += made
    return _without_unread(tuple(done), {*scaled} & {*seen})


def _is_reduced(one: Let, rest: tuple[Step, ...]) -> bool:
    """Return whether a tile with -inf in the place of masked lanes is reduced next."""
    following = rest[0].instruction if rest else None
    return (
        isinstance(one.value, Masked)
        and one.value.other == -math.inf
        and axes_of(one.value.value) == one.axes
        and isinstance(following, Collapse)
        and following.source == one.name
        and following.reduction in EXTREMES
        and following.index is None
    )


def _in_place_of(
    tile: Variable, one: Let, masked: Variable, scaled: Mapping[str, ScaledTile]
) -> dict[str, MaskedScores]:
    """Return the masked values of a tile, and of products of it with a number above 0."""
    assert isinstance(one.value, Masked)
    tests = one.value.conditions
    found = {tile.name: MaskedScores(masked, tests)}
    for name, product in scaled.items():
        if product.value == tile:
            found[name] = MaskedScores(replace(product, value=masked).product, tests)
    return found


def _forget(
    changed: Collection[str], scaled: dict[str, ScaledTile], seen: dict[str, MaskedScores]
) -> None:
    """Leave out what is made of names that were set anew."""
    names = {*changed}
    for name in [n for n, one in scaled.items() if not names.isdisjoint((n, *needed(one.product)))]:
        del scaled[name]
    for name in [n for n, one in seen.items() if not names.isdisjoint(_names(n, one))]:
        del seen[name]


def _names(name: str, one: MaskedScores) -> tuple[str, ...]:
    own = (part for test in one.tests for part in (*test.value.labels, test.name or ""))
    return (name, *needed(one.value), *own)


def _changed(
    one: Instruction, seen: Mapping[str, MaskedScores], begun: frozenset[str]
) -> Instruction:
    if not seen:
        return one

    def changed(value: Value, _: Axes) -> Value:
        return _bare(value, seen, begun)

    return with_values(one, changed)


def _bare(value: Value, seen: Mapping[str, MaskedScores], begun: frozenset[str]) -> Value:
    """Return a value in which exponentials of masked scores have no mask of their own."""
    if isinstance(value, Masked) and value.other == 0 and isinstance(value.value, Call):
        found = _exponential(value.value, seen, begun)
        if found is not None:
            exponential, tests = found
            left = tuple(test for test in value.conditions if test not in tests)
            is_masked = all(test in value.conditions for test in tests)
            if is_masked:
                return replace(value, value=exponential, conditions=left) if left else exponential
    return mapped(value, lambda inner: _bare(inner, seen, begun))


def _exponential(
    value: Call, seen: Mapping[str, MaskedScores], begun: frozenset[str]
) -> tuple[Call, tuple[Test, ...]] | None:
    """Return exp(x - m) with masked scores for x, and their tests; None for other values."""
    match value:
        case Call(
            operation=operation,
            operands=(
                Call(operation="sub", operands=(Variable(name=scores), Variable(name=top))) as of,
            ),
        ) if operation in EXPONENTIALS and scores in seen and top in begun:
            known = seen[scores]
            inner = replace(of, operands=(known.value, of.operands[1]))
            return replace(value, operands=(inner,)), known.tests
        case _:
            return None


def _without_unread(body: tuple[Step, ...], names: set[str]) -> tuple[Step, ...]:
    """Return a block without products that nothing reads any more."""
    gone = names.difference(reads_of(steps_inside(body)))
    return tuple(
        step
        for step in body
        if not isinstance(step.instruction, Let) or step.instruction.name not in gone
    )
