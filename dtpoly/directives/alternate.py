"""The primitive `alternate`: every second loop over a label goes backwards."""

from dataclasses import replace
from typing import ClassVar

from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.schedule.labels import Label
from dtpoly.schedule.primitive import Count, LaunchEdit, Parameter
from dtpoly.schedule.tree import Kernel, loops
from dtpoly.schedule.values import Name


@dataclass(frozen=True, slots=True)
class Alternate(LaunchEdit):
    """Let loops over a label that come one after the other take turns in direction.

        for y in 0..Y: R(y); for y in 0..Y: S(y)  -->  for y in 0..Y: R(y); for y in Y..0: S(y)

    What the first one loaded last is then still in the cache. Only loops of which the rounds may
    come in any order are turned.
    """

    name: ClassVar[str] = "alternate"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("loops", Label(), Count.EACH),)
    order: ClassVar[str] = "loops whose rounds may come in any order are turned, and no others"

    loops: tuple[Name, ...]

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let every second loop over one of these labels go backwards."""
        labels = {loop.text for loop in self.loops}
        axes = [around[-1].axis for around in loops(kernel.body)]
        turned = {axis.name: axis.label for axis in axes if axis.label in labels}
        return replace(launch, turned={**launch.turned, **turned})
