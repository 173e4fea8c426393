"""Says which labels have the size of an axis: those at which alone it is read.

The size of a label is the largest for which every read is inside. So with `A[w]` it is that of the
axis, but with `A[w] * A[w + 1]` it is one less.
"""

from collections.abc import Mapping

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.index_ends import ends
from dtpoly.algorithm.label_sizes import axis_reads
from dtpoly.algorithm.program import Program

WholeAxis = tuple[str, int, str]  # a tensor, an axis of it, and a label that has its size


def whole_axes(program: Program) -> frozenset[WholeAxis]:
    """Return the axes that are read at a label, and at nothing else that this label decides."""
    plain: set[WholeAxis] = set()
    others: set[WholeAxis] = set()
    for read in axis_reads(program):
        label = read.decides_alone
        if label is not None and not _is_within(read.index, label, program.fixed):
            kind = plain if read.index.is_plain else others
            kind.add((read.tensor, read.axis, label))
    return frozenset(plain - others)


def _is_within(index: Affine, label: str, fixed: Mapping[str, int]) -> bool:
    """Return whether an index that is a sum stays where a label of a fixed size goes by itself.

    As `1 - p` does, where p is 0 or 1: an axis of this size is long enough for it.
    """
    if index.is_plain or label not in fixed:
        return False
    low, high = ends(index, fixed)
    return low >= 0 and high < fixed[label]
