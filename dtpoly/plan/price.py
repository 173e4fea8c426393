"""Describes the predicted time of a launch, which directives correct by what they do to it."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf

from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Price:
    """The seconds that a launch is predicted to take.

    `launch` passes before its programs begin. `units` has the seconds for which each unit of the
    device is busy; the unit that takes longest decides how long the programs run.
    """

    launch: float
    units: Mapping[str, float]

    def times(self, unit: str, factor: float) -> "Price":
        """Return the price with a unit that is busy for so many times as long.

        A unit that the kernel does not use, as no kernel uses all, stays unused.
        """
        changed = {name: one * factor if name == unit else one for name, one in self.units.items()}
        return replace(self, units=changed)

    def flaw(self) -> str | None:
        """Say what no time can be; None if all numbers are possible."""
        named = (("launch", self.launch), *self.units.items())
        wrong = (f"'{name}' takes {one} seconds" for name, one in named if not 0 <= one < inf)
        return next(wrong, None)
