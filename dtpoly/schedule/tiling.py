"""Cuts loops of a tree into tiles, whose lanes are computed together."""

from dataclasses import replace
from typing import assert_never

from dtpoly.algorithm.expressions import Affine
from dtpoly.poly.axes import Axis
from dtpoly.schedule.argument_values import Sized
from dtpoly.schedule.tree import Leaf, Loop, Node, Sequence, rewrite


def tile_sizes(tiles: tuple[Sized, ...], func: str) -> dict[str, int]:
    """Return the tile of each label for a Func's loops; what is said of it alone counts first."""
    general = {tile.label: tile.size for tile in tiles if tile.producer is None}
    return general | {tile.label: tile.size for tile in tiles if tile.producer == func}


def tile_loops(node: Node, sizes: dict[str, int]) -> Node:
    """Cut loops of the tree into tiles; axes that divided a tile now divide a lane of it.

    Such an axis may stand outside of the loop that it divides.
    """
    node, lanes = _tiled(node, sizes)

    def inside(axis: Axis) -> Axis:
        lane = lanes.get(axis.origin.plain or "")
        if lane is None or axis.name == lane.name or axis.index != lane.index:
            return axis
        return replace(axis, origin=Affine(((lane.name, 1),)))

    def divided(one: Node) -> Node:
        match one:
            case Loop(axis=axis):
                return replace(one, axis=inside(axis))
            case Leaf(lanes=own):
                return replace(one, lanes=tuple(map(inside, own)))
            case _:
                return one

    return rewrite(node, divided) if lanes else node


def _tiled(node: Node, sizes: dict[str, int]) -> tuple[Node, dict[str, Axis]]:
    """Return the tree with loops cut, and the lanes of each loop by its name."""
    match node:
        case Leaf():
            return node, {}
        case Sequence(children=children):
            done = [_tiled(child, sizes) for child in children]
            lanes = {name: lane for _, found in done for name, lane in found.items()}
            return Sequence(tuple(child for child, _ in done)), lanes
        case Loop(axis=axis, child=child):
            child, lanes = _tiled(child, sizes)
            if axis.label not in sizes or axis.step is None:
                return replace(node, child=child), lanes
            step = _width(sizes[axis.label], axis)
            name, origin = f"{axis.name}.lane", Affine(((axis.name, 1),))
            lane = replace(axis, name=name, origin=origin, extent=step)
            child = _with_lane(child, lane)
            return replace(node, axis=replace(axis, step=step), child=child), lanes | {
                axis.name: lane
            }
        case _:
            assert_never(node)


def _width(size: int, axis: Axis) -> int | None:
    """Return how many indices a tile spans: no more than the loop, its steps rounded up.

    A loop over all indices of a label whose size the file says has a tile as wide as is asked for:
    products want 16 lanes, however few of them compute.
    """
    unit, extent = axis.step or 1, axis.extent
    if extent is None:
        return size * unit or None
    rounded = 1 << (-(-extent // unit) - 1).bit_length()
    is_whole_label = not axis.origin.terms
    return (size if size and is_whole_label else min(size or rounded, rounded)) * unit


def _with_lane(node: Node, lane: Axis) -> Node:
    """Return the tree with lanes on every leaf."""

    def wider(one: Node) -> Node:
        return replace(one, lanes=(lane, *one.lanes)) if isinstance(one, Leaf) else one

    return rewrite(node, wider)
