"""Decides whether the loops of a kernel do nothing where a size is 0.

isl is told that sizes are at least 1, and writes neither a bound nor a mask for a condition that
follows from that. Most loops are right for a size of 0 all the same: `range(0, size)` has no
iterations then. Where they are not, `generation` makes the loops again without that assumption.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from dtpoly.algorithm.expressions import Affine, Dot, free_labels
from dtpoly.poly import executed_tiles as executed
from dtpoly.poly.axes import several
from dtpoly.poly.launched import where_launched
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.loops import For, Guard, LoopNode, Once, Tile
from dtpoly.poly.masks import (
    Condition,
    active_lanes,
    addressed_lanes_of,
    label_indices,
    lane_dims,
    mask,
    named_affs,
)
from dtpoly.poly.model import Model
from dtpoly.poly.numbered_names import numbered, remembered_apart_from_names
from dtpoly.poly.spaces import Affs, affs, dim_names, set_space, to_aff
from dtpoly.poly.tiles import StatementTiles


def any_sizes(
    model: Model, tiles: Sequence[StatementTiles], params: isl.Set, programs: isl.Set
) -> isl.Set:
    """Return the facts about sizes and programs if only the labels of the grid surely have indices.

    `params` holds the facts where a program has something to do, and `programs` those where a
    program runs.
    """
    named = {axis.label for one in tiles for axis in several(one.path.grid)}
    # A label that numbers parts has an index if the divided label has one.
    grid = {model.parts[one].of if one in model.parts else one for one in named}
    present = {model.size_of[label] for label in grid if label in model.size_of}
    for name in model.params:
        if name not in present:
            at = params.find_dim_by_name(isl.dim_type.param, name)
            params = params.drop_constraints_involving_dims(isl.dim_type.param, at, 1)
    known = params.intersect_params(model.context).coalesce()
    return where_launched(known, programs.intersect_params(model.context))


def is_idle(
    model: Model, tiles: Sequence[StatementTiles], nodes: Sequence[LoopNode], sizes: isl.Set
) -> bool:
    """True if no lane computes outside its tensors where some size is 0."""
    of = affs(set_space("", (), model.params))
    none = [of[name].eq_set(of[0]).params() for name in model.params]
    empty = sizes & reduce(lambda a, b: a | b, none) if none else sizes
    if not none or empty.is_empty():
        return True
    # A fact about all sizes is proved more quickly if the sizes with a 0 are not one convex set.
    tried = (sizes, empty) if empty.n_basic_set() > sizes.n_basic_set() else (empty,)
    return any(_is_idle(model, tiles, nodes, some) for some in tried)


def _is_idle(
    model: Model, tiles: Sequence[StatementTiles], nodes: Sequence[LoopNode], sizes: isl.Set
) -> bool:
    by_name = {one.name: one for one in tiles}
    found = _executed(nodes, executed.outside(sizes), by_name)
    return all(_is_inside(model, by_name[tile.statement], tile, here) for tile, here in found)


def _executed(
    nodes: Sequence[LoopNode], around: isl.Set, tiles: Mapping[str, StatementTiles]
) -> Iterator[tuple[Tile, isl.Set]]:
    """Yield each tile with the set of places where it is executed, needed or not."""
    if around.is_empty():
        return
    for node in nodes:
        match node:
            case For(name=name, start=start, stop=stop, step=step, body=body):
                inner = executed.in_loop(around, name, start, stop, step)
                yield from _executed(body, inner, tiles)
            case Once(name=name, value=value, body=body):
                yield from _executed(body, executed.once(around, name, value), tiles)
            case Guard(conditions=conditions, body=body):
                yield from _executed(body, executed.where(around, conditions), tiles)
            case Tile(statement=statement, start=start):
                domain = tiles[statement].domain
                whole = isl.Set.universe(domain.get_space())
                yield node, executed.tiles_here(around, start, whole)


def _is_inside(model: Model, tiles: StatementTiles, tile: Tile, here: isl.Set) -> bool:
    """True if each lane of a tile that passes its mask has indices within its tensors there.

    The lane may be an instance that nobody needs. Then its reads are valid, and nobody uses its
    result.
    """
    if here.is_empty():
        return True
    lanes = addressed_lanes_of(tiles, here)
    if not _are_inside(lanes, tile.ways, tuple(_sides(model, tiles, tiles.statement.labels))):
        return False
    for labels in _loaded_apart(tiles, tile.ways):
        dims = [dim.name for dim in lane_dims(tiles) if dim.label in labels]
        active = active_lanes(tiles)
        shadow = mask(tiles, active, tile.occurs, model.context, model.size_of, dims)
        if not _are_inside(lanes, shadow, tuple(_sides(model, tiles, labels))):
            return False
    return True


def _are_inside(
    lanes: isl.Set, ways: tuple[tuple[Condition, ...], ...], sides: tuple[Affine, ...]
) -> bool:
    """True if lanes that pass one of several masks have only indices that exist."""
    return remembered_apart_from_names(
        "are inside",
        lambda: numbered(f"{lanes}\n{ways}\n{sides}", {*dim_names(lanes.get_space())}),
        lambda: _pass_inside(lanes, ways, sides),
        lambda answer, _: answer,
    )


def _pass_inside(
    lanes: isl.Set, ways: Sequence[Sequence[Condition]], sides: Sequence[Affine]
) -> bool:
    of = named_affs(lanes)
    if all(_is_ruled_out(lanes, of, way, side) for way in ways for side in sides):
        return True  # this test is quick, and it suffices in most cases
    inside = isl.Set.universe(lanes.get_space())
    for side in sides:
        inside = inside & to_aff(side, of).ge_set(of[0])
    return _passing(lanes, ways).is_subset(inside)


def _is_ruled_out(lanes: isl.Set, of: Affs, way: Sequence[Condition], side: Affine) -> bool:
    """True if no lane that passes a mask lies on the wrong side of one bound.

    A condition with a `multiple` is left out of the mask where its size is a multiple of that
    number. It is used only if it is the bound itself: then lanes on the wrong side pass the mask
    only where it is left out.
    """
    if any(not one.multiple and one.value - side == Affine() for one in way):
        return True  # the bound is in the mask, as it is for most lanes
    wrong = to_aff(side, of).lt_set(of[0])
    for one in way:
        if not (one.size is not None and one.multiple):
            wrong = wrong & to_aff(one.value, of).ge_set(of[0])
        elif one.value - side == Affine():
            wrong = wrong & _is_multiple(one, of)
    return lanes.is_disjoint(wrong)


def _loaded_apart(
    tiles: StatementTiles, ways: Sequence[Sequence[Condition]]
) -> Iterator[tuple[str, ...]]:
    """Yield the labels of each side of a product that is loaded with a mask of its own.

    Each side of a matrix product has lanes that the other side lacks. A condition may tie lanes of
    a side to lanes that the side does not have. It cannot be tested when that side is loaded, so
    the side has a mask of its own, which says less. Other products load their operands with all
    lanes, and so with the mask of the tile.
    """
    body = tiles.statement.body
    if not isinstance(body, Dot):
        return
    dims = {dim.name: dim.label for dim in lane_dims(tiles)}
    left, right = (set(free_labels(side)) for side in (body.left, body.right))
    if not all(own & set(dims.values()) for own in (left - right, right - left)):
        return
    tied = [{dims[name] for name in one.over(tuple(dims))} for way in ways for one in way]
    for own in (left, right):
        if any(labels & own and labels - own for labels in tied):
            yield tuple(label for label in tiles.statement.labels if label in own)


def _sides(model: Model, tiles: StatementTiles, labels: Sequence[str]) -> Iterator[Affine]:
    """Yield expressions that are all at least 0 exactly where the labels are within their sizes."""
    indices = label_indices(tiles)
    for label in labels:
        index = indices[label]
        yield index
        if label in model.size_of:
            yield Affine(((model.size_of[label], 1),), -1) - index
        elif label in model.parts:  # so that the first index of a part exists
            part = model.parts[label]
            yield Affine(((model.size_of[part.of], 1),), -1) - index.scaled(part.size)


def _passing(lanes: isl.Set, ways: Sequence[Sequence[Condition]]) -> isl.Set:
    """Return the lanes that pass one of several masks."""
    return reduce(lambda a, b: a | b, (_passing_all(lanes, way) for way in ways))


def _passing_all(lanes: isl.Set, conditions: Sequence[Condition]) -> isl.Set:
    """Return the lanes for which each condition holds or is left out because of a multiple."""
    of = named_affs(lanes)
    for one in conditions:
        holds = to_aff(one.value, of).ge_set(of[0])
        if one.size is not None and one.multiple:
            holds = holds | _is_multiple(one, of)
        lanes = lanes & holds
    return lanes


def _is_multiple(one: Condition, of: Affs) -> isl.Set:
    """Return where the size of a condition is a multiple of the number for which it is left out."""
    assert one.size is not None
    rest = isl.PwAff.from_aff(of[one.size]).mod_val(isl.Val(one.multiple or 1))
    return rest.eq_set(isl.PwAff.from_aff(of[0]))
