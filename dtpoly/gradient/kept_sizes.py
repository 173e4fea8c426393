"""Checks that each label has the size in a gradient that it has in the algorithm.

The size of a label is the largest for which every read is inside. A gradient has other reads. If a
tensor is read at a label alone, its axis has exactly the size of the label, so one such read is
enough; so it is with a Func that both compute, if the label of its axis is kept. A label of which
nothing is read is passed by the caller. An axis of an input also shows the size if both read it at
the same indices of this label alone, as in `W[k // 4]`. Otherwise exactly those reads must be there
that decide the size in the algorithm.
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
    sizes = _Sizes(forward, gradient)
    spans = {label.name: label.span for label in forward.labels}
    wrong = [
        size_not_kept(label.name, spans[label.name])
        for label in gradient.labels
        if label.size is None and label.name in spans
        if not sizes.are_kept(label.name)
    ]
    if wrong:
        raise DtpolyError(wrong)


class _Sizes:
    """What shows the sizes of labels, in an algorithm and in its gradient."""

    def __init__(self, forward: Program, gradient: Program) -> None:
        self.forward, self.gradient = forward, gradient
        self.before, self.after = axis_reads(forward), axis_reads(gradient)
        self.whole_before, self.whole = whole_axes(forward), whole_axes(gradient)

    def are_kept(self, label: str, around: frozenset[str] = frozenset()) -> bool:
        """Return whether a label has the same size in both; `around` are asked for already."""
        if label in self.gradient.fixed:
            return True
        tensors = {one.name for one in self.gradient.inputs}
        mine = [(tensor, axis) for tensor, axis, one in self.whole if one == label]
        if any(tensor in tensors for tensor, _ in mine):
            return True
        inside = around | {label}
        for tensor, axis in mine:
            own = self._label_of(tensor, axis)
            is_read_before = (tensor, axis, label) in self.whole_before
            if is_read_before and own and own not in inside and self.are_kept(own, inside):
                return True
        return self._is_shown_by_an_axis(label) or self._is_shown_alike(label)

    def _is_shown_by_an_axis(self, label: str) -> bool:
        """Return whether both read an axis of an input at the same indices, of this label alone.

        All axes that show a size must agree on it, or a call of the algorithm is refused.
        """
        inputs = {one.name for one in self.gradient.inputs}
        axes = {(one.tensor, one.axis) for one in self.before if one.tensor in inputs}
        for tensor, axis in sorted(axes):
            old, new = (
                {
                    one.index: one.decides_alone
                    for one in reads
                    if (one.tensor, one.axis) == (tensor, axis) and _is_of(one, label)
                }
                for reads in (self.before, self.after)
            )
            if old and old == new and set(old.values()) == {label}:
                return True
        return False

    def _label_of(self, tensor: str, axis: int) -> str | None:
        """Return the label of an axis of a Func, if it is the same in both."""
        old, new = (one.find_func(tensor) for one in (self.forward, self.gradient))
        if old is None or new is None or old.labels != new.labels:
            return None
        return new.labels[axis]

    def _is_shown_alike(self, label: str) -> bool:
        reads = (self.before, self.after)
        old, new = ({_key(one) for one in every if _is_of(one, label)} for every in reads)
        funcs = self.gradient.funcs
        own = {(func.name, axis, plain(one)) for func in funcs for axis, one in _axes(func)}
        return not new - own or old - own == new - own


def _key(read: AxisRead) -> tuple[str, int, Affine]:
    return read.tensor, read.axis, read.index


def _is_of(read: AxisRead, label: str) -> bool:
    return label in read.index.labels


def _axes(func: Func) -> Iterator[tuple[int, str]]:
    """Yield the axes of a Func with their labels; to read it there says nothing of a size."""
    yield from enumerate(func.labels)
