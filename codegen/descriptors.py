"""Lets loads and stores of a kernel's body go through tensor descriptors where that is right.

A descriptor knows the shape of its tensor, and loads 0 for elements outside of it. So a load may go
through a descriptor if its lanes form a box, and if the elements that it does not load count as 0
and are either outside of the tensor, or in a row or a column of a matrix product of which nothing
is kept. A descriptor stores nothing outside of its tensor. So a store may go through one if its
lanes form a box, and if nothing else keeps an element from being stored.
"""

from collections.abc import Mapping, Set
from dataclasses import field, replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import (
    Described,
    DescribedBlock,
    ForLoop,
    If,
    Lanes,
    Load,
    Step,
    Store,
    TiledLoop,
)
from dtpoly.ir.parts import assigned, assigned_by
from dtpoly.ir.tile_values import Test, axes_of
from dtpoly.ir.tiled import parts_of, with_parts

from .boxes import in_boxes
from .sides import sides_of_products

MOST_AXES = 5


@dataclass(frozen=True, slots=True)
class Wish:
    """A tensor to be described: its variable, the descriptor's, the extents that its axes have."""

    tensor: str
    variable: str
    name: str
    extents: tuple[frozenset[str], ...]
    boxes: Mapping[int, int] = field(default_factory=dict[int, int])  # axis -> most at once


@dataclass(slots=True)
class Describing:
    """The wishes by variable, the sides of products, names, and the blocks that were found."""

    wishes: Mapping[str, Wish]
    sides: Mapping[str, Set[str]]
    taken: set[str]
    blocks: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])


def described(
    body: tuple[Step, ...], wishes: Mapping[str, Wish], taken: set[str]
) -> tuple[tuple[Step, ...], tuple[Described, ...]]:
    """Return the body, and the descriptors that it uses, each with the first block that fits.

    Parts of tiles get names that are not taken, and are then.
    """
    describing = Describing(wishes, sides_of_products(body), taken)
    body = _block(describing, body, {})
    found = tuple(
        Described(wish.tensor, wish.name, block, _units_first(block))
        for variable, wish in wishes.items()
        if (block := describing.blocks.get(variable)) is not None
    )
    return body, found


def _units_first(block: tuple[int, ...]) -> tuple[int, ...]:
    """Order the axes so that those of one lane are in front.

    To leave them out then costs nothing.
    """
    return tuple(sorted(range(len(block)), key=lambda axis: block[axis] > 1))


def _block(
    describing: Describing, body: tuple[Step, ...], known: dict[str, Lanes]
) -> tuple[Step, ...]:
    """Rewrite the steps of a block. `known` has the lanes whose values have not changed since."""
    done: list[Step] = []
    for step in body:
        match step.instruction:
            case ForLoop(name=counter, body=inner) as loop:
                before = {*assigned(inner), counter}
                inside = {n: one for n, one in known.items() if not _depends(one, before)}
                body_of = _block(describing, inner, inside)
                step = replace(step, instruction=replace(loop, body=body_of))
                _forget(known, before)
            case TiledLoop():
                step = with_parts(step, *_block(describing, parts_of(step), known))
            case If(body=inner) as branch:
                body_of = _block(describing, inner, dict(known))
                step = replace(step, instruction=replace(branch, body=body_of))
                _forget(known, set(assigned(inner)))
            case Lanes(name=name) as lanes:
                _forget(known, {name})
                known[name] = lanes
            case Load(tensor=tensor) as load:
                wish = describing.wishes.get(tensor)
                block = _described(describing, wish, load, known) if wish is not None else None
                step = replace(step, instruction=replace(load, block=block))
                _forget(known, {load.name})
            case Store(tensor=tensor) as store:
                wish = describing.wishes.get(tensor)
                block = _stored(describing, wish, store, known) if wish is not None else None
                step = replace(step, instruction=replace(store, block=block))
            case other:
                _forget(known, set(assigned_by(other)))
        done.append(step)
    return tuple(done)


def _depends(lanes: Lanes, names: set[str]) -> bool:
    return lanes.name in names or not names.isdisjoint(lanes.start.labels)


def _forget(known: dict[str, Lanes], names: set[str]) -> None:
    for name in [name for name, lanes in known.items() if _depends(lanes, names)]:
        del known[name]


def _described(
    describing: Describing, wish: Wish, load: Load, known: Mapping[str, Lanes]
) -> DescribedBlock | None:
    """Give the block that a load can be loaded as, or None if it cannot go through a descriptor."""
    summed = describing.sides.get(load.name)
    if load.taken or (load.conditions and load.other not in (0, None)):
        return None
    if not all(
        _is_end(test, load.indices, wish) or _is_apart(test, summed) for test in load.conditions
    ):
        return None
    return _box(describing, wish, load, known)


def _stored(
    describing: Describing, wish: Wish, store: Store, known: Mapping[str, Lanes]
) -> DescribedBlock | None:
    """Give the block that a store can be stored as; its lanes must have the order of memory."""
    if store.taken or store.atomic or set(axes_of(store.value)) != set(store.axes):
        return None
    if not all(_is_end(test, store.indices, wish) for test in store.conditions):
        return None
    before = dict(describing.blocks)
    block = _box(describing, wish, store, known)
    if block is None or block.order != tuple(range(len(block.order))):
        describing.blocks = before
        return None
    tile = tuple(n for name in store.axes if isinstance(n := known[name].count, int))
    return in_boxes(block, tile, wish.variable, describing.taken)


def _box(
    describing: Describing, wish: Wish, one: Load | Store, known: Mapping[str, Lanes]
) -> DescribedBlock | None:
    """Give the box that the lanes of an access form, or None if they form none."""
    starts: list[Affine] = []
    counts: list[int] = []
    lanes_of: list[str | None] = []
    for index in one.indices:
        varied = [name for name in index.labels if name in one.axes]
        if not varied:
            starts.append(index)
            counts.append(1)
            lanes_of.append(None)
            continue
        (name, *more) = varied
        lanes = known.get(name)
        is_divided = any(name in one.inner.labels for one in index.divisions)
        is_plain = dict(index.terms).get(name) == 1 and not more and not is_divided
        if lanes is None or not is_plain or lanes.step != 1 or not isinstance(lanes.count, int):
            return None
        starts.append(lanes.start + index - Affine(((name, 1),)))
        counts.append(lanes.count)
        lanes_of.append(name)
    block = tuple(min(n, wish.boxes.get(at, n)) for at, n in enumerate(counts))
    axes = [name for name in lanes_of if name is not None]
    if len(set(axes)) < len(axes) or set(axes) != set(one.axes):
        return None
    if not lanes_of or lanes_of[-1] is None:
        return None
    if len(block) > MOST_AXES or describing.blocks.get(wish.variable, block) != block:
        return None
    describing.blocks[wish.variable] = block
    turned = _units_first(block)
    axes = [lane for at in turned if (lane := lanes_of[at]) is not None]
    order = tuple(axes.index(name) for name in one.axes)
    shape = tuple(block[at] for at in turned if lanes_of[at] is not None)
    return DescribedBlock(wish.name, tuple(starts[at] for at in turned), shape, order)


def _is_apart(test: Test, summed: Set[str] | None) -> bool:
    """Return whether a condition is about whole rows or columns of one side of products."""
    return summed is not None and bool(test.axes) and summed.isdisjoint(test.axes)


def _is_end(test: Test, indices: tuple[Affine, ...], wish: Wish) -> bool:
    """Return whether a condition says no more than that an index is inside of the tensor."""
    for index, extents in zip(indices, wish.extents, strict=True):
        bounds = (index, *(Affine(((extent, 1),), -1) - index for extent in extents))
        if any(
            not (test.value - bound).terms and test.value.constant >= bound.constant
            for bound in bounds
        ):
            return True
    return False
