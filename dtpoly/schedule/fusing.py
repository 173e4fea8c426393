"""Puts a producer inside of a loop of its consumer, as the primitive `fuse_at` asks."""

from collections.abc import Mapping
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine, reads
from dtpoly.poly.axes import Axis, Path, finest, resolved, several
from dtpoly.poly.model import Statement, by_name
from dtpoly.poly.ranges import Range
from dtpoly.poly.replicate import Readers, replicate
from dtpoly.schedule.dividing import split_loops
from dtpoly.schedule.nesting import nest, reordered
from dtpoly.schedule.state import Fusion, State
from dtpoly.schedule.tiling import tile_loops, tile_sizes
from dtpoly.schedule.tree import (
    Kernel,
    Loop,
    Node,
    Sequence,
    in_sequence,
    loops,
    paths,
    rewrite,
    statements,
)

# The loops down to where the producer goes; none for the whole program.
Place = tuple[Loop, ...]


def fuse(state: State, name: str, func: str, consumer: str, label: str, recompute: bool) -> State:
    """Put what a consumer's loop needs of a Func at the start of each iteration, in one kernel."""
    kernel = next(k for k in state.kernels if k.name == name)
    known = by_name(state.model)
    readers = tuple(
        (known[path.statement], path)
        for path in paths((kernel,))
        if any(read.array == func for read in known[path.statement].reads)
    )
    if not readers or not _is_read_by(state, kernel, func, consumer):
        return state
    place = _place(kernel, consumer, label, readers, known)
    if place is None:
        outside = tuple(reader.name for reader, _ in readers)
        fusion = Fusion(func, name, consumer, label, (), outside, recompute)
        return replace(state, fusions=(*state.fusions, fusion))
    axes = several(finest(kernel.grid) + tuple(loop.axis for loop in place))
    mine = state.lifted.of_func(func)
    done = replicate(state.model, mine, state.lifted.arrays, readers, axes, f"@{name}")
    subtree = _producer(kernel, func, done.copies, done.ranges, readers, state)
    fused = replace(kernel, body=_inserted(kernel.body, place, subtree))
    copies = tuple(copy.name for copy in done.copies)
    fusion = Fusion(func, name, consumer, label, copies, (), recompute)
    kernels = tuple(fused if k is kernel else k for k in state.kernels)
    return replace(state, model=done.model, kernels=kernels, fusions=(*state.fusions, fusion))


def _is_read_by(state: State, kernel: Kernel, func: str, consumer: str) -> bool:
    """Whether a consumer reads a Func in a Func's kernels, itself or through others there."""
    known = by_name(state.model)
    kernels = state.kernels_of(kernel.func)
    members = {known[name].func for k in kernels for name in statements(k.body)}
    pending, seen = [consumer] if consumer in members else [], {consumer}
    while pending:
        for below in (read.tensor for read in reads(state.program.func(pending.pop()).body)):
            if below == func:
                return True
            if below in members and below not in seen:
                seen.add(below)
                pending.append(below)
    return False


def _place(
    kernel: Kernel,
    consumer: str,
    label: str,
    readers: Readers,
    known: Mapping[str, Statement],
) -> Place | None:
    """Find the innermost loop of the consumer that has all readers inside.

    If there is none, it is the consumer's block, or None.
    """
    wanted = {reader.name for reader, _ in readers}
    found: Place | None = None
    if consumer == kernel.func and any(axis.label == label for axis in kernel.grid):
        found = ()
    for around in loops(kernel.body):
        loop = around[-1]
        is_candidate = loop.func == consumer and loop.axis.label == label
        if is_candidate and wanted <= set(statements(loop)):
            found = around
    return found


def _inserted(node: Node, place: Place, subtree: Node) -> Node:
    """The tree with a subtree at the start of the last loop of a place."""
    if not place:
        return in_sequence((subtree, node))
    match node:
        case Loop() if node is place[0]:
            return node.with_child(_inserted(node.child, place[1:], subtree))
        case Sequence(children=children):
            return Sequence(
                tuple(
                    _inserted(child, place, subtree) if child is place[0] else child
                    for child in children
                )
            )
        case _:
            return node


def _producer(
    kernel: Kernel,
    func: str,
    copies: tuple[Statement, ...],
    ranges: Mapping[str, Range],
    readers: Readers,
    state: State,
) -> Node:
    """The producer's own loops, as the kernel's directives have them, over what is needed."""

    def needed(node: Node) -> Node:
        if not isinstance(node, Loop) or node.is_reduction or node.axis.label not in ranges:
            return node
        one = ranges[node.axis.label]
        return replace(node, axis=replace(node.axis, origin=one.origin, extent=one.extent))

    labels, sizes = state.program.func(func).labels, state.sized.fixed
    body = rewrite(nest(copies, labels, sizes=sizes), needed)
    body = split_loops(body, kernel.splits)
    if kernel.order:
        body = reordered(body, kernel.order, state.program.func(func).labels)
    tiles = tile_sizes(kernel.tiles, func)
    split = {item.label for item in kernel.splits}
    taken = {
        label: 0
        for axis, (label, one) in enumerate(ranges.items())
        if label not in tiles and label not in split and _is_a_tile(func, axis, one, readers)
    }
    return tile_loops(body, tiles | taken)


def _is_a_tile(func: str, axis: int, one: Range, readers: Readers) -> bool:
    """Whether a range is the tile that lanes of every reader walk where they read the axis."""
    indices = [
        (read.indices[axis].plain, path)
        for reader, path in readers
        for read in reader.reads
        if read.array == func
    ]
    return all(
        any(
            lane.label == label and lane.step == 1 and _start(lane, path) == one.origin
            for lane in path.lanes
        )
        for label, path in indices
    )


def _start(lane: Axis, path: Path) -> Affine:
    return resolved(lane.origin, path.named)
