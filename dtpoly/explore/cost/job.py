"""Describes one launch on a device before its time is estimated; all limits start from it."""

from dtpoly.explore.accesses.accesses import CostedKernel
from dtpoly.explore.cost.traffic import Operand
from dtpoly.explore.cost.work import Work
from dtpoly.explore.devices.devices import Device
from dtpoly.explore.needs.resources import Resources
from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Job:
    """A kernel on a device: how many programs, what each takes, what they do and move.

    Warm says that caches hold what fits into them.
    """

    kernel: CostedKernel
    device: Device
    programs: int
    resources: Resources
    work: Work
    operands: tuple[Operand, ...]
    is_warm: bool

    @property
    def multiprocessors(self) -> int:
        """Return how many the device has."""
        return int(self.device["multiprocessors"])

    @property
    def waves(self) -> float:
        """Count how often all places for programs are taken; one that fits nowhere takes one."""
        return self.programs / (max(self.resources.resident, 1) * self.multiprocessors)

    @property
    def each(self) -> int:
        """Return the number by which a sum over all programs is divided."""
        return max(self.programs, 1)
