"""Decides whether two elements of a Func may have the same place in the tensor that it goes into.

The place of an element is one index for each axis. An index decides a label if it is a multiple of
the label plus something that decided labels alone decide: two elements with the same place then
have the same such label. What a tensor holds is not known, but it is the same for the same indices.
So `[b, pos[b] + t]` decides b, and then t. If all labels are decided, no two elements have the same
place.
"""

from collections.abc import Iterator

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Cast,
    Expr,
    Index,
    Read,
    free_labels,
)


def undecided(labels: tuple[str, ...], at: Read) -> tuple[str, ...]:
    """Return the labels that a place may not decide. If there are none, no two are the same."""
    sums = [_sum_of(index) for index in at.indices]
    known = set[str]()
    while True:
        found = {
            one
            for added, rest in sums
            for one in added
            if one not in known and known.issuperset((*(added - {one}), *rest - {one}))
            if one not in rest
        }
        if not found:
            return tuple(one for one in labels if one not in known)
        known |= found


def _sum_of(index: Affine) -> tuple[set[str], set[str]]:
    """Return the labels that an index adds, and those that it depends on in another way."""
    if index.data is not None:
        added, rest = list[str](), set[str]()
        for part in _parts(index.data):
            if isinstance(part, Index):
                added.append(part.label)
            else:
                rest.update(free_labels(part))
        # A label that stands twice may cancel.
        return {one for one in added if added.count(one) == 1}, rest | {
            one for one in added if added.count(one) > 1
        }
    plain = {term for term, _ in index.terms if isinstance(term, str)}
    rest = {
        label
        for term, coefficient in index.terms
        if not isinstance(term, str)
        for label in Affine(((term, coefficient),)).labels
    }
    return plain, rest


def _parts(value: Expr) -> Iterator[Expr]:
    """Yield what a value of 64 bits adds up, whatever its sign. Sums wrap, and undo each other."""
    match value:
        case Apply(operation="add" | "sub" | "neg", operands=operands):
            for one in operands:
                yield from _parts(one)
        case Cast(operand=Index() as label, dtype=DType.I64):
            yield label
        case _:
            yield value
