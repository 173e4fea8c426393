"""Checks that each label has the size in a gradient that it has in the algorithm.

The size of a label is the largest for which every read is inside. A gradient has other reads. If a
tensor is read at a label alone, its axis has exactly the size of the label, so one such read is
enough. A label of which nothing is read is passed by the caller. Otherwise exactly those reads must
be there that decide the size in the algorithm.
"""

from collections.abc import Iterator

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.label_sizes import axis_reads
from dtpoly.algorithm.program import Func, Program
from dtpoly.algorithm.size_rule import AxisRead
from dtpoly.diagnostics import DtpolyError
from dtpoly.gradient.derived_nodes import plain
from dtpoly.gradient.messages import size_not_kept
from dtpoly.gradient.whole_axes import whole_axes


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
    if any(one == label and tensor in tensors for tensor, _, one in whole_axes(gradient)):
        return True
    old, new = ({_key(one) for one in reads if _is_of(one, label)} for reads in (before, after))
    own = {(func.name, axis, plain(one)) for func in gradient.funcs for axis, one in _axes(func)}
    return not new - own or old - own == new - own


def _key(read: AxisRead) -> tuple[str, int, Affine]:
    return read.tensor, read.axis, read.index


def _is_of(read: AxisRead, label: str) -> bool:
    return label in read.index.labels


def _axes(func: Func) -> Iterator[tuple[int, str]]:
    """Yield the axes of a Func with their labels; to read it there says nothing of a size."""
    yield from enumerate(func.labels)
