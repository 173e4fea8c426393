"""Computes which kernels a scheduled Program has, and what is fused where.

This is a separate account: it reads the directives as data and shares no code with the checks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dtpoly.algorithm.program import Directive, Func, Program, producers, reduced_labels
from dtpoly.directives.atomic import Atomic
from dtpoly.directives.block import Block
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.directives.compile import Compile
from dtpoly.directives.fuse_at import FuseAt
from dtpoly.directives.inline import Inline
from dtpoly.directives.reorder import Reorder
from dtpoly.directives.split import SplitLoop
from dtpoly.directives.tensorize import Tensorize
from dtpoly.schedule.argument_values import Divided
from dtpoly.schedule.bound_primitives import bind

# The names of users' primitives.
REWRITES = (
    *("interchange", "skew", "backwards", "lean", "distribute", "spread"),
    *("upside_down", "forget", "flatten", "shorten"),
)


class Unclear(ValueError):
    """A schedule that the specification does not explain."""


@dataclass(slots=True)
class Settings:
    """The directives on one Func, as they concern the loops of its kernel."""

    blocks: dict[str, int] = field(default_factory=dict[str, int])
    partials: dict[str, str] = field(default_factory=dict[str, str])  # names, by label
    splits: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    order: tuple[str, ...] = ()
    tiles: dict[tuple[str | None, str], int] = field(
        default_factory=dict[tuple[str | None, str], int]
    )
    atomic: frozenset[str] = frozenset()
    rewrites: tuple[Directive, ...] = ()  # users' primitives, in order

    def tile(self, func: str, loop: str) -> int | None:
        """Return the tile of a loop of a Func in this kernel, or None if it has no lanes."""
        return self.tiles.get((func, loop), self.tiles.get((None, loop)))


@dataclass(frozen=True, slots=True)
class Fusion:
    """A directive `func.fuse_at(consumer, loop)`."""

    func: str
    consumer: str
    loop: str
    recompute: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """The kernels in the order in which they run.

    For each kernel it has the Funcs that are fused in, consumers first. `stores` has results that
    the kernel of another Func stores, by that Func, and `along` the label of that Func's reduction
    in whose loop it does so.
    """

    inlined: frozenset[str]
    compiled: tuple[str, ...]  # and other results, in the order of the Program
    stores: Mapping[str, tuple[str, ...]]
    along: Mapping[str, str]
    order: tuple[str, ...]  # of the Funcs that are needed: whatever needs another one comes after
    fused: Mapping[str, tuple[Fusion, ...]]
    settings: Mapping[str, Settings]


def plan(program: Program) -> Plan:
    """Read the directives of a Program, which must pass the checks of `check_schedule`."""
    settings: dict[str, Settings] = {func.name: Settings() for func in program.funcs}
    inlined: set[str] = set()
    wanted: set[str] = set()
    returned: dict[str, set[str]] = {}  # by whose functions
    fusions: list[Fusion] = []
    for primitive in bind(program.directives, DIRECTIVES).primitives:
        mine = settings[primitive.func]
        match primitive:
            case Compile(results=results):
                wanted.add(primitive.func)
                for result in results:
                    returned.setdefault(result.text, set()).add(primitive.func)
            case Inline():
                inlined.add(primitive.func)
            case FuseAt(consumer=consumer, label=label, recompute=recompute):
                fusions.append(Fusion(primitive.func, consumer.text, label.text, recompute))
            case Block(blocks=blocks):
                for item in blocks:
                    if not isinstance(item, Divided) and item.producer is not None:
                        raise Unclear(f"blocks of the kernel that merges parts: {item}")
                    mine.blocks[item.label] = item.size
                    if isinstance(item, Divided):
                        mine.partials[item.label] = item.new
            case SplitLoop(splits=splits):
                mine.splits.update((item.label, (item.new, item.size)) for item in splits)
            case Reorder(loops=loops):
                mine.order = tuple(loop.text for loop in loops)
            case Tensorize(tiles=tiles):
                mine.tiles.update(((item.producer, item.label), item.size) for item in tiles)
            case Atomic(labels=labels):
                mine.atomic |= {label.text for label in labels}
            case _:
                pass
    for directive in program.directives:
        if directive.name in REWRITES:
            settings[directive.func].rewrites += (directive,)
    # In the order of a set, which differs between processes, kernels would trade places.
    every = tuple(f.name for f in program.funcs if f.name in wanted or f.name in returned)
    stores = _stores(program, returned, wanted, inlined, fusions)
    along = _along(program, stores, fusions, settings)
    reads = _with_stores(producers(program), stores)
    order = _sorted(_readers_first(program, reads, every), every or tuple(reads))
    kept = tuple(name for name in every if name not in stores)
    hosts, fused = _hosts(reads, frozenset(inlined), kept, fusions, frozenset(order), stores)
    kernels = {name: tuple(fused[name]) for name in order if name in hosts[name]}
    by_host = {host: tuple(r for r in order if stores.get(r) == host) for host in kernels}
    return Plan(frozenset(inlined), every, by_host, along, order, kernels, settings)


def _stores(
    program: Program,
    returned: Mapping[str, set[str]],
    wanted: set[str],
    inlined: set[str],
    fusions: list[Fusion],
) -> dict[str, str]:
    """Return the Func whose kernel stores each result: the first that it can be fused into.

    What a function is named after comes first. Only another result of this function, which does
    not read it, can store it.
    """
    reads = {name: [*names] for name, names in producers(program).items()}
    fused = {fusion.func for fusion in fusions}
    needed = set(_sorted(reads, [*wanted, *returned]))
    found: dict[str, str] = {}
    names = [func.name for func in program.funcs]
    named_after = [name for name in names if name in wanted]
    for result in (*named_after, *(n for n in names if n in returned and n not in wanted)):
        into = {fusion.consumer for fusion in fusions if fusion.func == result}
        hosts = [f.name for f in program.funcs if f.name in into]
        hosts = [host for host in hosts if host in wanted or host not in fused]
        hosts = [host for host in hosts if host in needed and host not in inlined]
        hosts = [host for host in hosts if host not in _below(reads, result)]
        hosts = [host for host in hosts if host not in found]
        if result in wanted:
            hosts = [host for host in hosts if result in returned.get(host, ())]
            hosts = [host for host in hosts if result not in _below(reads, host)]
        if hosts:
            found[result] = hosts[0]
            reads[hosts[0]].append(result)
    return found


def _along(
    program: Program,
    stores: Mapping[str, str],
    fusions: list[Fusion],
    settings: Mapping[str, Settings],
) -> dict[str, str]:
    """Return the label of the reduction in whose loop each result is stored, if it is."""
    found: dict[str, str] = {}
    for fusion in fusions:
        if stores.get(fusion.func) != fusion.consumer:
            continue
        host, splits = program.func(fusion.consumer), settings[fusion.consumer].splits
        label = fusion.loop
        while label in {new for new, _ in splits.values()}:
            label = next(old for old, (new, _) in splits.items() if new == label)
        result = program.func(fusion.func)
        if label in result.labels and label in _reduced(host):
            found[result.name] = label
    for name, store in stores.items():
        cut = _reduced(program.func(store)) & settings[store].blocks.keys()
        result = program.func(name)
        if cut & (_reduced(result) | ({*result.labels} if name in found else set())):
            raise Unclear(f"{name} would be computed in parts")
    return found


def _reduced(func: Func) -> set[str]:
    return set(reduced_labels(func)) - {*func.labels}


def _below(reads: Mapping[str, Sequence[str]], name: str) -> set[str]:
    """Return a Func and all that it needs."""
    found = {name}
    for other in reads[name]:
        if other not in found:
            found |= _below(reads, other)
    return found


def _with_stores(
    reads: Mapping[str, tuple[str, ...]], stores: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Return what each Func reads: a host also its results, which it stores."""
    found = dict(reads)
    for result, host in stores.items():
        if result not in found[host]:
            found[host] = (*found[host], result)
    return found


def _readers_first(
    program: Program, reads: Mapping[str, tuple[str, ...]], every: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Return what comes before each Func: also readers of the input that it replaces in place."""
    found = dict(reads)
    order = _sorted(reads, every or tuple(reads))
    taken = {func.into.tensor: func.name for func in program.funcs if func.into is not None}
    for reader in order:
        body = repr(program.func(reader).body)
        for tensor, writer in taken.items():
            is_read = f"tensor='{tensor}'" in body and writer in order
            if is_read and writer not in _below(found, reader) and reader not in found[writer]:
                found[writer] = (*found[writer], reader)
    return found


def _sorted(reads: Mapping[str, Sequence[str]], wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the wanted Funcs and all that they need, producers first."""
    found: dict[str, None] = {}

    def add(name: str) -> None:
        for below in reads[name]:
            if below not in found:
                add(below)
        found[name] = None

    for name in wanted:
        if name not in found:
            add(name)
    return tuple(found)


def _hosts(
    reads: Mapping[str, tuple[str, ...]],
    inlined: frozenset[str],
    compiled: tuple[str, ...],
    fusions: list[Fusion],
    needed: frozenset[str],
    stores: Mapping[str, str],
) -> tuple[dict[str, set[str]], dict[str, list[Fusion]]]:
    """Return for each Func the kernels that compute it, and for each kernel what is fused in."""
    hosts: dict[str, set[str]] = {}
    fused: dict[str, list[Fusion]] = {name: [] for name in reads}
    for name in reversed(_sorted(reads, tuple(reads))):
        readers = [reader for reader in reads if name in reads[reader]]
        around = {host for reader in readers for host in hosts[reader]}
        if name in inlined:
            hosts[name] = around
            continue
        mine: set[str] = set()
        for fusion in (fusion for fusion in fusions if fusion.func == name):
            for host in hosts.get(fusion.consumer, ()):
                if not _is_read(name, fusion.consumer, host, reads, hosts):
                    continue
                if host in mine:
                    raise Unclear(f"{name} is fused into the kernel of {host} twice")
                mine.add(host)
                fused[host].append(fusion)
        counted = needed if name in needed else set(reads)
        apart = (around & counted) - mine
        if name not in stores and (name in compiled or apart or not readers):
            mine = mine | {name}
        hosts[name] = mine
    return hosts, fused


def _is_read(
    name: str,
    consumer: str,
    host: str,
    reads: Mapping[str, tuple[str, ...]],
    hosts: Mapping[str, set[str]],
) -> bool:
    """True if a consumer reads a Func, directly or through others of one kernel."""
    pending, seen = [consumer], {consumer}
    while pending:
        for below in reads[pending.pop()]:
            if below == name:
                return True
            if below not in seen and host in hosts.get(below, ()):
                seen.add(below)
                pending.append(below)
    return False
