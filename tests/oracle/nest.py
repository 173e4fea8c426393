"""Computes every statement instance of a scheduled Program at sizes, with its place and its cells.

It finds loops, blocks, tiles, and the elements that are needed of a fused Func, all by enumeration.
Where the specification leaves something open, it is read like this:

- A label that is on the left and is also reduced has one place in the order of loops, its first
  one.
- If `reorder`, `split` or `tensorize` names a loop, this means the loop of every Func of the
  kernel; `reorder` moves those of the named loops that a Func has. Lanes and steps of a split loop
  are counted in its own iterations.
- Each reduction that `block` splits has a first kernel of its own, before the next one that needs
  it; its grid has those of the Func's blocked labels that the result keeps. A fusion into the Func
  is a fusion into each of these kernels that reads the producer.
- If no loop is around all reads, the producer is computed nowhere in the kernel, and none of the
  reads finds a value. A block is a loop of the kernel's own Func only.
- An instance counts as recomputed if any statement of the producer is, not only its value.
- `recompute` on a Func says nothing about producers that are fused into it.
- Tiles of a fused Func start at the smallest index of the label that T needs at all.
- A label takes the reader's lanes if every read has it at one lane dimension alone, and T holds a
  single tile of this by construction: its loop is T's or further out, or has one step.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from dtpoly.algorithm.program import Program, scanned_labels
from tests.oracle.built import Built, Placed, Recomputed
from tests.oracle.cells import NOWHERE, Cells, Indices, Key, Reading
from tests.oracle.following import (
    LARGE,
    AllFollowed,
    Follow,
    Followed,
    Needed,
    around_loop,
    arrays_of,
    begins_apart,
    begins_outside,
    followed_scans,
    go_back,
)
from tests.oracle.kernels import Plan, plan
from tests.oracle.layout import Layout, Path, Times, lay_out
from tests.oracle.lines import Line, Nest, global_results, loop_order, nests, whole
from tests.oracle.members import FuncInKernel, LoopNode
from tests.oracle.needed_steps import Sizes, closure
from tests.oracle.reader_lanes import taken_lanes
from tests.oracle.rewritten import Moved, ranked, rewritten
from tests.oracle.said import Fusion, Settings
from tests.oracle.scan_turns import begins_inside, starts_of_scans
from tests.oracle.statements import LEFT, Dim, Meaning, Taken, all_taken, meanings
from tests.oracle.ways import Way, way_along


def build(program: Program, sizes: Sizes, taken: Taken = all_taken) -> Built:
    """Return all instances of a scheduled Program, kernel after kernel."""
    known = plan(program)
    fused = {one.func for fusions in known.fused.values() for one in fusions}
    followed: AllFollowed = {}
    if any(scanned_labels(known.program.func(name)) for name in fused):
        fixed = {one.name: one.size for one in known.program.labels if one.size is not None}
        followed = _built(known, {name: fixed.get(name, LARGE) for name in sizes}).followed
    return _built(known, sizes, taken, followed)


def _built(
    known: Plan, sizes: Sizes, taken: Taken = all_taken, followed: AllFollowed | None = None
) -> Built:
    """Return all instances; what scans follow is found out unless it is said."""
    program, sizes = known.program, known.sized(sizes)
    meaning = meanings(program, known.inlined, sizes, taken, known.cuts)
    built = Built()
    number = 0
    for name in known.order:
        if name not in known.fused:
            continue
        results = known.stores[name]
        stored = [meaning[one] for one in results]
        for nest in nests(meaning[name], known.settings[name], stored, known.along):
            _Kernel(number, nest, name, known, meaning, sizes, built, followed).build()
            number += 1
        for one in (name, *results):
            dims = [range(sizes[label]) for label in program.func(one).labels]
            built.stored.extend((one, None, indices) for indices in product(*dims))
    return built


class _Kernel:
    """Builds one kernel: first its own Func, then the fused Funcs, consumers first."""

    def __init__(
        self,
        number: int,
        nest: Nest,
        host: str,
        known: Plan,
        meaning: Mapping[str, Meaning],
        sizes: Sizes,
        built: Built,
        followed: AllFollowed | None,
    ) -> None:
        self.number, self.nest, self.host, self.sizes = number, nest, host, sizes
        self.followed = followed
        self.settings: Settings = known.settings[host]
        self.meaning, self.built = meaning, built
        self.fusions = known.fused[host]
        self.inside = {fusion.func for fusion in self.fusions}
        self.walks = {name: one.walks for name, one in known.settings.items()}
        self.members: dict[str, FuncInKernel] = {}
        self.slots: dict[Path, int] = {}
        self.turned: set[Path] = set()

    def build(self) -> None:
        self.place_host()
        for fusion in self.fusions:
            self.place_fused(fusion)
        ways = {
            line: way_along(m.around, line.func, m.layout, m.layout.places[line].positions)
            for m in self.members.values()
            for line in m.lines
        }
        self.built.hosts.append(self.host)
        if self.settings.rewrites and not self.nest.is_zero:
            self.rewrite(ways)
        else:
            self.built.ways.update(ways)
        for member in self.members.values():
            for instances in member.placed.values():
                self.built.placed.extend(instances)

    def rewrite(self, ways: Mapping[Line, Way]) -> None:
        """Apply users' primitives."""
        rewritings = rewritten(self.settings.rewrites, self.host, ways, self.sizes)
        last = rewritings[-1].ways
        ranks = ranked(last)
        for member in self.members.values():
            for line, instances in member.placed.items():
                kept: list[Placed] = []
                for one in instances:
                    moved = Moved(one.program, ways[line].values(one.time))
                    for rewriting in rewritings:
                        moved = rewriting.move(line, one.indices, moved)
                    if moved.is_lost:
                        self.built.lost.append(one)
                        continue
                    time = [0] * (2 * len(moved.values) + 1)
                    time[::2], time[1::2] = ranks[line], moved.values
                    kept.append(one._replace(program=moved.program, time=tuple(time)))
                member.placed[line] = kept

    def is_member(self, name: str) -> bool:
        return name in self.inside

    # The kernel's own Func

    def place_host(self) -> None:
        meaning, nest = self.meaning[self.host], self.nest
        order = loop_order(meaning, nest.lines, nest.fixed)
        layout = lay_out(
            nest.lines,
            order,
            self.settings,
            lambda name: self.settings.tile(self.host, name),
            nest.fixed,
        )
        origins = {dim: (self.host, dim) for line in nest.lines for dim in line.dims}
        member = FuncInKernel(meaning, nest.lines, layout, (), 0, Way(), origins)
        member.placed = {line: [] for line in nest.lines}
        self.members[self.host] = member
        cells = {
            line: Cells(line, global_results(nest.lines), self.is_member) for line in nest.lines
        }
        counts = [range(-(-self.sizes[dim.label] // size)) for dim, size in nest.axes]
        for program in product(*counts):
            self.place_program(member, cells, program)

    def place_program(
        self, member: FuncInKernel, cells: Mapping[Line, Cells], program: Indices
    ) -> None:
        ranges = self.ranges(program)
        private: Key = (self.number, program, ())
        keys: dict[str, Key] = {}
        for line in member.lines:
            if line.role in ("combine", "scan") and line.reduction is not None:
                kept, scan = line.reduction.kept, line.reduction.scan
                carried = [dim for dim in kept if scan is None or dim != scan.dim]
                axes = [dim for dim, _ in self.nest.axes]
                # What a scan carries on in its part is the program's own.
                accumulator = f"{line.func}.{line.reduction.number}"
                keys[accumulator] = None if {*axes} <= {*carried} else private
                keys[line.target] = None if {*axes} <= {*kept} else private
        alive = self.needed_reductions(member, ranges)
        for line in member.lines:
            inner = line.reduction is not None and line.role != "store"
            if inner and _number(line) not in alive:
                continue
            if line.role == "kept" and not self.is_first_of_others(line, program):
                continue
            walked = [ranges(dim) for dim in line.dims]
            starts = [r.start for r in walked]
            place, mine = member.layout.places[line], cells[line]
            target_key = keys.get(line.target)
            append = member.placed[line].append
            for indices in product(*walked):
                if not line.takes(indices):
                    continue
                time, lane = place.at(indices, starts)
                reads, write = mine.of(indices, None, target_key, keys)
                append(Placed(self.number, program, time, lane, line, indices, reads, write))
                if target_key is not None and begins_inside(line, indices, walked):
                    # What a program computes for itself, it must compute from the first step on.
                    self.built.lost.append(member.placed[line][-1])

    def is_first_of_others(self, line: Line, program: Indices) -> bool:
        """Return whether a program has the first block of each label that a statement lacks."""
        pairs = zip(self.nest.axes, program, strict=True)
        owned = {self.nest.parts[dim][0] for dim in line.dims if dim in self.nest.parts}
        return all(b == 0 for (dim, _), b in pairs if dim not in line.dims and dim not in owned)

    def ranges(self, program: Indices) -> Callable[[Dim], range]:
        """Return a function that gives the indices of each dimension that one program walks."""
        fixed: dict[Dim, range] = {}
        for (dim, size), block in zip(self.nest.axes, program, strict=True):
            end = min(size * (block + 1), self.sizes[dim.label])
            fixed[dim] = range(size * block, end)
        bound = [
            pair for pair in zip(self.nest.axes, program, strict=True) if pair[0][0].binder != LEFT
        ]
        for dim, (_, block) in zip(self.nest.fixed, bound, strict=False):
            fixed[dim] = range(block, block + 1)
        number_of = {dim: b for (dim, _), b in zip(self.nest.axes, program, strict=True)}
        for dim, (number, size) in self.nest.parts.items():
            begin = size * number_of[number]
            fixed[dim] = range(begin, min(begin + size, self.sizes[dim.label]))
        return lambda dim: fixed[dim] if dim in fixed else range(self.extent(dim))

    def extent(self, dim: Dim) -> int:
        """Return how many indices a dimension has; for partial results, these are blocks."""
        if dim.label in self.sizes:
            return self.sizes[dim.label]
        names = {self.settings.partials.get(k, f"{k}'"): k for k in self.settings.blocks}
        label = names[dim.label]
        return -(-self.sizes[label] // self.settings.blocks[label])

    def needed_reductions(self, member: FuncInKernel, ranges: Callable[[Dim], range]) -> set[int]:
        """Return the reductions that a program computes.

        Reductions that a program computes only for itself are left out if it does not read them.
        One part of a reduction, which is one block of the labels that it binds, belongs to the
        program.
        """
        alive: set[int] = set()
        updates = {
            line.reduction.number: line
            for line in member.lines
            if line.role in ("update", "scan") and line.reduction is not None
        }
        parents: dict[int, Line] = {}
        for line in member.lines:
            for array, _ in line.results:
                if array.endswith("=") and line.role != "combine":
                    parents[int(array.split(".")[1].rstrip("="))] = line
        for number in sorted(updates):
            reduction = updates[number].reduction
            assert reduction is not None
            parent = parents[number]
            mine = (*reduction.kept, *reduction.bound)
            owned = all(dim in mine for dim, _ in self.nest.axes)
            is_read = all(len(ranges(dim)) for dim in parent.dims)
            inside = parent.reduction is None or parent.role == "store"
            is_read = is_read and (inside or _number(parent) in alive)
            if owned or is_read:
                alive.add(number)
        return alive

    # Fused Funcs

    def place_fused(self, fusion: Fusion) -> None:
        meaning = self.meaning[fusion.func]
        readings = [
            (member, line, [Reading(a, line) for a in line.accesses if a.func == fusion.func])
            for member in self.members.values()
            for line in member.lines
        ]
        readings = [reading for reading in readings if reading[2]]
        if not readings:
            return
        node = self.find_node(fusion, [(m, line) for m, line, _ in readings])
        needed: dict[tuple[Indices, Times], set[Indices]] = {}
        for member, line, mine in readings:
            for instance in member.placed[line]:
                found = [reading.at(instance.indices) for reading in mine]
                elements = [element for element in found if element is not None]
                key = NOWHERE
                if node is not None:
                    place = (instance.program, instance.time[: node.depth])
                    needed.setdefault(place, set()).update(elements)
                    key = (self.number, *place)
                instance.reads.extend((fusion.func, key, element) for element in elements)
        if node is None:
            return
        lines = whole(meaning)
        taken = taken_lanes(self.nest, self.settings, meaning, (node, readings))
        followed = self.follows(fusion, meaning, node, needed)
        order = loop_order(meaning, lines, ())

        def laid_out(some: Sequence[Line]) -> Layout:
            """Return the loops of some statements of the fused Func."""
            return lay_out(
                some,
                order,
                self.settings,
                lambda name: 0 if name in taken else self.settings.tile(fusion.func, name),
                (),
            )

        layout = begins_apart(lines, followed, laid_out)
        slot = self.slots[node.path] = self.slots.get(node.path, 0) - 1
        origins = {dim: (fusion.func, dim) for line in lines for dim in line.dims}
        origins.update((Dim(label), origin) for label, origin in taken.items())
        consumer = self.members[fusion.consumer]
        around = way_along(consumer.around, fusion.consumer, consumer.layout, (*node.local, slot))
        member = FuncInKernel(
            meaning, lines, layout, (*node.path, slot), node.depth + 1, around, origins
        )
        member.placed = {line: [] for line in lines}
        self.members[fusion.func] = member
        self.place_copies(fusion, member, slot, node, (followed, needed))

    def find_node(
        self, fusion: Fusion, readers: list[tuple[FuncInKernel, Line]]
    ) -> LoopNode | None:
        """Return the innermost loop of the consumer around all reads, else its block, else None."""
        consumer = self.members.get(fusion.consumer)
        if consumer is None:
            return None
        paths = [(*m.path, *m.layout.places[line].positions) for m, line in readers]
        found: LoopNode | None = None
        blocks = {dim.label for dim, _ in self.nest.axes} - self.settings.scan_parts.keys()
        if consumer.depth == 0 and fusion.loop in blocks:
            found = LoopNode((), 0, ())
        for local, name in consumer.layout.nodes.items():
            path = (*consumer.path, *local)
            if name == fusion.loop and all(p[: len(path)] == path for p in paths):
                found = LoopNode(path, consumer.depth + 2 * len(local), local)
        return found

    def place_copies(
        self,
        fusion: Fusion,
        member: FuncInKernel,
        slot: int,
        node: LoopNode,
        follow: Follow,
    ) -> None:
        followed, needed = follow
        meaning, seen = member.meaning, dict[tuple[Indices, int, Indices], Times]()
        cells = {line: Cells(line, {}, self.is_member) for line in member.lines}
        self.begin_once(member, node, follow, cells)
        consumer = self.members[fusion.consumer]
        turned = self.turn_loop(meaning, consumer, node, follow)
        sizes = [self.sizes[dim.label] for dim in meaning.dims]
        value = member.lines[-1]
        for (program, before), elements in needed.items():
            if not elements:
                continue
            outside = {e for e in elements if not _is_inside(e, sizes)}
            if outside and self.followed is not None:
                raise ValueError(f"{meaning.name}{list(min(outside))} is outside")
            # Which scans follow loops is asked at sizes that a call may not have.
            elements = elements - outside
            if not elements:
                continue
            starts = {dim: min(e[at] for e in elements) for at, dim in enumerate(meaning.dims)}
            key: Key = (self.number, program, before)
            prefix = (*turned(before), slot)
            instances = closure(meaning, elements, self.sizes, followed)
            # What a scan carries from one iteration to the next has no copy for each.
            once: Key = (self.number, program, before[:-2])
            keys = dict.fromkeys((array for line in member.lines for array in arrays_of(line)), key)
            keys |= dict.fromkeys((a for arrays in followed.values() for a in arrays), once)
            starts |= starts_of_scans(meaning, instances)
            for label, (number, size) in self.walks[fusion.func].items():
                bound = (dim for one in meaning.reductions for dim in one.bound)
                begin_of_part = size * starts[Dim(number)]
                starts |= {dim: begin_of_part for dim in bound if dim.label == label}
            for at, line in enumerate(member.lines):
                if begins_outside(line, followed):
                    continue
                place, mine = member.layout.places[line], cells[line]
                begin = [starts.get(dim, 0) for dim in line.dims]
                for indices in (
                    sorted(elements) if line is value else instances[line.role, _number(line)]
                ):
                    time, lane = place.at(indices, begin)
                    reads, write = mine.of(indices, key, keys[line.target], keys)
                    placed = Placed(
                        self.number, program, prefix + time, lane, line, indices, reads, write
                    )
                    member.placed[line].append(placed)
                    if fusion.recompute:
                        continue
                    first = seen.setdefault((program, at, indices), before)
                    if first != before:
                        self.built.recomputed.append(
                            Recomputed(self.number, program, line, indices, first, before)
                        )

    def turn_loop(
        self, meaning: Meaning, consumer: FuncInKernel, node: LoopNode, follow: Follow
    ) -> Callable[[Times], Times]:
        """Let a loop go backwards if the scans that follow it do; return how times change."""
        followed, needed = follow
        if (
            not go_back(meaning, followed)
            or node.path in self.turned
            or consumer.layout.is_back(node.local)
        ):
            return lambda time: time
        self.turned.add(node.path)
        at = node.depth - 1
        inside = {(program, before[:at]) for program, before in needed}

        def turned(time: Times) -> Times:
            return (*time[:at], -time[at], *time[at + 1 :])

        for member in self.members.values():
            for line, instances in member.placed.items():
                member.placed[line] = [
                    one._replace(time=turned(one.time))
                    if (one.program, one.time[:at]) in inside and len(one.time) > at
                    else one
                    for one in instances
                ]
        return turned

    def follows(self, fusion: Fusion, meaning: Meaning, node: LoopNode, needed: Needed) -> Followed:
        """Return the scans that follow the loop of a fusion."""
        if fusion.recompute or not node.local:
            return {}
        at = (self.number, fusion.func)
        if self.followed is None:
            self.built.followed[at] = followed_scans(meaning, needed, self.sizes)
        return (self.built.followed if self.followed is None else self.followed).get(at, {})

    def begin_once(
        self,
        member: FuncInKernel,
        node: LoopNode,
        follow: Follow,
        cells: Mapping[Line, Cells],
    ) -> None:
        """Place the beginnings of scans that follow the loop of a fusion before it."""
        followed, needed = follow
        if not followed:
            return
        around = around_loop(needed)
        outside = node.path[:-1]
        slot = self.slots[outside] = self.slots.get(outside, 0) - 1
        dims = member.meaning.dims
        begins = [one for one in member.lines if begins_outside(one, followed)]
        for (program, before), elements in around.items():
            instances = closure(member.meaning, elements, self.sizes)
            starts = {dim: min((e[at] for e in elements), default=0) for at, dim in enumerate(dims)}
            key: Key = (self.number, program, before)
            for line in begins:
                begin = [starts.get(dim, 0) for dim in line.dims]
                for indices in instances["init", _number(line)]:
                    time, lane = member.layout.places[line].at(indices, begin)
                    own = (lane, line, indices, *cells[line].of(indices, key, key))
                    placed = Placed(self.number, program, (*before, slot, *time), *own)
                    member.placed[line].append(placed)


def _is_inside(element: Indices, sizes: Sequence[int]) -> bool:
    return all(0 <= i < n for i, n in zip(element, sizes, strict=True))


def _number(line: Line) -> int:
    return -1 if line.reduction is None else line.reduction.number
