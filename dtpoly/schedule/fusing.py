"""Puts a producer inside of a loop of its consumer, as the primitive `fuse_at` asks."""

from collections.abc import Mapping, Set
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine, reads
from dtpoly.algorithm.program import nested_labels, reduced_labels
from dtpoly.poly.axes import Axis, Path, finest, resolved, several
from dtpoly.poly.index_ranges import Range
from dtpoly.poly.model import Array, Role, Statement, access, by_name
from dtpoly.poly.replicate import Readers, Replicated, replicate
from dtpoly.schedule.dividing import split_loops
from dtpoly.schedule.nesting import nest, reordered
from dtpoly.schedule.partials import through_parts
from dtpoly.schedule.state import Fusion, State
from dtpoly.schedule.tiling import tile_loops, tile_sizes
from dtpoly.schedule.tree import (
    Kernel,
    Loop,
    Node,
    Sequence,
    in_sequence,
    launch_of,
    loops,
    paths,
    rewrite,
    statements,
)

# The loops down to where the producer goes; none for the whole program.
Place = tuple[Loop, ...]
# Places for copies in a kernel: what the names of a copy end with, the place, and its readers.
Places = tuple[tuple[str, Place, Readers], ...]


def fuse(state: State, name: str, func: str, consumer: str, label: str, recompute: bool) -> State:
    """Put what a consumer's loop needs of a Func at the start of each iteration, in one kernel."""
    return _fuse(state, name, func, consumer, label, recompute, is_around=False)


def fuse_around(state: State, name: str, func: str, consumer: str, label: str) -> State:
    """Put what the surroundings of a consumer's reduction loop need of a Func in front of it."""
    return _fuse(state, name, func, consumer, label, False, is_around=True)


def _fuse(
    state: State,
    name: str,
    func: str,
    consumer: str,
    label: str,
    recompute: bool,
    *,
    is_around: bool,
) -> State:
    kernel = next(k for k in state.kernels if k.name == name)
    known = by_name(state.model)
    readers = tuple(
        (known[path.statement], path)
        for path in paths((kernel,))
        if any(read.array == func for read in known[path.statement].reads)
    )
    if not readers or not _is_read_by(state, kernel, func, consumer):
        return state
    reduced = set(reduced_labels(state.program.func(func)))
    places = (
        _around(kernel, consumer, label, readers, reduced)
        if is_around
        else _places(kernel, consumer, label, readers)
    )
    if not places:
        outside = tuple(reader.name for reader, _ in readers)
        fusion = Fusion(func, name, consumer, label, (), outside, recompute)
        return replace(state, fusions=(*state.fusions, fusion))
    ((_, first, _), *_) = places
    also = _as_readers(kernel, consumer, func, readers, known, first) if is_around else ()
    # A scan may follow the only loop that it is computed in.
    may_follow = len(places) == 1 and not recompute and not is_around
    done, body, made = _filled(state, kernel, func, places, also, may_follow)
    fusion = Fusion(func, name, consumer, label, made, (), recompute)
    kernels = tuple(replace(k, body=body) if k is kernel else k for k in state.kernels)
    return replace(done, kernels=kernels, fusions=(*state.fusions, fusion))


def _filled(
    state: State,
    kernel: Kernel,
    func: str,
    places: Places,
    also: Readers,
    may_follow: bool,
) -> tuple[State, Node, tuple[str, ...]]:
    """Put a copy of a Func into each place, for the readers there.

    Return the state with their statements, the kernel's tree with them, and their names.
    """
    model, body = state.model, kernel.body
    made: tuple[str, ...] = ()
    for suffix, place, own in places:
        axes = several(finest(kernel.grid) + tuple(loop.axis for loop in place))
        # A loop of one step is not among the axes: there is nothing to follow.
        is_loop = bool(place) and bool(axes) and axes[-1].name == place[-1].axis.name
        done = replicate(
            model,
            state.lifted.of_func(func),
            state.lifted.arrays,
            own,
            axes,
            f"@{kernel.name}{suffix}",
            also,
            may_follow=may_follow and is_loop,
        )
        model, body = done.model, _with_copies(body, kernel, func, place, own, done, state)
        made += tuple(copy.name for copy in (*done.begins, *done.copies))
    return replace(state, model=model), body, made


def _with_copies(
    body: Node,
    kernel: Kernel,
    func: str,
    place: Place,
    readers: Readers,
    done: Replicated,
    state: State,
) -> Node:
    """Return the tree with a Func's copies in the last loop of a place.

    What scans that follow this loop begin with stands before it, and it goes from the end to the
    beginning if they do.
    """
    taken = _taken_tiles(kernel, func, done.ranges, readers)
    inside = _producer(kernel, func, done.copies, done.ranges, taken, state)
    body = _inserted(body, _again(body, place, readers), inside)
    if done.begins:
        before = _producer(kernel, func, done.begins, done.begin_ranges, taken, state)
        body = _inserted(body, _again(body, place[:-1], readers), before)
        scans = [one.scan for one in done.copies if one.scan is not None]
        if all(scan.is_reverse for scan in scans if scan.follows):
            body = _turned(body, _again(body, place, readers))
    return body


def _is_read_by(state: State, kernel: Kernel, func: str, consumer: str) -> bool:
    """Return whether a consumer reads a Func in a Func's kernels, itself or through others.

    The Func whose kernel stores a result reads it for that.
    """
    known = by_name(state.model)
    kernels = state.kernels_of(kernel.func)
    members = {known[name].func for k in kernels for name in statements(k.body)}
    pending, seen = [consumer] if consumer in members else [], {consumer}
    while pending:
        name = pending.pop()
        stored = (one for one, host in state.stores.items() if name == host == kernel.func)
        for below in (*stored, *(read.tensor for read in reads(state.program.func(name).body))):
            if below == func:
                return True
            if below in members and below not in seen:
                seen.add(below)
                pending.append(below)
    return False


def _places(kernel: Kernel, consumer: str, label: str, readers: Readers) -> Places:
    """Find the innermost loop of the consumer that has all readers inside, or its block.

    If some readers are in loops that will be joined with the consumer's, each such loop is a place.
    """
    wanted = {reader.name for reader, _ in readers}
    found: Place | None = None
    for around in loops(kernel.body):
        loop = around[-1]
        is_candidate = loop.func == consumer and loop.axis.label == label
        if is_candidate and wanted <= set(statements(loop)):
            found = around
    if found is None and (later := _joined_later(kernel, consumer, label, readers)):
        return later
    if consumer == kernel.func and any(axis.label == label for axis in kernel.grid):
        found = found or ()
    return () if found is None else (("", found, readers),)


def _joined_later(kernel: Kernel, consumer: str, label: str, readers: Readers) -> Places:
    """Find the consumer's loop over a label and those that will be joined with it, by readers."""
    members = {func for func, reader in launch_of(kernel).running if reader == consumer}
    found = dict[str, tuple[str, Place, Readers]]()
    left = {reader.name for reader, _ in readers} if members else set[str]()
    for around in loops(kernel.body):
        loop = around[-1]
        inside = {*statements(loop)} & left
        is_member = loop.func in {consumer, *members} - found.keys()
        if inside and loop.is_reduction and is_member and loop.axis.label == label:
            own = tuple((reader, path) for reader, path in readers if reader.name in inside)
            found[loop.func] = ("" if loop.func == consumer else f".{loop.func}", around, own)
            left -= inside
    return () if left else tuple(found.values())


def _around(
    kernel: Kernel, consumer: str, label: str, readers: Readers, reduced: Set[str]
) -> Places:
    """Find the loops around a consumer's reduction over a label that have all readers inside.

    Loops of one iteration may be left out, and so are other loops of this reduction over labels
    that are `reduced` by the producer, too.
    """
    wanted = {reader.name for reader, _ in readers}
    for loop in loops(kernel.body):
        *place, last = loop
        if not (last.is_reduction and last.func == consumer and last.axis.label == label):
            continue
        while place and place[-1].is_reduction and place[-1].axis.label in reduced:
            place.pop()
        while place and not wanted <= set(statements(place[-1])) and place[-1].axis.is_single:
            place.pop()
        if wanted <= set(statements(place[-1] if place else kernel.body)):
            return (("", tuple(place), readers),)
    return ()


def _as_readers(
    kernel: Kernel,
    consumer: str,
    func: str,
    readers: Readers,
    known: Mapping[str, Statement],
    place: Place,
) -> Readers:
    """Return the accumulators at a place as readers of what the consumer's reductions read.

    Some rows may have no index to reduce. Their results begin like the others, in the same lanes.
    """
    found = list[tuple[Statement, Path]]()
    reads_of = [read for reader, _ in readers for read in reader.reads if read.array == func]
    for path in paths((kernel,)):
        init = known[path.statement]
        if init.func != consumer or init.role is not Role.INIT:
            continue
        if place and init.name not in statements(place[-1]):
            continue
        space = init.domain.get_space()
        mine = tuple(
            access(space, Array(func, func, ()), read.indices)
            for read in reads_of
            if all(set(index.labels) <= set(init.labels) for index in read.indices)
        )
        found.append((replace(init, reads=mine), path))
    return tuple(found)


def _again(body: Node, place: Place, readers: Readers) -> Place:
    """Return a place of a kernel in a tree in which other copies were put meanwhile."""
    if not place:
        return ()
    wanted, axes = {reader.name for reader, _ in readers}, [loop.axis for loop in place]
    return next(
        around
        for around in loops(body)
        if [loop.axis for loop in around] == axes and wanted <= set(statements(around[-1]))
    )


def _inserted(node: Node, place: Place, subtree: Node) -> Node:
    """Return the tree with a subtree at the start of the last loop of a place."""
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


def _turned(node: Node, place: Place) -> Node:
    """Return the tree in which the last loop of a place goes from the end to the beginning."""
    match node:
        case Loop() if node is place[0] and len(place) == 1:
            return replace(node, axis=replace(node.axis, time=node.axis.value.scaled(-1)))
        case Loop() if node is place[0]:
            return node.with_child(_turned(node.child, place[1:]))
        case Sequence(children=children):
            return Sequence(
                tuple(_turned(one, place) if one is place[0] else one for one in children)
            )
        case _:
            return node


def _producer(
    kernel: Kernel,
    func: str,
    copies: tuple[Statement, ...],
    ranges: Mapping[str, Range],
    taken: Mapping[str, int],
    state: State,
) -> Node:
    """The producer's own loops, as the kernel's directives have them, over what is needed."""

    def needed(node: Node) -> Node:
        if not isinstance(node, Loop) or node.is_reduction or node.axis.label not in ranges:
            return node
        one = ranges[node.axis.label]
        extent = one.extent
        if extent is None and one.origin == Affine():
            extent = sizes.get(node.axis.label)  # so that a tile of it may stay in registers
        return replace(node, axis=replace(node.axis, origin=one.origin, extent=extent))

    labels, sizes = nested_labels(state.program.func(func)), state.sized.fixed
    body = rewrite(nest(copies, labels, sizes=sizes), needed)
    begins = _begins_of_parts(kernel, func, state)
    body = through_parts(body, begins, lambda loop: loop.is_reduction)
    body = split_loops(body, kernel.splits)
    if kernel.order:
        body = reordered(body, kernel.order, labels)
    return tile_loops(body, {**tile_sizes(kernel.tiles, func), **taken})


def _taken_tiles(
    kernel: Kernel, func: str, ranges: Mapping[str, Range], readers: Readers
) -> dict[str, int]:
    """Return the labels along which a producer has the lanes of its readers."""
    tiles = tile_sizes(kernel.tiles, func)
    split = {item.label for item in kernel.splits}
    return {
        label: 0
        for axis, (label, one) in enumerate(ranges.items())
        if label not in tiles and label not in split and _is_a_tile(func, axis, one, readers)
    }


def _begins_of_parts(kernel: Kernel, func: str, state: State) -> dict[str, tuple[Axis, int]]:
    """Return the axis that numbers the parts of each label that a Func has parts of, and a size."""
    parts = state.program.parts
    axes = {axis.index.plain: axis for axis in finest(kernel.grid)}
    return {
        parts[label].of: (axes[label], parts[label].size)
        for label in state.program.func(func).labels
        if label in parts and label in axes
    }


def _is_a_tile(func: str, axis: int, one: Range, readers: Readers) -> bool:
    """Return whether a range is the tile that each reader's lanes walk where they read the axis."""
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
