"""Say where variants of one kernel may put the lanes of a tile together in different orders.

Triton lays a tile out by how many elements a thread can load at once. It knows that from addresses
and strides: whether an address is a multiple of 16 bytes, and whether a stride is 1, or a multiple
of 4 or 16. The order in which `tl.sum`, `tl.reduce` and a scan put lanes together follows from the
layout. So a size that is part of the strides of new tensors may change the order.
"""

from __future__ import annotations

from collections.abc import Mapping

from dtpoly.verify.algebra.regions import set_of
from dtpoly.verify.algebra.whole import TRUE, Whole, both, compare, names_of
from dtpoly.verify.bits.bit_scopes import BitDifference
from dtpoly.verify.bits.compared_calls import BitQuestion

# The results of these operations depend on the order of the lanes. The result of `tl.dot` does not
# depend on its layout. A maximum or a minimum is one of the lanes, in whatever order they are.
BY_ORDER = ("tl.sum", "tl.reduce", "tl.associative_scan")


def ordered(tiles: Mapping[int, str]) -> dict[int, str]:
    """Return the lines where lanes are put together and their order matters."""
    return {line: word for line, word in tiles.items() if word.startswith(BY_ORDER)}


def stride_difference(question: BitQuestion, tiles: Mapping[int, str]) -> BitDifference | None:
    """Return a tile whose layout may depend on the size, since strides of new tensors do.

    Where such a stride is no multiple of 4, a thread loads fewer elements at once.
    """
    lines = ordered(tiles)
    if not lines or not question.size:
        return None
    for array in question.sides[0].proof.arrays.values():
        if any(_differs(question, extent) for extent in array.shape[1:]):
            why = (
                f"a new '{array.name}' has other strides at other sizes, and by these Triton "
                "chooses the order in which the lanes of this tile are put together"
            )
            return BitDifference(min(lines), why, TRUE)
    return None


def _differs(question: BitQuestion, extent: Whole) -> bool:
    """Return whether an extent may be another one in the second call."""
    if names_of(extent) <= question.shared:
        return False
    apart = compare("!=", extent, question.index(extent, 1))
    return not question.run.is_empty(set_of(both(question.facts, apart)))
