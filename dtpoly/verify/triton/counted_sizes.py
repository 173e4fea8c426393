"""Find the size that a quotient of sizes is.

A wrapper may count blocks for the length of an axis, and the kernel counts them again: with the
promise `len(m) == cdiv(len(n), 64)`, `(n + 63) // 64` is `len(m)`. Then it may be a stride.
"""

from __future__ import annotations

from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.whole import Whole, compare, name, names_of
from dtpoly.verify.triton.kernel_state import KernelState


def as_size(state: KernelState, quotient: Whole) -> Whole:
    """Return the size that a quotient is in each call; the quotient itself if it is none.

    Where values are compared with an algorithm, a quotient stays what it is: then counts of blocks
    show how they come from sizes, which a proof needs, and the algorithm says the strides.
    """
    if state.is_valued:
        return quotient
    used = names_of(quotient)
    moving = {*state.ranges, *state.wraps, *state.digits.numbers, *state.digits.ranges}
    if not used or used & moving or not is_affine(quotient) or not is_affine(state.facts):
        return quotient
    sizes = (size.plain for array in state.arrays.values() for size in array.shape)
    for one in dict.fromkeys(size for size in sizes if size is not None):
        if one in used or one not in names_of(state.facts):
            continue
        state.run.about(state.line, f"a quotient of sizes is '{one}'")
        if state.run.holds(compare("==", quotient, name(one)), set_of(state.facts)):
            return name(one)
    return quotient
