"""Chooses, among tuned schedules for devices and ranges of sizes, the one nearest to a call.

Only entries of the very device count: a schedule that is fast on one device is no guess for
another. Among these, entries with the dtype of the call come first. Among those, the nearest is the
one from whose range the sizes are the fewest doublings away, in the sum over labels. If the sizes
are inside of several ranges, the narrowest range wins, then the last one.
"""

from collections.abc import Mapping, Sequence
from math import log2

from dtpoly.algorithm.program import Directive
from dtpoly.frozen import dataclass

FAR = 1.0  # doublings of a size from which on a schedule is a guess

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TunedEntry:
    """A schedule, for which device, dtype and sizes it is, and how that is known, in lines."""

    device: str
    dtype: str  # of inputs that declare none
    ranges: Mapping[str, Range]
    directives: tuple[Directive, ...]
    notes: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """`NVIDIA H200, f32: x = 4096, y = 1024..4096`."""
        sizes = ", ".join(f"{label} = {_range(one)}" for label, one in self.ranges.items())
        return f"{self.device}, {self.dtype}: {sizes}".rstrip(": ")


@dataclass(frozen=True, slots=True)
class Picked:
    """The entry that is nearest to a call, and what speaks against it."""

    entry: TunedEntry
    doubts: tuple[str, ...] = ()


def picked(
    entries: Sequence[TunedEntry], device: str, dtype: str, sizes: Mapping[str, int]
) -> Picked | None:
    """Return the entry for a call; none if no entry is for its device."""
    there = [one for one in entries if one.device == device]
    if not there:
        return None
    alike = [one for one in there if one.dtype == dtype] or there
    best = min(reversed(alike), key=lambda one: (distance(one, sizes), _width(one)))
    return Picked(best, tuple(_doubts(best, dtype, sizes)))


def distance(entry: TunedEntry, sizes: Mapping[str, int]) -> float:
    """Doublings between sizes and the range of an entry, in the sum over its labels."""
    return sum(_doublings(one, sizes[label]) for label, one in entry.ranges.items())


def _doublings(one: Range, size: int) -> float:
    low, high = one
    # A size of 0 is as far from 1 as 1 is from 2.
    near = min(max(size, low), high)
    return abs(log2(max(size, 0.5)) - log2(max(near, 0.5)))


def _width(entry: TunedEntry) -> float:
    return sum(log2(max(high, 0.5)) - log2(max(low, 0.5)) for low, high in entry.ranges.values())


def _doubts(entry: TunedEntry, dtype: str, sizes: Mapping[str, int]) -> list[str]:
    far = [
        f"{label} = {sizes[label]} is far from {_range(one)}"
        for label, one in entry.ranges.items()
        if _doublings(one, sizes[label]) > FAR
    ]
    return far if entry.dtype == dtype else [f"it is for {entry.dtype}, not for {dtype}", *far]


def _range(one: Range) -> str:
    low, high = one
    return str(low) if low == high else f"{low}..{high}"
