"""Holds the names that inputs and labels have in a plan."""

from collections.abc import Mapping

from dtpoly.algorithm.label_sizes import extent_label
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.size_rule import AxisRead
from dtpoly.frozen import dataclass
from dtpoly.plan.formula import Formula, FormulaExtent

from .formulas import named


@dataclass(frozen=True, slots=True)
class Sizing:
    """A Program, and the names that its inputs and labels have in the plan."""

    program: Program
    inputs: Mapping[str, str]
    labels: Mapping[str, str]

    def size(self, label: str) -> Formula:
        """Return the size of a label."""
        return named(self.labels[label])

    def extent(self, read: AxisRead) -> Formula:
        """Return the length of the axis of a read."""
        label = extent_label(self.program, read.tensor, read.axis)
        if label is not None:
            return self.size(label)
        return FormulaExtent(self.inputs[read.tensor], read.axis)
