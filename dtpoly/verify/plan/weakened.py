"""Read an argument of a launcher, which may pass something weaker in its place.

A launcher may pass False for a truth, or no descriptor. So a proof may use such an argument only
under the condition that the launcher has kept it, and each condition is a name of its own.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from dtpoly.verify.algebra.whole import All, Not, Sign, Some, both, compare, name, number
from dtpoly.verify.plan import expressions
from dtpoly.verify.plan.held import Blocks, Held, Wrapper

# The names that say whether a launcher passes on truths, the truth about rows (`fours`) apart from
# the others, and descriptors.
KEPT, KEPT_FOURS, KEPT_BLOCKS = "kept.truths", "kept.fours", "kept.blocks"


def weakened(wrapper: Wrapper, node: ast.expr) -> Held:
    """Return the value of an argument; a truth may be passed as False instead."""
    match expressions.value(wrapper, node):
        case Blocks(there=there) as blocks:
            is_kept = compare(">=", name(KEPT_BLOCKS), number(1))
            return replace(blocks, there=both(there, is_kept))
        case held:
            return kept(held, KEPT)


def kept(held: Held, whether: str) -> Held:
    """Return a truth that may be passed as False.

    All truths with the same `whether` are kept, or passed as False, together.
    """
    match held:
        case Sign() | All() | Some() | Not() as truth:
            return both(truth, compare(">=", name(whether), number(1)))
        case _:
            return held
