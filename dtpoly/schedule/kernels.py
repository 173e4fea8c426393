"""Finds the kernels of a Program, and their loops, from the facts that its directives state.

The checks of all primitives look at the result, a `View`.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import field

from dtpoly.algorithm.expressions import Dot, reads, walk
from dtpoly.algorithm.program import (
    Func,
    Program,
    in_order,
    producers,
    reduced_labels,
    scanned_labels,
)
from dtpoly.frozen import dataclass
from dtpoly.schedule.facts import (
    Blocked,
    Compiled,
    DescribedTensors,
    Fact,
    Fused,
    Inlined,
    InvariantRow,
    MergeBlocked,
    NewName,
    Numbered,
    ReducedAlong,
    Returned,
    Rounded,
    RowsApart,
)
from dtpoly.schedule.hosts import stores_of
from dtpoly.schedule.placement import Placement, place


@dataclass(frozen=True, slots=True)
class KernelView:
    """One kernel: its Func, the Funcs fused into it, and the names of its loops.

    `labels` gives for each name the first member that has it; `inlined` are the Funcs whose
    expressions stand in those of the members, `inputs` the tensor inputs that all of them read,
    `stored` the Funcs that other kernels leave in memory for them.
    """

    host: str
    members: tuple[str, ...]
    inlined: tuple[str, ...]
    labels: Mapping[str, str]
    inputs: Set[str]
    stored: Set[str]
    has_dot: bool


@dataclass(frozen=True, slots=True)
class View:
    """The data that the checks of all primitives look at.

    If facts contradict each other, the first one counts.
    """

    program: Program
    funcs: Mapping[str, Func]
    compiled: Set[str]  # the Funcs that functions are named after
    returned: Mapping[str, Returned]  # results that a function returns besides
    stores: Mapping[str, str]  # for a result, the Func in whose kernel it is stored
    below: Mapping[str, tuple[str, ...]]  # the Funcs that each Func reads
    needed: Set[str]  # by the compiled Funcs; every Func if none is compiled
    placement: Placement
    kernels: Mapping[str, KernelView]  # by host
    reduced: Mapping[str, tuple[str, ...]]
    inlined: Mapping[str, Inlined]
    fused: Mapping[str, tuple[Fused, ...]]
    blocked: Mapping[str, Mapping[str, Blocked]]
    names: Mapping[str, Mapping[str, NewName]]
    rows_apart: Mapping[str, RowsApart]
    described: Mapping[str, tuple[DescribedTensors, ...]]
    along: tuple[ReducedAlong, ...] = ()
    facts: tuple[Fact, ...] = ()  # all that directives state of Funcs
    # Directives that are wrong, as (Func, primitive): what they would have said is not known.
    wrong: Set[tuple[str, str]] = frozenset()

    def own_labels(self, func: str) -> tuple[str, ...]:
        """Return the labels of a Func's own loops: first those on its left, then reduced ones."""
        return tuple(dict.fromkeys((*self.funcs[func].labels, *self.reduced[func])))

    def partial_labels(self, func: str) -> tuple[str, ...]:
        """Return labels that a Func reduces over and does not have on its left side.

        To block one means to compute partial results.
        """
        own = self.funcs[func].labels
        return tuple(label for label in self.reduced[func] if label not in own)

    def loops(self, func: str) -> tuple[str, ...]:
        """Return the loops around a Func's value: its labels and what they were split into."""
        found = dict.fromkeys(self.own_labels(func))
        for host in self.placement.hosts[func]:
            names = self.names.get(host, {}).values()
            found.update((name.name, None) for name in names if name.is_loop)
        return tuple(found)

    def extent(self, func: str, label: str) -> int | None:
        """Return the most iterations of a loop in one program; None if nobody knows."""
        names = self.names.get(func, {})
        blocked = self.blocked.get(func, {}).get(label)
        extent = blocked.size if blocked else names[label].extent if label in names else None
        for name in names.values():
            if extent and name.of == label and name.is_loop and name.extent:
                extent = -(-extent // name.extent)
        return extent


def reached(start: str, edges: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Everything that edges lead to from a name, itself left out."""
    found: set[str] = set()
    pending = [start]
    while pending:
        following = set(edges[pending.pop()]) - found
        found |= following
        pending.extend(following)
    return found


@dataclass(slots=True)
class _Stated:
    """The facts, sorted by what they are about; if some contradict each other, the first counts."""

    compiled: set[str] = field(default_factory=set[str])
    returned: dict[str, Returned] = field(default_factory=dict[str, Returned])
    inlined: dict[str, Inlined] = field(default_factory=dict[str, Inlined])
    fused: dict[str, tuple[Fused, ...]] = field(default_factory=dict[str, tuple[Fused, ...]])
    blocked: dict[str, dict[str, Blocked]] = field(default_factory=dict[str, dict[str, Blocked]])
    names: dict[str, dict[str, NewName]] = field(default_factory=dict[str, dict[str, NewName]])
    rows_apart: dict[str, RowsApart] = field(default_factory=dict[str, RowsApart])
    described: dict[str, tuple[DescribedTensors, ...]] = field(
        default_factory=dict[str, tuple[DescribedTensors, ...]]
    )
    along: list[ReducedAlong] = field(default_factory=list[ReducedAlong])


def _stated(facts: Iterable[Fact]) -> _Stated:
    found = _Stated()
    for fact in facts:
        match fact:
            case Compiled(func=func):
                found.compiled.add(func)
            case Returned(func=func):
                found.returned.setdefault(func, fact)
            case Inlined(func=func):
                found.inlined.setdefault(func, fact)
            case Fused(func=func):
                found.fused[func] = (*found.fused.get(func, ()), fact)
            case Blocked(func=func, label=label):
                found.blocked.setdefault(func, {}).setdefault(label, fact)
            case NewName(func=func, name=name):
                found.names.setdefault(func, {}).setdefault(name, fact)
            case ReducedAlong():
                found.along.append(fact)
            case Numbered() | Rounded() | MergeBlocked() | InvariantRow():
                pass  # no check looks at it here
            case RowsApart(func=func):
                found.rows_apart.setdefault(func, fact)
            case DescribedTensors(func=func):
                found.described[func] = (*found.described.get(func, ()), fact)
    return found


def find_kernels(
    program: Program, facts: Iterable[Fact], wrong: Set[tuple[str, str]] = frozenset()
) -> View:
    """Find every kernel; facts about what is no Func are left out."""
    funcs = {func.name: func for func in program.funcs}
    known = [fact for fact in facts if fact.func in funcs]
    stated = _stated(known)
    compiled, results = stated.compiled, stated.compiled | stated.returned.keys()
    stores = stores_of(program, known)
    below = producers(program)
    read = {name for producer in below.values() for name in producer}
    reduced = {name: reduced_labels(func) for name, func in funcs.items()}
    inlined = {
        name: fact
        for name, fact in stated.inlined.items()
        if name in read and name not in results
        if not reduced[name] and not scanned_labels(funcs[name])
    }
    needed = {func.name for func in in_order(program, results or None)}
    consumers = {
        name: tuple(fact.consumer for fact in group if fact.consumer in funcs)
        for name, group in stated.fused.items()
    }
    placement = place(program, below, results, needed, inlined.keys(), consumers, stores)
    kernels = _kernels(funcs, placement, inlined.keys(), reduced, stated.names)
    return View(
        program=program,
        funcs=funcs,
        compiled=compiled,
        returned=stated.returned,
        stores=stores,
        below=below,
        needed=needed,
        placement=placement,
        kernels=kernels,
        reduced=reduced,
        inlined=inlined,
        fused=stated.fused,
        blocked=stated.blocked,
        names=stated.names,
        rows_apart=stated.rows_apart,
        described=stated.described,
        along=tuple(stated.along),
        facts=tuple(known),
        wrong=wrong,
    )


def _kernels(
    funcs: Mapping[str, Func],
    placement: Placement,
    inlined: Set[str],
    reduced: Mapping[str, tuple[str, ...]],
    names: Mapping[str, Mapping[str, NewName]],
) -> dict[str, KernelView]:
    members: dict[str, list[str]] = {}
    within: dict[str, list[str]] = {}
    for name, hosts in placement.hosts.items():  # consumers first, so each host comes first
        for host in hosts:
            (within if name in inlined else members).setdefault(host, []).append(name)
    read = {
        name: frozenset(read.tensor for read in reads(func.body)) for name, func in funcs.items()
    }
    dots = {
        name
        for name, func in funcs.items()
        if any(isinstance(node, Dot) for node in walk(func.body))
    }
    kernels: dict[str, KernelView] = {}
    for host, group in members.items():
        labels: dict[str, str] = {}
        for name in group:
            for label in (*funcs[name].labels, *reduced[name]):
                labels.setdefault(label, name)
        for new in names.get(host, {}).values():
            if new.is_loop:
                labels.setdefault(new.name, host)
        inside = within.get(host, [])
        found = frozenset[str]().union(*(read[name] for name in (*group, *inside)))
        stored = (found & funcs.keys()).difference(group, inside)
        has_dot = not dots.isdisjoint(group)
        kernels[host] = KernelView(
            host, tuple(group), tuple(inside), labels, found - funcs.keys(), stored, has_dot
        )
    return kernels
