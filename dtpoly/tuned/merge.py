"""Adds a new tuned schedule to those that are there; each range becomes as wide as is known."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dtpoly.tuned.tuned_entry import Range, TunedEntry


def merged(entries: Sequence[TunedEntry], new: TunedEntry) -> tuple[TunedEntry, ...]:
    """Add a schedule: it replaces the one for its very sizes, and joins one that it equals.

    Two ranges of one schedule are joined to the smallest one that holds both, unless that would
    reach into the range of another schedule of this device and dtype.
    """
    left = [one for one in entries if not _is_same_place(one, new)]
    for one in left:
        if _key(one) != _key(new) or set(one.directives) != set(new.directives):
            continue
        ranges = _joined(one.ranges, new.ranges)
        others = (other for other in left if other is not one and _key(other) == _key(new))
        if not any(_meet(ranges, other.ranges) for other in others):
            notes = tuple(dict.fromkeys((*one.notes, *new.notes)))
            wider = replace(one, ranges=ranges, notes=notes)
            return _sorted([wider if other is one else other for other in left])
    return _sorted([*left, new])


def _key(one: TunedEntry) -> tuple[str, str]:
    return one.device, one.dtype


def _is_same_place(one: TunedEntry, new: TunedEntry) -> bool:
    return (_key(one), dict(one.ranges)) == (_key(new), dict(new.ranges))


def _joined(one: Mapping[str, Range], two: Mapping[str, Range]) -> dict[str, Range]:
    return {
        label: (min(low, two[label][0]), max(high, two[label][1]))
        for label, (low, high) in one.items()
    }


def _meet(one: Mapping[str, Range], two: Mapping[str, Range]) -> bool:
    """Return whether some sizes are in both."""
    return all(one[label][0] <= two[label][1] and two[label][0] <= one[label][1] for label in one)


def _sorted(entries: Sequence[TunedEntry]) -> tuple[TunedEntry, ...]:
    return tuple(sorted(entries, key=lambda one: (*_key(one), [*one.ranges.values()])))
