"""Data about what points can know of each other's verdicts; it needs no isl."""

from collections.abc import Hashable
from typing import Protocol

from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass


class Disagreement(Exception):
    """A point whose own verdict is not that of its class: a bug of dtpoly, or of the lemma."""


@dataclass(frozen=True, slots=True)
class KnownVerdict:
    """The verdict of a class: the point that it comes from and, if it is refused, why."""

    point: str
    kind: str = ""
    reason: str = ""

    @property
    def is_legal(self) -> bool:
        """Return whether the class is legal."""
        return not self.kind


@dataclass(frozen=True, slots=True)
class Look:
    """A point with its class, if it has one, and the verdict that is known of that class."""

    key: Hashable = None
    known: KnownVerdict | None = None
    is_sample: bool = False  # it is asked although its class is known

    @property
    def shared(self) -> KnownVerdict | None:
        """Return the verdict that the point takes from another one."""
        return None if self.is_sample else self.known


class Learner(Protocol):
    """Learns verdicts of classes from those of points."""

    def look(self, program: Program) -> Look:
        """Say what is known of a point without asking."""
        ...

    def learn(self, look: Look, mine: KnownVerdict) -> None:
        """Note the verdict of a point that was asked by itself. Raises Disagreement."""
        ...


@dataclass(frozen=True, slots=True)
class BlankLearner:
    """A learner that knows nothing of any point."""

    def look(self, program: Program) -> Look:
        """Say that nothing is known."""
        return Look()

    def learn(self, look: Look, mine: KnownVerdict) -> None:
        """Do nothing: there is no class to learn of."""
