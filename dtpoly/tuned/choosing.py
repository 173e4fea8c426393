"""Chooses schedules by the cost model, for the sizes of a call: where nobody wrote one that fits.

A schedule that was chosen is kept on disk, and serves calls with sizes that are not far from those
that it was chosen for.
"""

import os
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import field
from itertools import islice
from math import log2
from pathlib import Path
from typing import Any, Generic, TypeVar

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.autoschedule.plans import with_directives
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.unscheduled_source import algorithm_of, asking, bare
from dtpoly.diagnostics import DtpolyError
from dtpoly.explore.devices.devices import Device, UnknownDevice, find_device, read_device
from dtpoly.explore.run.session import known_device
from dtpoly.frozen import dataclass
from dtpoly.runtime.cache import remembered
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.source import Source
from dtpoly.tuned.call_sizes import CPU, CallFacts, facts_of
from dtpoly.tuned.tuned_entry import FAR

# In the environment: the device of the cost model, or a file that `dtpoly device` wrote.
DEVICE = "DTPOLY_DEVICE"
MOST_KNOWN = 4096  # calls that are told apart; after that all are looked at anew

S = TypeVar("S")


def model_of(name: str) -> Device | None:
    """Return the device of the cost model for a GPU; None if it has none that is alike.

    Raises ValueError if the environment names one that cannot be read.
    """
    asked = os.environ.get(DEVICE, "")
    try:
        if asked.endswith(".json"):
            return read_device(Path(asked).read_text(encoding="utf-8"))
        key = asked or known_device(name)
        return find_device(key) if key else None
    except (OSError, UnknownDevice) as error:
        raise ValueError(f"{DEVICE}={asked} names no device: {error}") from None


def text_at_hand(
    name: str,
    text: str,
    primitives: Primitives,
    sizes: Mapping[str, int],
    dtype: DType,
    device: Device,
) -> str:
    """Return an algorithm with the schedule that seems fastest, which is kept on disk.

    What has none that fits on the device stays as it is.
    """
    # Nothing is to be computed for a size of 0, and a schedule for 1 serves it.
    known = {label: max(size, 1) for label, size in sizes.items()}

    def make() -> str:
        algorithm = algorithm_of(Source(name, text), primitives)
        program = bare(algorithm)
        precision = "" if algorithm.precision == "ieee" else algorithm.precision
        asked = asking(algorithm, primitives)
        call = PricedCall(program, known, dtype, device, primitives, precision, asked=asked)
        best = next(islice(schedules(call), 1), None)
        if best is None:
            return text
        return show(with_directives(best.program, [one.directive for one in best.lines]))

    words = [f"{label}={size}" for label, size in sorted(known.items())]
    numbers = [f"{key}={value}" for key, value in sorted(device.values.items())]
    asked = ["schedule", text, *words, str(dtype), str(device.target), *numbers]
    return remembered(asked, make)


@dataclass(frozen=True, slots=True)
class ChosenSchedule(Generic[S]):
    """A schedule, and the call that it was chosen for."""

    facts: CallFacts
    schedule: S

    def distance(self, other: CallFacts) -> float:
        """Return how many doublings a size of another call is away, that of the furthest label."""
        sizes = dict(other.sizes)
        pairs = ((size, sizes[label]) for label, size in self.facts.sizes)
        return max((abs(log2(max(a, 0.5) / max(b, 0.5))) for a, b in pairs), default=0.0)


@dataclass(slots=True, repr=False)
class SchedulesAtHand(Generic[S]):
    """An algorithm that is scheduled when it is called, for the device and the sizes of the call.

    `of` reads the text of a schedule, and `otherwise` is what computes where the cost model knows
    nothing of a device.
    """

    name: str
    program: Program
    primitives: Primitives
    text: str
    of: Callable[[str], S]
    otherwise: S
    chosen: list[ChosenSchedule[S]] = field(default_factory=list[ChosenSchedule[S]])
    known: dict[object, S] = field(default_factory=dict[object, S])
    told: set[str] = field(default_factory=set[str])

    def schedule_for(self, inputs: tuple[Any, ...], named: Mapping[str, Any]) -> S:
        """Return the schedule for a call, which is chosen if none is near."""
        key = (*map(_seen, inputs), *((word, _seen(one)) for word, one in named.items()))
        if key not in self.known:
            try:
                facts = facts_of(self.program, inputs, named)
            except (AttributeError, DtpolyError, KeyError, ValueError):
                return self.otherwise  # which refuses the call, in its own words
            if len(self.known) >= MOST_KNOWN:
                self.known.clear()
            self.known[key] = self.at(facts)
        return self.known[key]

    def at(self, facts: CallFacts) -> S:
        """Return the schedule for sizes on a device."""
        found = self.chosen_for(facts)
        if found is None and facts.device != CPU:
            why = f"the cost model does not know '{facts.device}': name a GPU that is like it in"
            self._tell(f"{self.name} has no schedule, and {why} {DEVICE}")
        return self.otherwise if found is None else found

    def chosen_for(self, facts: CallFacts) -> S | None:
        """Return the schedule that the cost model chooses; None where it has no such device.

        In the interpreter none is chosen, since none is faster there than another.
        """
        same = (facts.device, facts.dtype)
        near = [one for one in self.chosen if (one.facts.device, one.facts.dtype) == same]
        best = min(near, key=lambda one: one.distance(facts), default=None)
        if best is not None and best.distance(facts) <= FAR:
            return best.schedule
        device = None if facts.device == CPU else model_of(facts.device)
        if device is None:
            return None
        began = time.monotonic()
        words = (self.name, self.text, self.primitives, dict(facts.sizes), DType(facts.dtype))
        found = self.of(text_at_hand(*words, device))
        took = time.monotonic() - began
        what = f"the cost model chose one for {facts.said}, in {took:.1f} s, and keeps it"
        self._tell(f"{self.name} has no schedule for such a call: {what}")
        self.chosen.append(ChosenSchedule(facts, found))
        return found

    def _tell(self, message: str) -> None:
        """Warn of the first thing of a kind that is to be told."""
        kind = message.partition(":")[0]
        if kind not in self.told:
            self.told.add(kind)
            warnings.warn(message, stacklevel=5)


def _seen(one: object) -> object:
    """Return what a choice can depend on, of an argument."""
    shape = getattr(one, "shape", None)
    if shape is None:
        return one if isinstance(one, int | str) else type(one)
    return tuple(shape), getattr(one, "dtype", None), str(getattr(one, "device", ""))
