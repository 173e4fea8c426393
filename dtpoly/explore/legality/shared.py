"""What points can know of each other's verdicts, as data; it needs no isl."""

from collections.abc import Hashable
from typing import Protocol

from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass


class Disagreement(Exception):
    """A point whose own verdict is not that of its class: a bug of dtpoly, or of the lemma."""


@dataclass(frozen=True, slots=True)
class Known:
    """The verdict of a class: of which point it is, and why it is refused, if it is."""

    point: str
    kind: str = ""
    reason: str = ""

    @property
    def is_legal(self) -> bool:
        """Whether the class is legal."""
        return not self.kind


@dataclass(frozen=True, slots=True)
class Look:
    """What is known of a point at once: its class, if it has one, and what that says."""

    key: Hashable = None
    known: Known | None = None
    is_sample: bool = False  # it is asked although its class is known

    @property
    def shared(self) -> Known | None:
        """The verdict that the point takes from another one."""
        return None if self.is_sample else self.known


class Learner(Protocol):
    """Learns verdicts of classes from those of points."""

    def look(self, program: Program) -> Look:
        """What is known of a point at once."""
        ...

    def learn(self, look: Look, mine: Known) -> None:
        """The verdict of a point that was asked by itself. Raises Disagreement."""
        ...


@dataclass(frozen=True, slots=True)
class Nothing:
    """Knows nothing of any point."""

    def look(self, program: Program) -> Look:
        """Nothing."""
        return Look()

    def learn(self, look: Look, mine: Known) -> None:
        """There is no class to learn of."""
