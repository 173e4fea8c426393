"""The outcome of one attempt of a campaign."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


class Verdict(StrEnum):
    """The verdict on one attempt."""

    AGREE = "agree"  # Two ways to say what a text computes say the same.
    PROVED = "proved"  # The text is proved, and was seen to be right.
    REFUSED = "refused"  # dtpoly refuses the input with a message.
    UNKNOWN = "unknown"  # dtpoly says that it does not know.
    REFUTED = "refuted"  # dtpoly says that the text is wrong.
    SKIPPED = "skipped"  # The attempt says nothing: there was nothing to try.
    WRONG = "wrong"  # Two ways disagree, or a wrong text is proved.
    CRASH = "crash"  # An exception that nobody caught, or the process died.
    SLOW = "slow"  # It took longer than it may.
    LARGE = "large"  # It took more memory than it may.


# Somebody must look at these.
FINDINGS = frozenset({Verdict.WRONG, Verdict.CRASH, Verdict.SLOW, Verdict.LARGE})


@dataclass(frozen=True)
class Outcome:
    """One attempt: what it shows, in one line; the text that shows it again; and counters."""

    verdict: Verdict
    what: str = ""
    # Whoever reads it must be able to repeat the case with nothing else but this checkout.
    case: str = ""
    # These are added up over all attempts of a campaign.
    figures: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_finding(self) -> bool:
        """True if somebody must look at it."""
        return self.verdict in FINDINGS
