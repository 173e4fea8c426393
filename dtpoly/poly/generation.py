"""Makes the loops of one program from its tiles by isl, and checks the result.

isl loses some tiles where the set of full tiles has holes. So the tiles of its loops are compared
with those that were asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from types import MappingProxyType

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.poly import executed_tiles as executed
from dtpoly.poly.absent import any_sizes, is_idle
from dtpoly.poly.axes import Axis
from dtpoly.poly.bands import in_sequence
from dtpoly.poly.launched import launched, where_launched
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.loop_bounds import Names, bound, conditions_of, negated, operation_of
from dtpoly.poly.loop_trees import tree_of
from dtpoly.poly.loops import Condition, For, Guard, LoopNode, Once, Tile, plus
from dtpoly.poly.masks import active_lanes, mask
from dtpoly.poly.model import Model
from dtpoly.poly.settled_dims import Places
from dtpoly.poly.spaces import PolyError, affs, computing, set_space
from dtpoly.poly.tiles import StatementTiles

AS_THEY_ARE: Mapping[str, str] = MappingProxyType({})
ALL_THERE: Mapping[str, Places] = MappingProxyType({})
AXIS = "axis "  # this prefix marks the names of axes among the names of iterators


def loop_ast(
    model: Model, tiles: Sequence[StatementTiles], flat: frozenset[str] = frozenset()
) -> tuple[LoopNode, ...]:
    """Return the loops of one program of a kernel.

    Loops over `flat` labels have none for full tiles. The loops are those for sizes of at least 1,
    unless these compute too much where a size is 0.
    """
    with computing("the loops of a kernel"):
        params = reduce(lambda a, b: a | b, (one.domain.params() for one in tiles))
        programs = launched(model, tiles[0].path)
        sizes = any_sizes(model, tiles, params, programs)
        nodes = _loops(model, tiles, _context(model, params, programs), flat)
        return nodes if is_idle(model, tiles, nodes, sizes) else _loops(model, tiles, sizes, flat)


def _loops(
    model: Model, tiles: Sequence[StatementTiles], context: isl.Set, flat: frozenset[str]
) -> tuple[LoopNode, ...]:
    """Return the loops; full tiles have a loop of their own where that is possible.

    isl loses some tiles where the set of full ones has holes, so its loops are compared with the
    tiles that were asked for. It may also search for the remaining tiles index by index. Then one
    loop over all tiles is better.
    """
    asked = {one.name: one for one in tiles}
    active = {one.name: active_lanes(one) for one in tiles}
    place = _LoopPlace(model, asked, active, executed.outside(context), {})
    steps = _steps(tiles)
    complete: list[tuple[LoopNode, ...]] = []
    for with_full in (True, False):
        nodes = _in_order(tiles, context, flat, place, with_full=with_full)
        if _is_complete(nodes, tiles, context):
            if _walks_tiles(nodes, steps):
                return nodes
            complete.append(nodes)
    if not complete:
        raise PolyError("isl's loops leave out some tiles")
    return complete[0]


def _steps(tiles: Sequence[StatementTiles]) -> dict[str, int]:
    """Return the distance between the tiles of each loop that counts its own coordinate."""
    return {
        axis.name: axis.step
        for one in tiles
        for axis in one.path.steps
        if isinstance(axis, Axis) and axis.step is not None and axis.time is None
    }


def _walks_tiles(nodes: tuple[LoopNode, ...], steps: Mapping[str, int]) -> bool:
    """True if each loop goes from tile to tile, and not from index to index."""
    for node in nodes:
        match node:
            case For(axis=axis, step=step, body=body):
                if step % steps.get(axis, 1) or not _walks_tiles(body, steps):
                    return False
            case Once(body=body) | Guard(body=body):
                if not _walks_tiles(body, steps):
                    return False
            case Tile():
                pass
    return True


def _in_order(
    tiles: Sequence[StatementTiles],
    context: isl.Set,
    flat: frozenset[str],
    place: _LoopPlace,
    *,
    with_full: bool,
) -> tuple[LoopNode, ...]:
    """Return the loops of each part, one part after the other.

    isl makes the loops of each part alone, so that they may be known from another schedule. If two
    conditions follow each other, all parts are made together, since isl then puts a condition that
    they share around both.
    """

    def make(part: Sequence[StatementTiles]) -> tuple[LoopNode, ...]:
        tree = tree_of(part, context, flat, with_full)
        return _nodes(tree.node, replace(place, known_as=tree.known_as, places=tree.places))

    made = [make(part) for part in in_sequence(tiles)]
    meet = (nodes[-1:] + after[:1] for nodes, after in pairwise(made))
    if any(all(isinstance(one, Guard) for one in both) for both in meet):
        return make(tiles)
    return tuple(one for nodes in made for one in nodes)


def _context(model: Model, params: isl.Set, programs: isl.Set) -> isl.Set:
    """Return the facts about sizes and programs; usually each program has something to do."""
    of = affs(set_space("", (), model.params))
    sizes = model.context
    for name in model.params:
        sizes = sizes & of[name].gt_set(of[0]).params()
    known = params.intersect_params(sizes).coalesce()
    return where_launched(known, programs.intersect_params(sizes))


def _is_complete(
    nodes: tuple[LoopNode, ...], tiles: Sequence[StatementTiles], context: isl.Set
) -> bool:
    """True if every tile of every statement is somewhere in the loops."""
    found = {one.name: list[isl.Set]() for one in tiles}
    for one in _tiles(nodes):
        found[one.statement].append(one.occurs)
    return all(
        executed.is_all(found[one.name], one.domain.intersect_params(context)) for one in tiles
    )


def _tiles(nodes: tuple[LoopNode, ...]) -> Iterator[Tile]:
    for node in nodes:
        match node:
            case Tile():
                yield node
            case For(body=body) | Once(body=body) | Guard(body=body):
                yield from _tiles(body)


# The tree of isl.


@dataclass(frozen=True, slots=True)
class _LoopPlace:
    """The place of a node in isl's tree: the loops around it, and their iterations."""

    model: Model
    tiles: Mapping[str, StatementTiles]
    active: Mapping[str, isl.Set]  # the lanes of each statement that compute
    around: isl.Set
    names: Names
    axis: str = ""  # the axis of the next loop
    # The names of statements and axes, for those that have another one in the tree.
    known_as: Mapping[str, str] = AS_THEY_ARE
    places: Mapping[str, Places] = ALL_THERE  # by name in the tree, where dims were taken out

    @property
    def is_ranged(self) -> bool:
        """True if a statement of the kernel is a step over a range."""
        return any(one.statement.is_over_range for one in self.tiles.values())

    def inside(self, iterator: str, value: Affine, around: isl.Set) -> _LoopPlace:
        """Return the place inside a loop of the next axis."""
        names = {**self.names, iterator: value, f"{AXIS}{self.axis}": value}
        return replace(self, names=names, around=around)


def _nodes(node: isl.AstNode, place: _LoopPlace) -> tuple[LoopNode, ...]:
    match _kind(node):
        case "block":
            children = node.block_get_children()
            parts = (children.get_at(i) for i in range(children.n_ast_node()))
            return tuple(one for part in parts for one in _nodes(part, place))
        case "mark":
            name = node.mark_get_id().get_name()
            axis = place.known_as.get(name, name)
            return _nodes(node.mark_get_node(), replace(place, axis=axis))
        case "for_" if node.for_is_degenerate():
            return _once(node, place)
        case "for_":
            return (_for(node, place),)
        case "if_":
            conditions = tuple(conditions_of(node.if_get_cond(), place.names))
            then = _guard(conditions, node.if_get_then(), place)
            # Without ranges, loops in which a condition has another side count as incomplete: the
            # others, without a loop for full tiles, are shorter.
            if not node.if_has_else() or not place.is_ranged:
                return (then,)
            return then, _guard((negated(conditions),), node.if_get_else(), place)
        case "user":
            return (_tile(node, place),)
        case other:
            raise AssertionError(other)


def _guard(conditions: tuple[Condition, ...], node: isl.AstNode, place: _LoopPlace) -> Guard:
    inner = replace(place, around=executed.where(place.around, conditions))
    return Guard(conditions, _nodes(node, inner))


def _kind(node: isl.AstNode) -> str:
    # The stubs lack the members whose names end in an underscore.
    return isl.ast_node_type(node.get_type()).name


def _tile(node: isl.AstNode, place: _LoopPlace) -> Tile:
    call = node.user_get_expr()
    name = call.get_op_arg(0).get_id().get_name()
    tiles = place.tiles[place.known_as.get(name, name)]
    given = [bound(call.get_op_arg(at), place.names) for at in range(1, call.get_op_n_arg())]
    places = place.places.get(name, range(len(given)))
    starts = (given[one] if isinstance(one, int) else one for one in places)
    start = dict(zip(tiles.dims, starts, strict=True))
    loops = {n.removeprefix(AXIS): value for n, value in place.names.items() if n.startswith(AXIS)}
    occurs = executed.tiles_here(place.around, start, tiles.domain)
    model = place.model
    ways = mask(tiles, place.active[tiles.name], occurs, model.context, model.size_of)
    return Tile(tiles.name, start, loops, occurs, ways)


def _once(node: isl.AstNode, place: _LoopPlace) -> tuple[LoopNode, ...]:
    iterator = node.for_get_iterator().get_id().get_name()
    value = bound(node.for_get_init(), place.names)
    if isinstance(value, Affine):
        return _nodes(node.for_get_body(), place.inside(iterator, value, place.around))
    name = _fresh(iterator, place)
    around = executed.once(place.around, name, value)
    inner = place.inside(iterator, Affine(((name, 1),)), around)
    return (Once(name, place.axis, value, _nodes(node.for_get_body(), inner)),)


def _for(node: isl.AstNode, place: _LoopPlace) -> For:
    iterator = node.for_get_iterator().get_id().get_name()
    condition = node.for_get_cond()
    stop = bound(condition.get_op_arg(1), place.names)
    if operation_of(condition) == "le":
        stop = plus(stop, 1)
    step = node.for_get_inc().get_val().to_python()
    start = bound(node.for_get_init(), place.names)
    name = _fresh(iterator, place)
    around = executed.in_loop(place.around, name, start, stop, step)
    inner = place.inside(iterator, Affine(((name, 1),)), around)
    return For(name, place.axis, start, stop, step, _nodes(node.for_get_body(), inner))


def _fresh(iterator: str, place: _LoopPlace) -> str:
    """Return a name for an iterator of isl, which numbers them by depth.

    The `!` keeps the name apart from those of sizes and axes.
    """
    return f"{iterator}!{len(place.names)}"
