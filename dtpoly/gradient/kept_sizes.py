"""Checks that each label has the size in a gradient that it has in the algorithm.

The size of a label is the largest for which every read is inside. A gradient has other reads. If a
tensor is read at a label alone, its axis has exactly the size of the label, so one such read is
enough. A label of which nothing is read is passed by the caller. Otherwise all reads must be there
that decide the size in the algorithm.
"""

from dtpoly.algorithm.label_sizes import axis_reads
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.size_rule import AxisRead
from dtpoly.diagnostics import DtpolyError
from dtpoly.gradient.messages import size_not_kept


def check_sizes_kept(forward: Program, gradient: Program) -> None:
    """Raise DtpolyError if a label could have another size in the gradient."""
    before, after = axis_reads(forward), axis_reads(gradient)
    spans = {label.name: label.span for label in forward.labels}
    wrong = [
        size_not_kept(label.name, spans[label.name])
        for label in gradient.labels
        if label.size is None and label.name in spans
        if not _is_kept(label.name, before, after, gradient)
    ]
    if wrong:
        raise DtpolyError(wrong)


def _is_kept(
    label: str, before: tuple[AxisRead, ...], after: tuple[AxisRead, ...], gradient: Program
) -> bool:
    tensors = {one.name for one in gradient.inputs}
    if any(one.index.plain == label and one.tensor in tensors for one in after):
        return True
    old = {(one.tensor, one.axis, one.index) for one in before if label in one.index.labels}
    new = {(one.tensor, one.axis, one.index) for one in after if label in one.index.labels}
    return not new or old <= new
