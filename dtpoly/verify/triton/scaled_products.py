"""Read a maximum of a tile times a factor above 0 as the maximum of the products (lemma 14).

Kernels multiply the largest score of a tile by the scale, instead of each score. Read like this, it
is what a kernel without that saving computes, and all later proofs see the same.
"""

from __future__ import annotations

from dtpoly.verify.algebra.frame_terms import EXTREME, INFINITIES
from dtpoly.verify.algebra.positive_factors import is_positive, multiplied
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.scaled_extremes import with_factors_inside
from dtpoly.verify.algebra.terms import AppliedOperation, Choose, Term, Total
from dtpoly.verify.algebra.value import difference
from dtpoly.verify.algebra.whole import both
from dtpoly.verify.triton.kernel_state import KernelState


def inside_extreme(state: KernelState, product: Term) -> Term:
    """Return a product with its factor inside of a maximum or minimum, where it has one.

    Where a mask leaves out an element, which is -inf then, so is its product with a factor above 0.
    """
    if not isinstance(product, AppliedOperation) or len(product.operands) != 2:
        return product
    first, second = product.operands
    for one, by in ((first, second), (second, first)):
        if isinstance(one, Choose) and _is_masked(one) and is_positive(by):
            return multiplied(one, by)
        if isinstance(one, Total) and one.operation in EXTREME:
            known = both(state.facts, state.where)
            here = set_of(known if is_affine(known) else state.facts)
            return with_factors_inside(state.run, one.operation, product, here, difference)
    return product


def _is_masked(term: Term) -> bool:
    """Return whether a mask puts an infinity in the place of a value."""
    match term:
        case Choose(yes=yes, no=no):
            return _is_masked(yes) or _is_masked(no)
        case _:
            return term in INFINITIES
