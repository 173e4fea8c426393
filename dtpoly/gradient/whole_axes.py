"""Says which labels have the size of an axis: those at which alone it is read.

The size of a label is the largest for which every read is inside. So with `A[w]` it is that of the
axis, but with `A[w] * A[w + 1]` it is one less.
"""

from dtpoly.algorithm.label_sizes import axis_reads
from dtpoly.algorithm.program import Program

WholeAxis = tuple[str, int, str]  # a tensor, an axis of it, and a label that has its size


def whole_axes(program: Program) -> frozenset[WholeAxis]:
    """Return the axes that are read at a label, and at nothing else that this label decides."""
    plain: set[WholeAxis] = set()
    others: set[WholeAxis] = set()
    for read in axis_reads(program):
        label = read.decides_alone
        if label is not None:
            kind = plain if read.index.is_plain else others
            kind.add((read.tensor, read.axis, label))
    return frozenset(plain - others)
