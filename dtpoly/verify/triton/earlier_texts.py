"""The texts of functions for kernels that earlier versions wrote, by their hashes.

Files with these texts stay proved. What such a text computes is what today's text computes.
"""

from __future__ import annotations

from dtpoly.verify.triton.helpers import MEANINGS

EARLIER: dict[str, tuple[str, ...]] = {
    # It found the best pair of both tiles as often as the list has places, in each call.
    "dt_list": ("724c1d3ba817ce97acec70e247c18963",),
}


def entries(one: str) -> tuple[tuple[str, str], ...]:
    """Return the hashes by which a function is known, each with what it computes."""
    if one not in MEANINGS:
        return ()
    text, word = MEANINGS[one]
    return tuple((known, word) for known in (text, *EARLIER.get(one, ())))
