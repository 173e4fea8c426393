"""Tiles and paths in, the loops of one program out: bounds, guards and tile statements.

Lanes are cut out beforehand (a tile is one point) and grid axes are parameters, so isl generates
loops over tiles and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import assert_never

from dtpoly.algorithm.expressions import Affine
from dtpoly.poly.axes import Axis
from dtpoly.poly.full import full_iterations
from dtpoly.poly.lazy import isl
from dtpoly.poly.model import Model
from dtpoly.poly.order import coordinate_map
from dtpoly.poly.spaces import PolyError, affs, computing, set_space
from dtpoly.poly.tiles import Tiles


@dataclass(frozen=True, slots=True)
class Combined:
    """An operation on bounds: `min`, `max`, `+`, `-`, `*`, `//`, `%`."""

    operation: str
    operands: tuple[Bound, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """One bound where every condition holds, else another."""

    conditions: tuple[Condition, ...]
    left: Bound
    right: Bound


Bound = Affine | Combined | Chosen


@dataclass(frozen=True, slots=True)
class Compared:
    """`left >= right`, or `left == right`."""

    left: Bound
    right: Bound
    is_equal: bool = False


@dataclass(frozen=True, slots=True)
class Either:
    """One of several conjunctions holds."""

    ways: tuple[tuple[Condition, ...], ...]


Condition = Compared | Either


@dataclass(frozen=True, slots=True)
class For:
    """`for name in range(start, stop, step)`; `name` is isl's, `axis` the schedule's."""

    name: str
    axis: str
    start: Bound
    stop: Bound
    step: int
    body: tuple[LoopNode, ...]


@dataclass(frozen=True, slots=True)
class Once:
    """A loop of one iteration whose value is no affine function: a name for it."""

    name: str
    axis: str
    value: Bound
    body: tuple[LoopNode, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """The body if every condition holds."""

    conditions: tuple[Condition, ...]
    body: tuple[LoopNode, ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile of a statement, by where it starts; `occurs` is the set of tiles it is here."""

    statement: str
    start: Mapping[str, Bound]  # dim -> index of its first lane
    loops: Mapping[str, Affine]  # axis -> what the loop over it counts here
    occurs: isl.Set


LoopNode = For | Once | Guard | Tile


def loop_ast(model: Model, tiles: Sequence[Tiles]) -> tuple[LoopNode, ...]:
    """The loops of one program of a kernel, for sizes of at least 1.

    Full tiles have a loop of their own where that is possible. isl loses some tiles where the set
    of full ones has holes; so what it made is compared with what was asked for.
    """
    with computing("the loops of a kernel"):
        context = _context(model, tiles)
        for with_full in (True, False):
            tree, occurrences = _generated(model, tiles, context, with_full)
            nodes = _nodes(tree, _Reader({t.name: t for t in tiles}, occurrences), {})
            if _is_complete(nodes, tiles, context):
                return nodes
        raise PolyError("isl's loops leave out some tiles")


def _generated(
    model: Model, tiles: Sequence[Tiles], context: isl.Set, with_full: bool
) -> tuple[isl.AstNode, tuple[isl.Set, ...]]:
    """isl's tree, and which tiles each of its statements is."""
    everything = _union([one.domain for one in tiles])
    root = isl.Schedule.from_domain(everything).get_root()
    schedule = _insert(root.child(0), tuple(tiles), 0, (), with_full).get_schedule()
    occurrences: list[isl.Set] = []
    build = isl.AstBuild.from_context(context)
    build, keep = build.set_at_each_domain(_remembering(occurrences))
    tree = build.node_from_schedule(schedule)
    del keep
    return tree, tuple(occurrences)


def _is_complete(nodes: tuple[LoopNode, ...], tiles: Sequence[Tiles], context: isl.Set) -> bool:
    """Whether every tile of every statement is somewhere in the loops."""
    found: dict[str, isl.Set] = {}
    for one in _tiles(nodes):
        before = found.get(one.statement)
        found[one.statement] = one.occurs if before is None else before | one.occurs
    return all(
        one.domain.intersect_params(context).is_subset(found[one.name])
        if one.name in found
        else one.domain.intersect_params(context).is_empty()
        for one in tiles
    )


def _tiles(nodes: tuple[LoopNode, ...]) -> Iterator[Tile]:
    for node in nodes:
        match node:
            case Tile():
                yield node
            case For(body=body) | Once(body=body) | Guard(body=body):
                yield from _tiles(body)


def _remembering(
    occurrences: list[isl.Set],
) -> Callable[[isl.AstNode, isl.AstBuild], isl.AstNode]:
    """Note at each tile of the tree which tiles it is there."""

    def remember(node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        domain = build.get_schedule().domain().get_set_list().get_at(0)
        occurrences.append(domain)
        return node.set_annotation(isl.Id(str(len(occurrences) - 1)))

    return remember


def _union(sets: Sequence[isl.Set]) -> isl.UnionSet:
    return reduce(lambda a, b: a.union(b), map(isl.UnionSet.from_set, sets))


def _context(model: Model, tiles: Sequence[Tiles]) -> isl.Set:
    """What holds of sizes and programs: a program that is launched has something to do."""
    params = reduce(lambda a, b: a | b, (one.domain.params() for one in tiles))
    of = affs(set_space("", (), model.params))
    for name in model.params:
        params = params & of[name].gt_set(of[0]).params()
    return params.intersect_params(model.context).coalesce()


def _insert(
    node: isl.ScheduleNode,
    tiles: Sequence[Tiles],
    depth: int,
    outer: tuple[str, ...],
    with_full: bool,
) -> isl.ScheduleNode:
    """Bands, marks and sequences below a node; comes back to it."""
    steps = [one.path.steps[depth] for one in tiles if depth < len(one.path.steps)]
    if not steps:
        return node
    first = steps[0]
    if isinstance(first, int):
        return _sequence(node, tiles, depth, outer, with_full)
    if first.is_single:
        return _insert(node, tiles, depth + 1, outer, with_full)
    names = (*outer, first.name)
    times = [_times(one, names) for one in tiles]
    node = node.insert_mark(isl.Id(first.name)).child(0)
    node = node.insert_partial_schedule(_values(tiles, times))
    node = node.band_member_set_ast_loop_type(0, isl.ast_loop_type.atomic)
    if with_full and not any(
        _is_loop(step) for one in tiles for step in one.path.steps[depth + 1 :]
    ):
        full = full_iterations(tiles, times, first.label)
        if full is not None and not full.is_empty():
            node = node.band_set_ast_build_options(_isolated(full, len(outer)))
    return _insert(node.child(0), tiles, depth + 1, names, with_full).parent().parent()


def _is_loop(step: Axis | int) -> bool:
    return isinstance(step, Axis) and not step.is_single


def _sequence(
    node: isl.ScheduleNode,
    tiles: Sequence[Tiles],
    depth: int,
    outer: tuple[str, ...],
    with_full: bool,
) -> isl.ScheduleNode:
    positions = sorted({int(str(one.path.steps[depth])) for one in tiles})
    groups = [[one for one in tiles if one.path.steps[depth] == at] for at in positions]
    filters = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, len(groups))
    for group in groups:
        filters = filters.add(_union([one.domain for one in group]).universe())
    node = node.insert_sequence(filters)
    for at, group in enumerate(groups):
        inner = _insert(node.child(at).child(0), group, depth + 1, outer, with_full)
        node = inner.parent().parent()
    return node


def _times(one: Tiles, names: tuple[str, ...]) -> isl.Map:
    """`tile -> iteration` of the loops named; all lanes of a tile are in one iteration."""
    place = coordinate_map(one.path, one.statement, names)
    place = place.align_params(one.instances.get_space()).intersect_domain(one.instances)
    times = one.tile_of.reverse().apply_range(place).intersect_domain(one.domain)
    assert times.is_single_valued(), f"lanes of {one.name} are in several iterations"
    return times.coalesce()


def _values(tiles: Sequence[Tiles], times: Sequence[isl.Map]) -> isl.MultiUnionPwAff:
    """The value of the innermost loop of `times`, for each tile."""
    parts = [_value(one, time) for one, time in zip(tiles, times, strict=True)]
    return isl.MultiUnionPwAff.from_union_pw_aff(reduce(lambda a, b: a.union_add(b), parts))


def _value(one: Tiles, times: isl.Map) -> isl.UnionPwAff:
    last = times.project_out(isl.dim_type.out, 0, times.dim(isl.dim_type.out) - 1)
    of = affs(one.domain.get_space())
    # Written as the start of a tile where it is that: isl then sees the step of the loop.
    for name, start in of.items():
        if name != 0 and isl.Map.from_aff(start).intersect_domain(one.domain).is_equal(last):
            aff = isl.PwAff.from_aff(start).intersect_domain(one.domain)
            return isl.UnionPwAff.from_pw_aff(aff)
    return isl.UnionPwAff.from_pw_aff(isl.PwMultiAff.from_map(last).get_at(0))


def _isolated(full: isl.Set, depth: int) -> isl.UnionSet:
    """Full iterations in a loop of their own, and the rest after it."""
    outer = full.dim(isl.dim_type.set) - 1
    assert outer == depth
    pair = isl.Map.from_range(full).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, outer)
    isolate = isl.UnionSet.from_set(pair.wrap().set_tuple_name("isolate"))
    return isolate.union(isl.UnionSet("{ atomic[0]; [isolate[] -> atomic[0]] }"))


@dataclass(frozen=True, slots=True)
class _Reader:
    """What the nodes of isl's tree are read with."""

    tiles: Mapping[str, Tiles]
    occurrences: tuple[isl.Set, ...]


Names = Mapping[str, Affine]  # isl's iterators, and axes, -> our loops

AXIS = "axis "  # begins the names of axes there


def _nodes(
    node: isl.AstNode, reader: _Reader, names: Names, axis: str = ""
) -> tuple[LoopNode, ...]:
    match _kind(node):
        case "block":
            children = node.block_get_children()
            parts = (children.get_at(i) for i in range(children.n_ast_node()))
            return tuple(one for part in parts for one in _nodes(part, reader, names, axis))
        case "mark":
            axis = node.mark_get_id().get_name()
            return _nodes(node.mark_get_node(), reader, names, axis)
        case "for_" if node.for_is_degenerate():
            return _once(node, reader, names, axis)
        case "for_":
            return (_for(node, reader, names, axis),)
        case "if_":
            conditions = tuple(_conditions(node.if_get_cond(), names))
            return (Guard(conditions, _nodes(node.if_get_then(), reader, names, axis)),)
        case "user":
            return (_tile(node, reader, names),)
        case other:
            raise AssertionError(other)


def _kind(node: isl.AstNode) -> str:
    # The stubs lack the members whose names end in an underscore.
    return isl.ast_node_type(node.get_type()).name


def _tile(node: isl.AstNode, reader: _Reader, names: Names) -> Tile:
    call = node.user_get_expr()
    name = call.get_op_arg(0).get_id().get_name()
    dims = reader.tiles[name].dims
    start = {dim: bound(call.get_op_arg(i + 1), names) for i, dim in enumerate(dims)}
    loops = {key.removeprefix(AXIS): value for key, value in names.items() if key.startswith(AXIS)}
    return Tile(name, start, loops, reader.occurrences[int(node.get_annotation().get_name())])


def _once(node: isl.AstNode, reader: _Reader, names: Names, axis: str) -> tuple[LoopNode, ...]:
    iterator = node.for_get_iterator().get_id().get_name()
    start = bound(node.for_get_init(), names)
    if isinstance(start, Affine):
        return _nodes(node.for_get_body(), reader, _with(names, iterator, axis, start))
    name = _fresh(iterator, names)
    here = Affine(((name, 1),))
    body = _nodes(node.for_get_body(), reader, _with(names, iterator, axis, here))
    return (Once(name, axis, start, body),)


def _for(node: isl.AstNode, reader: _Reader, names: Names, axis: str) -> For:
    iterator = node.for_get_iterator().get_id().get_name()
    condition = node.for_get_cond()
    stop = bound(condition.get_op_arg(1), names)
    if _operation(condition) == "le":
        stop = plus(stop, 1)
    step = node.for_get_inc().get_val().to_python()
    start = bound(node.for_get_init(), names)
    name = _fresh(iterator, names)
    here = Affine(((name, 1),))
    body = _nodes(node.for_get_body(), reader, _with(names, iterator, axis, here))
    return For(name, axis, start, stop, step, body)


def _with(names: Names, iterator: str, axis: str, value: Affine) -> Names:
    return {**names, iterator: value, f"{AXIS}{axis}": value}


def _fresh(iterator: str, names: Names) -> str:
    """isl numbers iterators by depth; `!` keeps them apart from sizes and axes."""
    return f"{iterator}!{len(names)}"


def plus(value: Bound, number: int) -> Bound:
    """A bound and a number."""
    match value:
        case Affine():
            return value + Affine((), number)
        case Combined(operation="min" | "max", operands=operands):
            return Combined(value.operation, tuple(plus(one, number) for one in operands))
        case Combined(operation="+", operands=(one, Affine(terms=()) as two)):
            total = two.constant + number
            return Combined("+", (one, Affine((), total))) if total else one
        case Combined():
            return Combined("+", (value, Affine((), number))) if number else value
        case Chosen(left=left, right=right):
            return replace(value, left=plus(left, number), right=plus(right, number))
        case _:
            assert_never(value)


def _operation(expr: isl.AstExpr) -> str:
    # The stubs call it an int, and lack the members whose names end in an underscore.
    return isl.ast_expr_op_type(expr.get_op_type()).name


def _conditions(expr: isl.AstExpr, names: Names) -> Iterator[Condition]:
    kind = _operation(expr)
    if kind in ("and_", "and_then"):
        for i in range(expr.get_op_n_arg()):
            yield from _conditions(expr.get_op_arg(i), names)
        return
    if kind in ("or_", "or_else"):
        arguments = (expr.get_op_arg(i) for i in range(expr.get_op_n_arg()))
        yield Either(tuple(tuple(_conditions(one, names)) for one in arguments))
        return
    left, right = (bound(expr.get_op_arg(i), names) for i in range(2))
    match kind:
        case "ge":
            yield Compared(left, right)
        case "gt":
            yield Compared(left, plus(right, 1))
        case "le":
            yield Compared(right, left)
        case "lt":
            yield Compared(right, plus(left, 1))
        case "eq":
            yield Compared(left, right, is_equal=True)
        case _:
            raise AssertionError(expr.to_C_str())


def _not_negative(value: Bound, divisor: int) -> tuple[Bound, int]:
    """The value plus so many divisors that it is not negative where sizes are 0.

    isl's tree is for sizes of 1 and more, and its division rounds down; Triton's rounds to 0.
    """
    if not isinstance(value, Affine) or value.constant >= 0:
        return value, 0
    times = -(value.constant // divisor)
    return value + Affine((), times * divisor), times


def bound(expr: isl.AstExpr, names: Names) -> Bound:
    """An expression of isl's tree as one of ours."""
    match expr.get_type():
        case isl.ast_expr_type.int:
            return Affine((), expr.get_val().to_python())
        case isl.ast_expr_type.id:
            name = expr.get_id().get_name().removesuffix("@")
            return names.get(name, Affine(((name, 1),)))
        case _:
            pass
    kind = _operation(expr)
    if kind in ("cond", "select"):
        conditions = tuple(_conditions(expr.get_op_arg(0), names))
        left, right = (bound(expr.get_op_arg(i), names) for i in (1, 2))
        return Chosen(conditions, left, right)
    operands = tuple(bound(expr.get_op_arg(i), names) for i in range(expr.get_op_n_arg()))
    match kind, operands:
        case "add", (Affine() as one, Affine() as two):
            return one + two
        case "sub", (Affine() as one, Affine() as two):
            return one - two
        case "minus", (Affine() as one,):
            return one.scaled(-1)
        case "mul", (Affine(terms=()) as one, Affine() as two):
            return two.scaled(one.constant)
        case "mul", (Affine() as one, Affine(terms=()) as two):
            return one.scaled(two.constant)
        case "minus", (one,):
            return Combined("-", (Affine(), one))
        case (("fdiv_q" | "pdiv_q" | "div"), (one, Affine(terms=()) as two)):
            one, times = _not_negative(one, two.constant)
            return plus(Combined("//", (one, two)), -times)
        case (("pdiv_r" | "zdiv_r"), (one, Affine(terms=()) as two)):
            return Combined("%", (_not_negative(one, two.constant)[0], two))
        case _:
            words = {"add": "+", "sub": "-", "mul": "*", "min": "min", "max": "max"}
            assert kind in words, expr.to_C_str()
            return Combined(words[kind], operands)
