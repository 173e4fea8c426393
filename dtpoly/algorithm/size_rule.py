"""Defines the rule that gives a label its size: axes that show it, or an argument of the call."""

from collections.abc import Collection

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.index_ends import decides
from dtpoly.algorithm.show import show_affine
from dtpoly.frozen import dataclass
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class AxisRead:
    """A read of one axis of a tensor input or of a Func.

    The read must be inside along this axis.
    """

    tensor: str
    axis: int
    index: Affine
    span: Span | None

    @property
    def decides_alone(self) -> str | None:
        """Return the label if the index has no other one, and decides the size of this one."""
        labels = self.index.labels
        return labels[0] if len(labels) == 1 and decides(self.index, labels[0]) else None

    def __str__(self) -> str:
        return f"{self.tensor}.shape[{self.axis}]"


@dataclass(frozen=True, slots=True)
class SizeRule:
    """The rule by which a label gets its size.

    The size is the largest one for which every read of one axis is inside. If the rule has no
    reads, no tensor shows the size: the file fixes it, or the caller must pass it.
    """

    label: str
    reads: tuple[AxisRead, ...] = ()
    size: int | None = None  # if the file fixes it
    # True if the label stands only in sums, so that no axis shows its size exactly. Then a call may
    # pass any size for which all reads are inside.
    is_bounded: bool = False
    # The reads that decide the size if the sizes of the other labels in their indices are passed.
    otherwise: tuple[AxisRead, ...] = ()

    @property
    def is_passed(self) -> bool:
        """True if the caller must pass the size, or other sizes instead."""
        return not self.reads and self.size is None

    @property
    def may_be_passed(self) -> bool:
        """True if a call has an argument for the size."""
        return self.is_passed or self.is_bounded

    def instead(self, known: Collection[str]) -> tuple[str, ...]:
        """Return the labels whose sizes may be passed instead, except those already known."""
        others = (label for read in self.otherwise for label in read.index.labels)
        return tuple(dict.fromkeys(v for v in others if v != self.label and v not in known))

    def __str__(self) -> str:
        if self.size is not None:
            return f"{self.label} is {self.size}, as declared"
        if self.is_passed:
            return f"{self.label} must be passed"
        offsets = {r.index for r in self.reads if not r.index.is_plain}
        why = f" (read at {', '.join(show_affine(i) for i in offsets)})" if offsets else ""
        return f"{self.label} from {self.reads[0]}{why}"
