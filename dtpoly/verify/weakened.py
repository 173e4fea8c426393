"""An argument of a launcher in; what the launcher may pass instead, of which less is known, out."""

from __future__ import annotations

import ast
from dataclasses import replace

from dtpoly.verify import expressions
from dtpoly.verify.held import Blocks, Held, Wrapper
from dtpoly.verify.whole import All, Not, Sign, Some, both, compare, name, number

# Whether a launcher passes on what is true, of rows by itself, and descriptors.
KEPT, KEPT_FOURS, KEPT_BLOCKS = "kept.truths", "kept.fours", "kept.blocks"


def weakened(wrapper: Wrapper, node: ast.expr) -> Held:
    """The value of an argument; a truth may be passed as False instead."""
    match expressions.value(wrapper, node):
        case Blocks(there=there) as blocks:
            is_kept = compare(">=", name(KEPT_BLOCKS), number(1))
            return replace(blocks, there=both(there, is_kept))
        case held:
            return kept(held, KEPT)


def kept(held: Held, whether: str) -> Held:
    """A truth that may be passed as False, all those together that say the same of whether."""
    match held:
        case Sign() | All() | Some() | Not() as truth:
            return both(truth, compare(">=", name(whether), number(1)))
        case _:
            return held
