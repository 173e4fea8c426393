"""Finds the labels whose size a call may pass because no axis of a tensor shows the size exactly.

It also finds the reads that must then stay inside their tensors.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.index_ends import decides
from dtpoly.algorithm.size_rule import AxisRead, SizeRule


def with_bounded(
    rules: Sequence[SizeRule], reads: Sequence[AxisRead], extents: Mapping[tuple[str, int], str]
) -> Iterator[SizeRule]:
    """Yield the rules, and mark those whose size a call may pass: no axis shows that size exactly.

    `extents` has the label of each axis of each Func.
    """
    exact = {one.label for one in rules if one.size is not None}
    exact |= {one.label for one in rules for r in one.reads[:1] if one.label not in r.index.labels}
    sums: dict[str, list[AxisRead]] = {}
    for read in reads:
        labels, extent = read.index.labels, extents.get((read.tensor, read.axis))
        if len(labels) > 1:
            for label in labels:
                if decides(read.index, label):
                    sums.setdefault(label, []).append(read)
        elif read.decides_alone and not (read.index.is_plain and labels == (extent,)):
            exact.update(labels)
    before: set[str] = set()
    for rule in rules:
        label, mine = rule.label, sums.get(rule.label, [])
        later = {other for read in mine for other in read.index.labels} - before - {label}
        axes = {extents.get((read.tensor, read.axis)) for read in mine} - {None} - before
        before.add(label)
        if label in exact or not mine:
            yield rule
        elif not rule.is_passed:
            yield replace(rule, is_bounded=True)
        elif axes or any(one in exact or one not in sums for one in later):
            yield rule  # its reads need sizes that are decided later, so they cannot decide it
        else:
            yield replace(rule, is_bounded=True, otherwise=tuple(mine))


def labels_needing_room(
    rules: Sequence[SizeRule], reads: Sequence[AxisRead], reduced: frozenset[str]
) -> dict[tuple[str, int, Affine], tuple[str, ...]]:
    """Return the labels whose reads must be inside their tensor even for a single index.

    The keys are a tensor, an axis and an index. No axis shows the size of these labels exactly. Two
    cases need the room: a label that is reduced, since nobody wants the value of a reduction over
    nothing; and a label whose index has another size that the file fixes or a call passes, since
    then somebody has said how large the tensor is. A tensor that is too small is refused in both
    cases. It does not make the size 0.
    """
    by_label = {rule.label: rule for rule in rules}
    found: dict[tuple[str, int, Affine], tuple[str, ...]] = {}
    for read in reads:
        others = [by_label[label] for label in read.index.labels]
        labels = tuple(
            rule.label
            for rule in others
            if len(others) > 1
            and (rule.label in reduced or any(_is_said(one, rule.label) for one in others))
            and (rule.is_bounded or read in rule.reads)  # of hundreds of reads, in a large file
        )
        if labels:
            found[read.tensor, read.axis, read.index] = labels
    return found


def _is_said(rule: SizeRule, beside: str) -> bool:
    """True if the file fixes the size of a label other than `beside`, or a call may pass it."""
    return rule.label != beside and (not rule.reads or rule.is_bounded)
