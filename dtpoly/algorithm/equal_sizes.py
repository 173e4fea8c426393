"""Finds the labels of a Program that have the same size in every call."""

from collections.abc import Iterator

from dtpoly.algorithm.label_sizes import axis_reads, extent_label, used_labels
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.size_rule import AxisRead

Shape = frozenset[tuple[int, int]]  # the (coefficient, constant) of all reads of one label


def equal_sizes(program: Program) -> dict[str, str]:
    """Map each label that is used to the first label that has the same size in every call."""
    used = used_labels(program)
    leader = {label.name: label.name for label in program.labels if label.name in used}
    for one, two in _equal_labels(program):
        first, second = leader[one], leader[two]
        keep = next(label for label in leader if label in (first, second))
        leader = {k: keep if v in (first, second) else v for k, v in leader.items()}
    return leader


def _equal_labels(program: Program) -> Iterator[tuple[str, str]]:
    used = used_labels(program)
    alike: dict[int, str] = {}
    for label, size in program.fixed.items():
        if label in used:
            yield alike.setdefault(size, label), label
    yield from always_equal(program)


def always_equal(program: Program) -> Iterator[tuple[str, str]]:
    """Yield pairs of labels of equal size: the same axis shows both sizes in the same way."""
    for (tensor, axis), group in reads_by_axis(program).items():
        extent = extent_label(program, tensor, axis)
        first: dict[Shape, str] = {frozenset([(1, 0)]): extent} if extent else {}
        for label, shape in alone(group).items():
            yield first.setdefault(shape, label), label


def reads_by_axis(program: Program) -> dict[tuple[str, int], list[AxisRead]]:
    """Return the reads of each axis of each tensor and Func."""
    groups: dict[tuple[str, int], list[AxisRead]] = {}
    for read in axis_reads(program):
        groups.setdefault((read.tensor, read.axis), []).append(read)
    return groups


def alone(group: list[AxisRead]) -> dict[str, Shape]:
    """Return the labels that are the only label of an index, each with all its indices.

    Labels whose size a quotient decides are left out.
    """
    shapes: dict[str, Shape] = {}
    by_quotient = {read.decides_alone for read in group if read.index.divisions}
    for read in group:
        match read.index.terms:
            case ((str() as label, coefficient),) if label not in by_quotient:
                pair = (coefficient, read.index.constant)
                shapes[label] = shapes.get(label, frozenset()) | {pair}
            case _:
                pass
    return shapes
