"""Chooses a size for every label of a Program, such that there are tensors that fit."""

from dataclasses import dataclass

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.label_sizes import axis_reads, extent_label, largest_size
from dtpoly.algorithm.program import Program
from tests.generation.choice import Choose


@dataclass(frozen=True, slots=True)
class _Read:
    """The labels that read one axis whole, and those that read it shifted."""

    whole: tuple[str, ...]
    shifted: tuple[tuple[str, frozenset[Affine]], ...]


def label_sizes(choose: Choose, program: Program, least: int, most: int) -> dict[str, int]:
    """Sizes between the two; a label that only reads shifted (`g[y + 2]`) may get a smaller one.

    Labels that read one axis alike have one size; a label that reads it shifted is as large as
    that allows.
    """
    labels = [label.name for label in program.labels]
    axes = _axes(program)
    leader = {label: label for label in labels}
    shifts: dict[tuple[str, frozenset[Affine]], str] = {}
    for axis in axes:
        for label in axis.whole[1:]:
            _merge(leader, axis.whole[0], label)
        for shift in axis.shifted if axis.whole else ():
            _merge(leader, shifts.setdefault(shift, axis.whole[0]), axis.whole[0])
    drawn = {label: least + choose(most - least + 1) for label in labels}
    sizes = {label: drawn[leader[label]] for label in labels}
    # A chain of shifts is at most as long as there are labels.
    for _ in labels:
        for axis in axes:
            _fit(axis, sizes, leader)
    return sizes


def _axes(program: Program) -> list[_Read]:
    groups: dict[tuple[str, int], dict[str, set[Affine]]] = {}
    for read in axis_reads(program):
        by_label = groups.setdefault((read.tensor, read.axis), {})
        for label in read.index.labels[: len(read.index.labels) == 1]:
            by_label.setdefault(label, set()).add(read.index)
    axes: list[_Read] = []
    for (tensor, axis), by_label in groups.items():
        extent = extent_label(program, tensor, axis)
        whole = [label for label, indices in by_label.items() if all(i.is_plain for i in indices)]
        shifted = ((v, frozenset(i)) for v, i in by_label.items() if v not in whole)
        axes.append(_Read((*([extent] if extent else []), *whole), tuple(shifted)))
    return axes


def _merge(leader: dict[str, str], first: str, second: str) -> None:
    old, new = leader[second], leader[first]
    leader.update({label: new for label, its in leader.items() if its == old})


def _fit(axis: _Read, sizes: dict[str, int], leader: dict[str, str]) -> None:
    if axis.whole:
        extent = sizes[axis.whole[0]]
    else:
        extent = max((_reach(indices, sizes[label]) for label, indices in axis.shifted), default=0)
    for label, indices in axis.shifted:
        size = min(largest_size(index, label, extent, sizes) for index in indices)
        sizes.update({other: size for other in sizes if leader[other] == leader[label]})


def _reach(indices: frozenset[Affine], size: int) -> int:
    """Return the smallest length that an axis can have."""
    return max(1 + index.constant + index.terms[0][1] * (size - 1) for index in indices)
