"""Makes directives for a Program that every check short of dependences accepts.

First which Func is computed where, consumers before producers; then, for each kernel, its loops
and its options.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dtpoly.algorithm.expressions import Dot, Expr, Reduce, reads, walk
from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.operations import REDUCTION
from dtpoly.algorithm.program import (
    Argument,
    Directive,
    Func,
    Program,
    Split,
    in_order,
    producers,
    reduced_labels,
)
from dtpoly.directives.atomic import ATOMIC
from tests.generation.algorithms import Limits, algorithm
from tests.generation.choice import Choose, one_in, pick, shuffled, some

BLOCKS = (16, 1, 2, 7, 32, 100, 4096)
TILES = (0, 1, 2, 4, 16, 128)
FACTORS = (4, 1, 2, 3, 8)
COMBINED = ("rsum", "rmax", "rmin", "rany", "rall")


def program(choose: Choose, limits: Limits) -> Program:
    """Return a Program with a schedule."""
    unscheduled = algorithm(choose, limits)
    return replace(unscheduled, directives=schedule(choose, unscheduled))


def schedule(choose: Choose, program: Program) -> tuple[Directive, ...]:
    """Return directives for a Program, in any order."""
    placed = _place(choose, program)
    directives = list(placed.directives)
    for host in placed.kernels:
        directives.extend(_Kernel(program, host, placed.members(host)).directives(choose))
    return (*shuffled(choose, directives), *_flat(choose, program, placed))


def _flat(choose: Choose, program: Program, placed: "_Placed") -> Iterator[Directive]:
    """Yield directives that flatten loops.

    The loops are neighbours, or would be without others of these directives.
    """
    for host in placed.kernels:
        labels = _own_labels(program.func(host))
        if len(labels) > 1 and one_in(choose, 3):
            first = choose(len(labels) - 1)
            names = labels[first : first + 2 + choose(2)]
            yield Directive(host, "flatten", tuple(map(Argument, names)))


@dataclass(frozen=True, slots=True)
class _Placed:
    """Return the kernels in which each Func is computed, and the directive that decides this."""

    hosts: Mapping[str, tuple[str, ...]]
    inlined: frozenset[str]
    directives: tuple[Directive, ...]

    @property
    def kernels(self) -> tuple[str, ...]:
        return tuple(name for name, hosts in self.hosts.items() if name in hosts)

    def members(self, host: str) -> tuple[str, ...]:
        """Return the Funcs with loops in a kernel, its own Func first."""
        computed = (name for name, hosts in self.hosts.items() if host in hosts)
        return tuple(name for name in computed if name not in self.inlined)


def _own_labels(func: Func) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*func.labels, *reduced_labels(func))))


def _place(choose: Choose, program: Program) -> _Placed:
    below = producers(program)
    readers: dict[str, list[str]] = {name: [] for name in below}
    for name, read in below.items():
        for producer in read:
            readers[producer].append(name)
    hosts: dict[str, tuple[str, ...]] = {}
    inlined: set[str] = set()
    directives: list[Directive] = []
    for func in reversed(in_order(program)):
        name = func.name
        # A Func that reads an inlined reader reads this Func.
        effective: dict[str, None] = {}
        for reader in readers[name]:
            effective.update(dict.fromkeys(readers[reader] if reader in inlined else (reader,)))
        readers[name] = list(effective)
        compiled = not effective or one_in(choose, 6)
        fusible = [r for r in effective if _own_labels(program.func(r))]
        kind = choose(4)
        fused: tuple[str, ...] = ()
        if compiled:
            word = "compile_to_kernel" if one_in(choose, 4) else "compile"
            directives.append(Directive(name, word))
        elif kind == 1 and not reduced_labels(func):
            inlined.add(name)
            directives.append(Directive(name, "inline"))
            hosts[name] = tuple(dict.fromkeys(h for r in effective for h in hosts[r]))
            continue
        if kind >= 2 and fusible:
            consumer = pick(choose, fusible)
            label = pick(choose, _own_labels(program.func(consumer)))
            again = (Argument("recompute"),) if one_in(choose, 4) else ()
            arguments = (Argument(consumer), Argument(label), *again)
            directives.append(Directive(name, "fuse_at", arguments))
            fused = hosts[consumer]
        apart = any(host not in fused for reader in effective for host in hosts[reader])
        hosts[name] = ((name,) if compiled or apart else ()) + fused
    return _Placed(hosts, frozenset(inlined), tuple(directives))


@dataclass(frozen=True, slots=True)
class _Kernel:
    """The kernel of a Func, and the Funcs that are computed in it."""

    program: Program
    host: str
    members: tuple[str, ...]

    def directives(self, choose: Choose) -> Iterator[Directive]:
        """Yield its directives for loops and options, each kind at most once."""
        func = self.program.func(self.host)
        own = _own_labels(func)
        labels = tuple(
            dict.fromkeys(v for name in self.members for v in _own_labels(self.program.func(name)))
        )
        whole = _whole_labels(func)
        blocks = [self.block(choose, x) for x in some(choose, own) if x not in whole]
        splits = [
            Argument(label, Split(f"{label}_s", pick(choose, FACTORS)))
            for label in (some(choose, labels) if one_in(choose, 3) else ())
        ]
        limits: dict[str, int | None] = dict.fromkeys(labels)
        for block in blocks:
            limits[str(block.target)] = _number(block)
            if isinstance(block.value, Split):
                limits[block.value.name] = None
        for split in splits:
            # A tile of what is left of a split label surely fits only as a whole.
            limits[str(split.target)] = 0
            assert isinstance(split.value, Split)
            limits[split.value.name] = split.value.factor
        yield from self.settings(choose, "block", blocks)
        yield from self.settings(choose, "split", splits)
        if blocks and one_in(choose, 2):
            yield Directive(self.host, "map", _order(choose, [str(b.target) for b in blocks]))
        if labels and one_in(choose, 2):
            yield from self.settings(choose, "tensorize", list(self.tiles(choose, limits)))
        if len(labels) > 1 and one_in(choose, 4):
            loops = shuffled(choose, some(choose, tuple(limits), least=2))
            yield Directive(self.host, "reorder", tuple(map(Argument, loops)))
        if labels and one_in(choose, 5):
            factors = [Argument(v, pick(choose, FACTORS)) for v in some(choose, labels, least=1)]
            yield from self.settings(choose, "unroll", factors)
        yield from self.options(choose, blocks)

    def settings(
        self, choose: Choose, name: str, arguments: Sequence[Argument]
    ) -> Iterator[Directive]:
        """Yield one directive, or one for each argument."""
        if len(arguments) > 1 and one_in(choose, 4):
            yield from (Directive(self.host, name, (argument,)) for argument in arguments)
        elif arguments:
            yield Directive(self.host, name, tuple(arguments))

    def block(self, choose: Choose, label: str) -> Argument:
        """Return a block of a label; for a reduced label, perhaps with named partial results."""
        size = pick(choose, BLOCKS)
        is_partial = label not in self.program.func(self.host).labels
        named = is_partial and one_in(choose, 2)
        return Argument(label, Split(f"{label}b", size) if named else size)

    def tiles(self, choose: Choose, limits: Mapping[str, int | None]) -> Iterator[Argument]:
        """Yield tiles that fit their loops; some are for the loops of one Func only."""
        for label in some(choose, tuple(limits), least=1):
            limit = limits[label]
            fitting = [
                n for n in TILES if limit is None or n <= 1 << max(limit - 1, 0).bit_length()
            ]
            yield Argument(label, pick(choose, fitting if limit != 0 else (0,)))
        for name in self.members[1:]:
            for label in some(choose, _own_labels(self.program.func(name))):
                yield Argument(f"{name}.{label}", pick(choose, TILES))

    def is_atomic(self, body: Expr) -> bool:
        """True if memory can combine partial results.

        If callers decide the type, it is not certain that memory can.
        """
        dtype = types_of(self.program)[self.host].dtype
        operation = body.operation if isinstance(body, Reduce) else "rsum"
        return dtype in ATOMIC.get(operation, ())

    def options(self, choose: Choose, blocks: Sequence[Argument]) -> Iterator[Directive]:
        """Yield options, which do not change the loops."""
        body = self.program.func(self.host).body
        last = body.labels if isinstance(body, Dot | Reduce) else ()
        if isinstance(body, Reduce) and body.operation not in COMBINED:
            last = ()
        own = self.program.func(self.host).labels
        atomic = [
            Argument(block.target)
            for block in blocks
            if block.target in last and block.target not in own and isinstance(block.value, int)
        ]
        if atomic and one_in(choose, 2) and self.is_atomic(body):
            yield Directive(self.host, "atomic", tuple(atomic))
        bodies = [self.program.func(name).body for name in self.members]
        has_dot = any(isinstance(node, Dot) for body in bodies for node in walk(body))
        if has_dot and one_in(choose, 3):
            mode = pick(choose, ("ieee", "tf32", "tf32x3"))
            yield Directive(self.host, "precision", (Argument(mode),))
        if not one_in(choose, 3):
            return
        names = {tensor.name for tensor in self.program.tensors}
        inputs = dict.fromkeys(
            r.tensor for body in bodies for r in reads(body) if r.tensor in names
        )
        described = tuple(map(Argument, some(choose, tuple(inputs))))
        if described:
            yield Directive(self.host, "descriptor", described)
        if one_in(choose, 3):
            yield Directive(self.host, "persistent")
        if one_in(choose, 3):
            yield Directive(self.host, "warp_specialize")
        yield Directive(self.host, "num_warps", (Argument(pick(choose, (4, 1, 2, 8, 16, 32))),))
        if one_in(choose, 2):
            yield Directive(self.host, "num_stages", (Argument(1 + choose(5)),))


def _whole_labels(func: Func) -> set[str]:
    """Return the labels of reductions that give a list: they have no partial results."""
    return {
        label
        for node in walk(func.body)
        if isinstance(node, Reduce) and not REDUCTION[node.operation].has_parts
        for label in node.labels
        if label not in func.labels
    }


def _number(block: Argument) -> int:
    match block.value:
        case Split(factor=factor):
            return factor
        case int(size):
            return size
        case _:
            raise AssertionError(block)


def _order(choose: Choose, labels: Sequence[str]) -> tuple[Argument, ...]:
    """Return loops over blocks in any order, some in groups."""
    order: list[Argument] = []
    inner: list[Argument] = []
    for label in shuffled(choose, labels):
        if one_in(choose, 3):
            order.append(Argument(label, Split(f"{label}_m", pick(choose, FACTORS))))
            inner.append(Argument(f"{label}_m"))
        else:
            order.append(Argument(label))
    return (*order, *shuffled(choose, inner))
