"""Finds the kernels in which each Func is computed, from who reads what and what is fused.

A Func is computed in a kernel of its own, in those of the Funcs that it is fused into, or, if
inlined, nowhere by itself. It keeps its own kernel if it is compiled, or if a reader that some
compiled Func needs is computed in a kernel that it is not fused into.
"""

from collections.abc import Iterable, Mapping, Set

from dtpoly.algorithm.program import Program, in_order
from dtpoly.frozen import dataclass
from dtpoly.schedule.hosts import order_of

# A set of Funcs, as the bits of a number: with many fusions there are many large sets.
Bits = int


@dataclass(frozen=True, slots=True)
class Placement:
    """The place of each Func, and its readers, by the name of the Func; consumers come first."""

    readers: Mapping[str, tuple[str, ...]]  # an inlined reader gives way to its own readers
    hosts: Mapping[str, tuple[str, ...]]  # the Funcs in whose kernels it is computed
    bit: Mapping[str, Bits]
    above: Mapping[str, Mapping[str, Bits]]  # by host: the Funcs that read it in that kernel

    def is_read_by(self, func: str, consumer: str) -> bool:
        """True if a consumer reads a Func, itself or through others of its own kernel."""
        return any(bits & self.bit[consumer] for bits in self.above[func].values())


def place(
    program: Program,
    below: Mapping[str, tuple[str, ...]],
    compiled: Set[str],
    needed: Set[str],
    inlined: Set[str],
    consumers: Mapping[str, tuple[str, ...]],
    stores: Mapping[str, str],
) -> Placement:
    """Place every Func, consumers first. `below` gives what each reads.

    A result in `stores` is read by the Func whose kernel stores it, and other kernels read it from
    memory, so that it has no kernel of its own.
    """
    direct: dict[str, list[str]] = {name: [] for name in below}
    for reader, names in below.items():
        for name in names:
            direct[name].append(reader)
    for result, host in stores.items():
        if host not in direct[result]:
            direct[result].append(host)
    readers: dict[str, tuple[str, ...]] = {}
    hosts: dict[str, tuple[str, ...]] = {}
    above: dict[str, dict[str, Bits]] = {}
    bit = {name: 1 << at for at, name in enumerate(below)}
    placement = Placement(readers, hosts, bit, above)
    for func in reversed(in_order(program, more=order_of(program, stores))):
        name = func.name
        readers[name] = _readers(direct[name], readers, inlined)
        above[name] = _above(readers[name], placement)
        if name in inlined:
            hosts[name] = tuple(above[name])
            continue
        fused = dict.fromkeys(_fused(name, consumers.get(name, ()), placement))
        counted = needed if name in needed else below.keys()
        apart = any(
            host not in fused
            for reader in readers[name]
            for host in hosts[reader]
            if host in counted
        )
        keeps = name in compiled or apart or not readers[name]
        keeps = keeps and name not in stores
        hosts[name] = (name, *fused) if keeps else tuple(fused)
    return placement


def _readers(
    direct: list[str], readers: Mapping[str, tuple[str, ...]], inlined: Set[str]
) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for reader in direct:
        found.update(dict.fromkeys(readers[reader] if reader in inlined else (reader,)))
    return tuple(found)


def _above(readers: tuple[str, ...], placement: Placement) -> dict[str, Bits]:
    found: dict[str, Bits] = {}
    for reader in readers:
        mine, higher = placement.bit[reader], placement.above[reader]
        for host in placement.hosts[reader]:
            found[host] = found.get(host, 0) | mine | higher.get(host, 0)
    return found


def _fused(name: str, consumers: tuple[str, ...], placement: Placement) -> Iterable[str]:
    """Yield the kernels in which the given consumers read the Func."""
    for consumer in consumers:
        for host, bits in placement.above[name].items():
            if bits & placement.bit[consumer]:
                yield host
