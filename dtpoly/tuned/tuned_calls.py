"""Calls the Func with the tuned schedule that is nearest to each call."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any, Generic, TypeVar

from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.program import Directive
from dtpoly.frozen import dataclass
from dtpoly.tuned.call_sizes import USUAL, CallFacts, facts_of
from dtpoly.tuned.tuned_entry import Picked, picked
from dtpoly.tuned.tuned_file import Tuned

S = TypeVar("S")


def _none(_: CallFacts) -> None:
    """Schedule nothing."""


@dataclass(slots=True, repr=False)
class TunedSchedules(Generic[S]):
    """An algorithm whose schedule is chosen at each call, by device, dtype and sizes.

    `picked` says which one was taken last; `pick` says which one would be, and `schedule_for` is
    that schedule, to look at or to call without choosing again.
    """

    name: str  # of the file of tuned schedules
    tuned: Tuned
    of: Callable[[tuple[Directive, ...]], S]
    otherwise: S  # where no schedule is for a device
    picked: Picked | None = None
    made: dict[int, S] = field(default_factory=dict[int, S])
    known: dict[CallFacts, Picked | None] = field(default_factory=dict[CallFacts, "Picked | None"])
    # What schedules calls for which none fits; it gives None where it knows nothing of a device.
    at_hand: Callable[[CallFacts], S | None] = _none
    is_open: bool = False  # whether the algorithm itself has no schedule
    scheduled: dict[CallFacts, S] = field(default_factory=dict[CallFacts, S])

    def pick(self, device: str, dtype: str = USUAL, **sizes: int) -> Picked | None:
        """Return the entry for a call on a device; None if there is none for it."""
        return picked(self.tuned.entries, device, dtype, filled(self.tuned.program, sizes))

    def schedule_for(self, device: str, dtype: str = USUAL, **sizes: int) -> S:
        """Return the schedule that such a call takes."""
        return self._made(self.pick(device, dtype, **sizes))

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Compute the Func of these inputs by the schedule that is nearest.

        Where none fits, the cost model schedules for the call, if it knows the device. Else a
        warning says that it is a guess, once for each device, dtype and sizes.
        """
        key = facts_of(self.tuned.program, inputs, named)
        if key not in self.known:
            found = self.pick(key.device, key.dtype, **dict(key.sizes))
            doubts = [*self._doubts(found, key.device)]
            is_free = found is not None or self.is_open
            chosen = self.at_hand(key) if doubts and is_free else None
            if chosen is not None:
                self.scheduled[key] = chosen
                found, doubts = None, []
            self.known[key] = found
            for doubt in doubts:
                warnings.warn(doubt, stacklevel=2)
        self.picked = self.known[key]
        schedule: Any = self.scheduled.get(key) or self._made(self.picked)
        return schedule(*inputs, **named)

    def explain(self) -> str:
        """List all entries, and which of them was taken last."""
        lines = [repr(self)]
        for one in self.tuned.entries:
            is_last = self.picked is not None and self.picked.entry is one
            lines.append(f"{'*' if is_last else ' '} {one.where}")
            lines.extend(f"    {note}" for note in one.notes)
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        count = len(self.tuned.entries)
        last = "" if self.picked is None else f"; last taken: {self.picked.entry.where}"
        return f"<TunedSchedules {self.name}: {count} schedule{'' if count == 1 else 's'}{last}>"

    def _made(self, found: Picked | None) -> S:
        """Return the schedule of an entry; it is made once."""
        if found is None:
            return self.otherwise
        at = next(at for at, one in enumerate(self.tuned.entries) if one is found.entry)
        if at not in self.made:
            self.made[at] = self.of(found.entry.directives)
        return self.made[at]

    def _doubts(self, found: Picked | None, device: str) -> Iterator[str]:
        if found is None:
            yield f"{self.name} has no schedule for '{device}': that of the algorithm is taken"
        elif found.doubts:
            yield f"{self.name} has none for such a call: {'; '.join(found.doubts)}"
