"""Leaves out the loads of a kernel whose tile is already loaded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dtpoly.explore.accesses.streams import AccessStream
from dtpoly.explore.accesses.tile_counts import StatementWalk, steps_of
from dtpoly.frozen import dataclass
from dtpoly.poly.model import Model


def without_repeats(streams: Sequence[AccessStream], waits: "Waits") -> tuple[AccessStream, ...]:
    """Return the streams without the loads of tiles that the kernel already has in registers.

    Two statements that read the same elements in the same tiles share a load if they stand in one
    loop, in no loop, or in neighbouring loops of which none waits for the other.
    """
    found: list[AccessStream] = []
    for one in streams:
        same = None if one.is_store else _sharing(found, one, waits)
        if same is None:
            found.append(one)
        else:
            found[same] = replace(found[same], is_kept=True)
    return tuple(found)


def _sharing(found: Sequence[AccessStream], one: AccessStream, waits: "Waits") -> int | None:
    """Return the position of a load that makes this one superfluous, or None."""
    return next((at for at, first in enumerate(found) if _shares(first, one, waits)), None)


def _shares(first: AccessStream, second: AccessStream, waits: "Waits") -> bool:
    if first.is_store or first.array != second.array or first.indices != second.indices:
        return False
    if first.is_scratch or _lanes(first) != _lanes(second) or _loops(first) != _loops(second):
        return False
    names = [{*one.walk.nest} for one in (first, second)]
    return names[0] == names[1] or not waits.between(second.walk, first.walk)


def _lanes(one: AccessStream) -> dict[str, int]:
    return {label: steps_of(one.walk, label) for label in one.labels}


def _loops(one: AccessStream) -> list[tuple[str, int | None, int | None]]:
    return [(axis.label, axis.step, axis.extent) for axis in one.walk.loops]


@dataclass(frozen=True, slots=True)
class Waits:
    """The arrays from which the value of each array is computed, over any number of steps."""

    parts: Mapping[str, frozenset[str]]

    def between(self, later: StatementWalk, earlier: StatementWalk) -> bool:
        """True if a statement needs all that the loop of another one computes."""
        made = earlier.statement.writes.array
        return any(
            made in self.parts.get(read.array, frozenset()) | {read.array}
            for read in later.statement.reads
            if read.array != later.statement.writes.array
        )


def waits_of(model: Model) -> Waits:
    """Collect the arrays from which each array is computed; producers come first in a Model."""
    found: dict[str, frozenset[str]] = {}
    for statement in model.statements:
        made = statement.writes.array
        direct = {read.array for read in statement.reads} - {made}
        more = (found.get(array, frozenset[str]()) for array in direct)
        found[made] = found.get(made, frozenset()).union(direct, *more)
    return Waits(found)
