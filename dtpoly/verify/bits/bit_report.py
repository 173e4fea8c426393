"""The answer to whether bits depend on a size: proved, refuted with an example, or unknown."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from dtpoly.frozen import dataclass


class BitsVerdict(StrEnum):
    """What is known of the bits of a function's results."""

    PROVED = "proved"
    UNKNOWN = "unknown"
    REFUTED = "refuted"


@dataclass(frozen=True, slots=True)
class TwoCalls:
    """Two calls whose results may differ in bits: the sizes of both, and the index of the row."""

    first: Mapping[str, int]
    second: Mapping[str, int]
    rows: tuple[int, int]


@dataclass(frozen=True, slots=True)
class BitsFound:
    """The answer for one function, and for one label if it is about a size.

    `is_for_places` says that the answer also holds if the row has another index in the second call.
    It is false if the algorithm itself uses the index of the row. `assumed` are the sums of
    tiles that are taken to be grouped alike in each call, and `calls` are those for which a
    difference may show. `in_order` are the lines of those sums whose bits depend on how Triton lays
    out the tile, which may differ where memory is aligned in another way.
    """

    func: str
    label: str
    verdict: BitsVerdict
    line: int = 0
    why: str = ""
    is_for_places: bool = False
    assumed: tuple[str, ...] = ()
    in_order: tuple[int, ...] = ()
    calls: tuple[TwoCalls, ...] = ()
    seconds: float = 0.0
