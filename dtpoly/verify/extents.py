"""A Program in, the size of each label out: a number over the shapes of the inputs."""

from __future__ import annotations

from collections.abc import Mapping

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.sizes import AxisRead, extent_label, size_rules, used_labels
from dtpoly.verify.whole import Whole, both, compare, either, extreme, name, number


def sizes_of(program: Program) -> dict[str, Whole]:
    """The size of every label; of those that are passed a name."""
    sizes: dict[str, Whole] = {}
    used = used_labels(program)
    for rule in size_rules(program):
        if rule.label not in used:
            continue
        if rule.size is not None:
            sizes[rule.label] = number(rule.size)
            continue
        if rule.is_passed:
            sizes[rule.label] = name(f"{rule.label}_size")
            continue
        # The size of a Func is as large as it is read.
        is_reach = rule.label not in rule.reads[0].index.labels
        values = [
            _reach(read.index, sizes) if is_reach else _fit(program, read, rule.label, sizes)
            for read in rule.reads
        ]
        total = values[0]
        for one in values[1:]:
            total = extreme(is_reach, total, one)
        sizes[rule.label] = total
    return sizes


def extent(program: Program, tensor: str, axis: int, sizes: Mapping[str, Whole]) -> Whole:
    """The size of an axis of an input or of a Func."""
    label = extent_label(program, tensor, axis)
    return name(f"{tensor}.shape[{axis}]") if label is None else sizes[label]


def _reach(index: Affine, sizes: Mapping[str, Whole]) -> Whole:
    total = number(index.constant)
    for label, coefficient in index.terms:
        total = total + sizes[label] * coefficient
    return total


def _fit(program: Program, read: AxisRead, label: str, sizes: Mapping[str, Whole]) -> Whole:
    size = extent(program, read.tensor, read.axis, sizes)
    if read.index.is_plain:
        return size
    own = dict(read.index.terms)[label]
    low = high = number(read.index.constant)
    for other, coefficient in read.index.terms:
        if other == label:
            continue
        end = extreme(True, sizes[other] - 1, number(0)) * coefficient
        low, high = low + extreme(False, end, number(0)), high + extreme(True, end, number(0))
    largest = (size - 1 - high).floor(own) + 1 if own > 0 else low.floor(-own) + 1
    inside = both(compare(">=", low, number(0)), compare("<", high, size))
    return either(inside, largest, number(0))
