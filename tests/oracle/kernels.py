"""Computes which kernels a scheduled Program has, and what is fused where.

This is a separate account: it reads the directives as data and shares no code with the checks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dtpoly.algorithm.program import Func, Program, producers, reduced_labels
from tests.oracle.parts import divided
from tests.oracle.said import Fusion, Settings, Unclear, read
from tests.oracle.scans_cut import with_cut_scans


@dataclass(frozen=True, slots=True)
class Plan:
    """The kernels in the order in which they run.

    For each kernel it has the Funcs that are fused in, consumers first. `stores` has results that
    the kernel of another Func stores, by that Func, and `along` the label of that Func's reduction
    in whose loop it does so. In the Program, Funcs that are computed in parts are divided; the
    `parts` are labels that number parts, what they cut, and the length of a part.
    """

    program: Program
    parts: Mapping[str, tuple[str, int]]
    inlined: frozenset[str]
    compiled: tuple[str, ...]  # and other results, in the order of the Program
    stores: Mapping[str, tuple[str, ...]]
    along: Mapping[str, str]
    order: tuple[str, ...]  # of the Funcs that are needed: whatever needs another one comes after
    fused: Mapping[str, tuple[Fusion, ...]]
    settings: Mapping[str, Settings]

    @property
    def cuts(self) -> Mapping[str, Mapping[str, int]]:
        """Return the length of the parts in which scans begin anew, by Func and label."""
        return {name: one.scan_parts for name, one in self.settings.items()}

    def sized(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Return the sizes with how many parts there are."""
        return {**sizes, **{new: -(-sizes[of] // n) for new, (of, n) in self.parts.items()}}


def plan(program: Program) -> Plan:
    """Plan the kernels of a Program, which must pass the checks of `check_schedule`."""
    said = with_cut_scans(read(program))
    stores = _stores(said.program, said.returned, said.wanted, said.inlined, said.fusions)
    said = divided(said, stores, _along(said.program, stores, said.fusions, said.settings))
    program, settings, fusions = said.program, said.settings, said.fusions
    stores = _stores(program, said.returned, said.wanted, said.inlined, fusions)
    along = _along(program, stores, fusions, settings)
    for name, store in stores.items():
        cut = _reduced(program.func(store)) & settings[store].blocks.keys()
        if name in along and cut & {*program.func(name).labels}:
            raise Unclear(f"{name} would be stored in parts that are no parts of an algorithm")
    # In the order of a set, which differs between processes, kernels would trade places.
    asked = said.wanted | said.returned.keys()
    every = tuple(f.name for f in program.funcs if f.name in asked)
    reads = _with_stores(producers(program), stores)
    order = _sorted(_readers_first(program, reads, every), every or tuple(reads))
    kept = tuple(name for name in every if name not in stores)
    inlined = frozenset(said.inlined)
    hosts, fused = _hosts(reads, inlined, kept, fusions, frozenset(order), stores)
    kernels = {name: tuple(fused[name]) for name in order if name in hosts[name]}
    by_host = {host: tuple(r for r in order if stores.get(r) == host) for host in kernels}
    parts = {new: (of, size) for one in settings.values() for of, (new, size) in one.walks.items()}
    return Plan(program, parts, inlined, every, by_host, along, order, kernels, settings)


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
    fusions: Sequence[Fusion],
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
