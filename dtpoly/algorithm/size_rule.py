"""The rule that gives a label its size: the axes that show it, and whether a call may pass it."""

from collections.abc import Collection

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.show import show_affine
from dtpoly.frozen import dataclass
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class AxisRead:
    """One read of one axis of a tensor input or of a Func, where no padding is outside of it."""

    tensor: str
    axis: int
    index: Affine
    span: Span | None

    def __str__(self) -> str:
        return f"{self.tensor}.shape[{self.axis}]"


@dataclass(frozen=True, slots=True)
class SizeRule:
    """How a label gets its size: the largest for which every read of one axis is inside.

    Without reads no tensor shows the size: the file says it, or the caller must pass it.
    """

    label: str
    reads: tuple[AxisRead, ...] = ()
    size: int | None = None  # if the file says it
    # No axis shows it, it stands in sums alone: a call may pass any size for which all is inside.
    is_bounded: bool = False
    # The reads that decide it where the sizes of all that is added to it are passed instead.
    otherwise: tuple[AxisRead, ...] = ()

    @property
    def is_passed(self) -> bool:
        """True if the caller must pass it, or others instead."""
        return not self.reads and self.size is None

    @property
    def may_be_passed(self) -> bool:
        """True if a call has an argument for it."""
        return self.is_passed or self.is_bounded

    def instead(self, known: Collection[str]) -> tuple[str, ...]:
        """The labels whose sizes may be passed instead of its own, beside those known."""
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
