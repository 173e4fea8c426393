"""Say under which condition the runtime passes on what it may weaken.

It may pass False for a truth, or no descriptor. So a proof may use such an argument only under the
condition that the runtime has kept it, and each condition is a name of its own.
"""

from __future__ import annotations

from dtpoly.verify.algebra.whole import All, Not, Sign, Some, both, compare, name, number
from dtpoly.verify.plan.held import Held

# The names that say whether the runtime passes on truths, the truth about rows (`fours`) apart from
# the others, and descriptors.
KEPT, KEPT_FOURS, KEPT_BLOCKS = "kept.truths", "kept.fours", "kept.blocks"


def kept(held: Held, whether: str) -> Held:
    """Return a truth that may be passed as False.

    All truths with the same `whether` are kept, or passed as False, together.
    """
    match held:
        case Sign() | All() | Some() | Not() as truth:
            return both(truth, compare(">=", name(whether), number(1)))
        case _:
            return held
