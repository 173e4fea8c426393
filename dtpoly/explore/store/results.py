"""What can come of a point of a space, as data that goes through pipes and into the store."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any

from dtpoly.frozen import dataclass


class Outcome(StrEnum):
    """How the attempt to measure a point ended."""

    MEASURED = "measured"
    SLOW = "slow"  # it has a time, of few samples: it was too far behind the best
    UNPROVED = "unproved"  # it has a time, which does not count: its text is not proved
    REFUSED = "refused"  # it is not legal, or there is no code for it, or no such kernel
    FAILED = "failed"  # it could not be run
    WRONG = "wrong"  # it ran, and computed something else
    HUNG = "hung"
    CRASHED = "crashed"  # it took the process with it, or the device
    BUG = "bug"  # of dtpoly: the text that it wrote is refuted


TIMED = (Outcome.MEASURED, Outcome.SLOW)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a point. Times are medians in milliseconds, with quarters around them."""

    outcome: Outcome
    kind: str = ""  # in a few words, to be counted
    reason: str = ""  # in full
    median: float | None = None
    quarter: float | None = None
    three_quarters: float | None = None
    samples: int = 0
    error: float | None = None  # the largest difference to the reference
    allowed: float | None = None  # what rounding explains
    baselines: Mapping[str, float] = field(default_factory=dict[str, float])  # beside it
    text_hash: str = ""
    seconds: float = 0.0  # until this was known

    @property
    def is_timed(self) -> bool:
        """Whether there is a time that counts."""
        return self.outcome in TIMED


@dataclass(frozen=True, slots=True)
class Call:
    """How the function of a text is called, and what its result is held against."""

    func: str  # the Func that it computes
    function: str  # its name in the text
    passed: Mapping[str, str] = field(default_factory=dict[str, str])  # keyword -> label
    is_rough: bool = False  # products may lose what tf32 loses


@dataclass(frozen=True, slots=True)
class Text:
    """The emitted text of a point."""

    text: str
    call: Call

    @property
    def is_text(self) -> bool:
        """Whether there is a text."""
        return True


@dataclass(frozen=True, slots=True)
class Refused:
    """Why there is none: in a few words, to be counted, and in full."""

    kind: str
    reason: str

    @property
    def is_text(self) -> bool:
        """Whether there is a text."""
        return False


@dataclass(frozen=True, slots=True)
class Fit:
    """A compiler's answer on a text for a kind of GPU; without `kind` the text is worth a run."""

    kind: str = ""
    reason: str = ""
    kernels: Sequence[Mapping[str, Any]] = ()

    @property
    def is_good(self) -> bool:
        """Whether it is worth a run."""
        return not self.kind


class Proven(StrEnum):
    """The answers of a proof."""

    PROVED = "proved"
    UNKNOWN = "unknown"
    REFUTED = "refuted"


@dataclass(frozen=True, slots=True)
class Proof:
    """The verdict on a text; if not all is proved, the first layer that is not, and why."""

    verdict: Proven
    layer: str = ""
    reason: str = ""
