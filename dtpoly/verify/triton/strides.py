"""Find the indices that an address means, by taking a sum of index times stride apart.

`accessing` calls `indices_of` for each load and store; the layers speak of indices only.
"""

from __future__ import annotations

from collections.abc import Sequence

from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.proof_run import Lemma, ProofRun
from dtpoly.verify.algebra.whole import Whole, linear_in, number
from dtpoly.verify.triton.access import KernelTensor


def indices_of(run: ProofRun, array: KernelTensor, offset: Whole, line: int) -> tuple[Whole, ...]:
    """Return the index of each axis that an offset into a tensor means. Raises Unread."""
    apart = apart_from(array.strides, offset)
    if apart is None:
        raise Unread(line, "an offset that multiplies strides")
    factors, rest = apart
    indices = list(factors)
    known = {axis: one.constant for axis, one in enumerate(array.strides) if one.constant}
    for axis, stride in sorted(known.items(), key=lambda one: -one[1]):
        indices[axis] = rest.floor(stride)
        rest = rest - indices[axis] * stride
    if rest.terms:
        what = f"an offset into '{array.name}' that is not a sum of index times stride"
        raise Unread(line, what, _way_out(array, factors))
    meant = _borrowed(array, indices)
    run.assume(Lemma.ADDRESS, offset, array.strides, meant)
    return meant


def _way_out(array: KernelTensor, factors: Sequence[Whole]) -> str:
    """Say what to do where lanes are added to an address as if the last stride were 1."""
    stride = array.strides[-1].plain if array.strides else None
    if not stride or factors[-1].terms:
        return ""
    return (
        f"the kernel takes {stride} to be 1: multiply the index by it; or, if it is 1, "
        f"pass 1 in its place, or promise it beside a launch: # assume: {stride} == 1"
    )


def apart_from(strides: Sequence[Whole], offset: Whole) -> tuple[list[Whole], Whole] | None:
    """Return the factor of each stride but 1, and the rest; None if strides are multiplied.

    The strides of a contiguous tensor are products of sizes, and the longest product is taken out
    first. A stride that is a constant is left to the caller.
    """
    named = {stride.plain: axis for axis, stride in enumerate(strides) if stride.plain}
    factors = [number(0)] * len(strides)
    products = [axis for axis, one in enumerate(strides) if one.constant is None and not one.plain]
    for axis in sorted(products, key=lambda axis: -_degree(strides[axis])):
        factors[axis], offset = _divided(offset, strides[axis])
    # A size may also say which element is meant, as in a mask: that is no product with it.
    apart = linear_in(offset, lambda one: one in named, lambda one: ".stride(" not in one)
    if apart is None:
        return None
    for one, factor in apart[0].items():
        factors[named[one]] = factor
    return factors, apart[1]


def _degree(of: Whole) -> int:
    return max(len(monomial) for monomial, _ in of.terms)


def _divided(of: Whole, by: Whole) -> tuple[Whole, Whole]:
    """Divide a number by the longest product in another; return the quotient and the rest."""
    leading, coefficient = max(by.terms, key=lambda term: len(term[0]))
    quotient = number(0)
    for monomial, times in of.terms:
        left = list(monomial)
        for atom in leading:
            if atom not in left:
                break
            left.remove(atom)
        else:
            if times % coefficient == 0:
                quotient = quotient + Whole(((tuple(left), times // coefficient),))
    return quotient, of - quotient * by


def _borrowed(array: KernelTensor, indices: list[Whole]) -> tuple[Whole, ...]:
    """Correct the indices of a contiguous tensor: one below 0 borrows a line from the axis before.

    So `(rows - i) * columns - 1 - j` is the last column but j of the row before.
    """
    for axis in range(len(indices) - 1, 0, -1):
        before, here = array.strides[axis - 1], array.strides[axis]
        is_below = indices[axis].terms and all(times < 0 for _, times in indices[axis].terms)
        if is_below and before == here * array.shape[axis]:
            indices[axis - 1] = indices[axis - 1] - 1
            indices[axis] = indices[axis] + array.shape[axis]
    return tuple(indices)
