"""Computes which kernels a scheduled Program has, and what is fused where.

This is a separate account: it reads the directives as data and shares no code with the checks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dtpoly.algorithm.program import Directive, Program, in_order, producers
from dtpoly.directives.atomic import Atomic
from dtpoly.directives.block import Block
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.directives.compile import Compile
from dtpoly.directives.fuse_at import FuseAt
from dtpoly.directives.inline import Inline
from dtpoly.directives.reorder import Reorder
from dtpoly.directives.split import Split
from dtpoly.directives.tensorize import Tensorize
from dtpoly.schedule.primitives import bind
from dtpoly.schedule.values import Divided

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

    For each kernel it has the Funcs that are fused in, consumers first.
    """

    inlined: frozenset[str]
    compiled: tuple[str, ...]  # in the order of the Program
    fused: Mapping[str, tuple[Fusion, ...]]
    settings: Mapping[str, Settings]


def plan(program: Program) -> Plan:
    """Read the directives of a Program, which must pass the checks of `check_schedule`."""
    settings: dict[str, Settings] = {func.name: Settings() for func in program.funcs}
    inlined: set[str] = set()
    wanted: set[str] = set()
    fusions: list[Fusion] = []
    for primitive in bind(program.directives, DIRECTIVES).primitives:
        mine = settings[primitive.func]
        match primitive:
            case Compile():
                wanted.add(primitive.func)
            case Inline():
                inlined.add(primitive.func)
            case FuseAt(consumer=consumer, label=label, recompute=recompute):
                fusions.append(Fusion(primitive.func, consumer.text, label.text, recompute))
            case Block(blocks=blocks):
                for item in blocks:
                    mine.blocks[item.label] = item.size
                    if isinstance(item, Divided):
                        mine.partials[item.label] = item.new
            case Split(splits=splits):
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
    compiled = tuple(func.name for func in program.funcs if func.name in wanted)
    needed = in_order(program, compiled or None)
    hosts, fused = _hosts(program, frozenset(inlined), compiled, fusions)
    kernels = {f.name: tuple(fused[f.name]) for f in needed if f.name in hosts[f.name]}
    return Plan(frozenset(inlined), compiled, kernels, settings)


def _hosts(
    program: Program, inlined: frozenset[str], compiled: tuple[str, ...], fusions: list[Fusion]
) -> tuple[dict[str, set[str]], dict[str, list[Fusion]]]:
    """Return for each Func the kernels that compute it, and for each kernel what is fused in."""
    reads = producers(program)
    needed = {func.name for func in in_order(program, compiled or None)}
    hosts: dict[str, set[str]] = {}
    fused: dict[str, list[Fusion]] = {name: [] for name in reads}
    for func in reversed(in_order(program)):
        name = func.name
        readers = [reader for reader in reads if name in reads[reader]]
        around = {host for reader in readers for host in hosts[reader]}
        if name in inlined:
            hosts[name] = around
            continue
        mine: set[str] = set()
        for fusion in (fusion for fusion in fusions if fusion.func == name):
            for host in hosts[fusion.consumer]:
                if not _is_read(name, fusion.consumer, host, reads, hosts):
                    continue
                if host in mine:
                    raise Unclear(f"{name} is fused into the kernel of {host} twice")
                mine.add(host)
                fused[host].append(fusion)
        counted = needed if name in needed else set(reads)
        apart = (around & counted) - mine
        if name in compiled or apart or not readers:
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
