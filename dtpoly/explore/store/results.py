"""Defines the results of a point of a space, as data for pipes and for the store."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any

from dtpoly.frozen import dataclass


class Outcome(StrEnum):
    """The way in which the attempt to measure a point ended."""

    MEASURED = "measured"
    SLOW = "slow"  # it has a time from few samples, because it was far slower than the best
    UNPROVED = "unproved"  # it has a time that does not count, because its text is not proved
    REFUSED = "refused"  # it is not legal, or no code or no such kernel can be made for it
    FAILED = "failed"  # it could not be run
    WRONG = "wrong"  # it ran, and computed wrong values
    HUNG = "hung"
    CRASHED = "crashed"  # it ended the process, or broke the device
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
    allowed: float | None = None  # the difference that rounding explains
    baselines: Mapping[str, float] = field(default_factory=dict[str, float])  # measured beside it
    text_hash: str = ""
    seconds: float = 0.0  # until this was known

    @property
    def is_timed(self) -> bool:
        """True if there is a time that counts."""
        return self.outcome in TIMED


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of the function of a text, and what its results are compared with."""

    func: str  # the Func that it computes
    function: str  # its name in the text
    passed: Mapping[str, str] = field(default_factory=dict[str, str])  # from a keyword to a label
    is_rough: bool = False  # products may lose as much as tf32 loses
    others: tuple[str, ...] = ()  # the Funcs that it returns besides, in this order

    @property
    def results(self) -> tuple[str, ...]:
        """Return the Funcs that it computes, in the order of the results."""
        return (self.func, *self.others)


@dataclass(frozen=True, slots=True)
class EmittedText:
    """The emitted text of a point."""

    text: str
    call: FunctionCall

    @property
    def is_text(self) -> bool:
        """True, because this is a text."""
        return True


@dataclass(frozen=True, slots=True)
class RefusedPoint:
    """The reason why there is no text: in a few words, to be counted, and in full."""

    kind: str
    reason: str

    @property
    def is_text(self) -> bool:
        """False, because this is not a text."""
        return False


@dataclass(frozen=True, slots=True)
class Fit:
    """A compiler's answer about a text for a kind of GPU; without `kind` it is worth a run."""

    kind: str = ""
    reason: str = ""
    kernels: Sequence[Mapping[str, Any]] = ()

    @property
    def is_good(self) -> bool:
        """True if the text is worth a run."""
        return not self.kind


class Proven(StrEnum):
    """The answers of a proof."""

    PROVED = "proved"
    UNKNOWN = "unknown"
    REFUTED = "refuted"


@dataclass(frozen=True, slots=True)
class TextProof:
    """The verdict on a text; if not everything is proved, the first layer that is not, and why."""

    verdict: Proven
    layer: str = ""
    reason: str = ""
