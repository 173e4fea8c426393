"""Estimates how many bytes the programs of a kernel take from which memory.

The model of reuse: programs run in the order of their numbers, as many at a time as fit. What
programs that run together share comes from device memory once; so does what a longer run of
programs shares, if all that it touches fits into the L2 cache. What one program reads again comes
from the L1 cache if it is small, from L2 if all that runs at the same time fits there, in part if
only a part does.
"""

from collections.abc import Iterator, Mapping

from dtpoly.explore.accesses.accesses import CostedKernel
from dtpoly.explore.accesses.footprints import footprint
from dtpoly.explore.accesses.reached_indices import Interval
from dtpoly.explore.accesses.streams import AccessStream
from dtpoly.explore.devices.devices import Device
from dtpoly.explore.needs.resources import Resources
from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis, finest, several

SECTOR = 32  # bytes that memory moves at the least
# Of a cache of which two halves may hold the same, and which stores use too.
USABLE = 0.6


@dataclass(frozen=True, slots=True)
class Operand:
    """The bytes of one array: those that must move, are asked for, come from L2, from memory.

    `again` says how often an element is asked for; `run` is how many bytes lie side by side.
    """

    array: str
    is_store: bool
    ideal: int
    asked: int
    from_l2: float
    from_memory: float
    run: int
    is_wide: bool
    is_added: bool = False  # what is stored is added to what is there, by atomic operations

    @property
    def again(self) -> float:
        """Return how often an element is asked for."""
        return self.asked / self.ideal if self.ideal else 0.0


@dataclass(frozen=True, slots=True)
class Machine:
    """A kernel's programs on a device."""

    kernel: CostedKernel
    device: Device
    programs: int
    together: int  # programs that run at the same time


def traffic_of(
    kernel: CostedKernel, device: Device, programs: int, resources: Resources, is_warm: bool
) -> tuple[Operand, ...]:
    """Estimate the bytes that move of each array, for loads and stores apart."""
    room = max(resources.resident, 1) * int(device["multiprocessors"])
    machine = Machine(kernel, device, programs, min(programs, room))
    groups: dict[tuple[str, bool], list[AccessStream]] = {}
    for stream in kernel.streams:
        groups.setdefault((stream.array, stream.is_store), []).append(stream)
    at_once = _Touched(machine, machine.together)
    chunk = _largest_chunk(machine, at_once)
    once_of = {of: _bytes(machine, streams, 1) for of, streams in groups.items()}
    ideals = {of: _ideal(streams) for of, streams in groups.items()}
    each = sum(once_of.values())
    waiting = at_once.bytes
    cache = device["l2_bytes"] * USABLE
    everything = sum(ideals.values())
    l1 = device["shared_bytes"] - resources.shared * max(resources.resident, 1)
    is_near = each * max(resources.resident, 1) <= max(l1, 0)
    fits = min(1.0, cache / waiting) if waiting else 1.0
    found: list[Operand] = []
    for of, streams in groups.items():
        (array, is_store), ideal = of, ideals[of]
        asked = sum(s.loaded * s.size for s in streams)
        moved = sum(s.loaded * s.size * waste_of(s) for s in streams)
        once = once_of[of] * programs
        again = max(asked - once, 0)
        waste = moved / asked if asked else 1.0
        if is_near and not any(s.is_operand for s in streams):
            from_l2 = (asked - again) * min(waste, 2.0)
        else:
            from_l2 = moved
        if is_store:
            from_memory = float(ideal) * _partly(streams)
        elif streams[0].is_scratch:
            from_memory = asked * (1 - fits)
        else:
            runs = programs / chunk.count
            first = max(chunk.of(streams) * runs, float(ideal))
            from_memory = min(first, float(asked)) + (0.0 if is_near else again * (1 - fits))
        if is_warm and everything <= cache:
            from_memory = 0.0
        wide = all(s.is_wide for s in streams)
        run = min(s.run * s.size for s in streams)
        added = any(s.is_atomic for s in streams)
        moves = (ideal, asked, from_l2, from_memory)
        found.append(Operand(array, is_store, *moves, run, wide, added))
    return tuple(found)


def _ideal(streams: list[AccessStream]) -> int:
    """The elements that any program touches, once; ranges that copies are needed for have holes."""
    return max(min(footprint(s, {}), s.loaded) * s.size for s in streams)


def waste_of(stream: AccessStream) -> float:
    """Return how many bytes move for one that is asked for."""
    run = stream.run * stream.size
    return 1.0 if run >= SECTOR else SECTOR / run


def _partly(streams: list[AccessStream]) -> float:
    """Stores of less than a sector are joined in L2, if they come soon after each other."""
    return 1.0 if all(s.run * s.size >= SECTOR for s in streams) else 1.5


def _bytes(machine: Machine, streams: list[AccessStream], programs: int) -> int:
    """Count the bytes of an array that so many consecutive programs touch."""
    kernel = machine.kernel
    return max(footprint(s, consecutive(kernel, programs, s)) * s.size for s in streams)


class _Touched:
    """The bytes that so many consecutive programs touch together."""

    def __init__(self, machine: Machine, count: int) -> None:
        self.machine = machine
        self.count = max(min(count, machine.programs), 1)
        self._known: dict[tuple[str, bool], int] = {}

    def of(self, streams: list[AccessStream]) -> int:
        """Return the bytes of one array."""
        key = (streams[0].array, streams[0].is_store)
        if key not in self._known:
            self._known[key] = _bytes(self.machine, streams, self.count)
        return self._known[key]

    @property
    def bytes(self) -> int:
        """Return the bytes of all arrays."""
        groups: dict[tuple[str, bool], list[AccessStream]] = {}
        for stream in self.machine.kernel.streams:
            groups.setdefault((stream.array, stream.is_store), []).append(stream)
        return sum(self.of(streams) for streams in groups.values())


def _largest_chunk(machine: Machine, at_once: _Touched) -> _Touched:
    """Return the most consecutive programs whose data fits into L2, so that they share it."""
    chunk = at_once
    while chunk.count < machine.programs:
        larger = _Touched(machine, chunk.count * 2)
        if larger.bytes > machine.device["l2_bytes"] * USABLE:
            break
        chunk = larger
    return chunk


def consecutive(kernel: CostedKernel, count: int, stream: AccessStream) -> dict[str, Interval]:
    """Return where the tiles of the grid's axes start in programs with neighbouring numbers.

    The box that these programs span: the axis that runs fastest first.
    """
    found: dict[str, int] = {}
    left = count
    for axis in reversed(kernel.grid):
        many = _tiles(axis, stream)
        taken = min(many, left)
        left = -(-left // taken) if taken else left
        label = axis.index.plain or axis.label
        found[label] = found.get(label, 1) * max(taken, 1)
    return dict(_placed(kernel.grid, stream, found))


def _tiles(axis: Axis, stream: AccessStream) -> int:
    extents = stream.walk.extents
    size = axis.extent if axis.extent is not None else extents[axis.index.plain or axis.label]
    return max(-(-size // (axis.step or 1)), 1)


def _placed(
    grid: tuple[Axis, ...], stream: AccessStream, counts: Mapping[str, int]
) -> Iterator[tuple[str, Interval]]:
    """Yield where the programs start along each axis: in the middle, where programs are whole."""
    for axis in several(finest(grid)):
        label, step = axis.index.plain or axis.label, axis.step or 1
        blocks = max(-(-stream.walk.extents[label] // step), 1)
        count = min(counts.get(label, 1), blocks)
        first = (blocks - count) // 2
        yield axis.name, Interval(first * step, (first + count - 1) * step)
