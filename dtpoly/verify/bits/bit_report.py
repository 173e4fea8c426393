"""The answer to whether bits depend on a size: proved, refuted with an example, or unknown."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.whole import Truth


class BitsVerdict(StrEnum):
    """What is known of the bits of a function's results, and one label."""

    PROVED = "proved"
    UNKNOWN = "unknown"
    REFUTED = "refuted"


@dataclass(frozen=True, slots=True)
class TwoCalls:
    """Two calls whose results may differ in bits: the sizes of both."""

    first: Mapping[str, int]
    second: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class BitsFound:
    """The answer for one function and one label.

    `is_for_places` says that the row may stand at another place in the second call, too. `assumed`
    are the sums of tiles that are taken to be grouped alike in each call.
    """

    func: str
    label: str
    verdict: BitsVerdict
    line: int = 0
    why: str = ""
    is_for_places: bool = False
    assumed: tuple[str, ...] = ()
    calls: TwoCalls | None = None
    seconds: float = 0.0
    # Where the two calls may differ, as a condition on the names of both.
    where: Truth | None = None
