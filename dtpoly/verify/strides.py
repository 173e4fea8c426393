"""An address in, the indices that it means out: a sum of index times stride, taken apart."""

from __future__ import annotations

from dtpoly.verify.access import Array
from dtpoly.verify.asking import Lemma, assume
from dtpoly.verify.values import Unread
from dtpoly.verify.whole import Whole, linear_in, number


def indices_of(array: Array, offset: Whole, line: int) -> tuple[Whole, ...]:
    """The index of each axis."""
    named = {stride.plain: axis for axis, stride in enumerate(array.strides) if stride.plain}
    apart = linear_in(offset, lambda one: one in named)
    if apart is None:
        raise Unread(line, "an offset that multiplies strides")
    factors, rest = apart
    indices = [number(0)] * len(array.strides)
    for one, factor in factors.items():
        indices[named[one]] = factor
    for axis, stride in enumerate(array.strides):
        if stride.constant == 1:
            indices[axis], rest = rest, number(0)
    if rest.terms:
        raise Unread(line, f"an offset into '{array.name}' that is not a sum of index times stride")
    assume(Lemma.ADDRESS, offset, array.strides, tuple(indices))
    return tuple(indices)
