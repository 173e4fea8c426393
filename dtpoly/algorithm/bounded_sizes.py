"""Finds the labels whose size a call may pass because no axis of a tensor shows it exactly.

It also says which reads must then stay inside of their tensors.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.size_rule import AxisRead, SizeRule


def with_bounded(
    rules: Sequence[SizeRule], reads: Sequence[AxisRead], extents: Mapping[tuple[str, int], str]
) -> Iterator[SizeRule]:
    """The rules, with what may be passed: the sizes that no axis shows exactly.

    The extents are the labels of the axes of Funcs.
    """
    exact = {one.label for one in rules if one.size is not None}
    exact |= {one.label for one in rules for r in one.reads[:1] if one.label not in r.index.labels}
    sums: dict[str, list[AxisRead]] = {}
    for read in reads:
        labels, extent = read.index.labels, extents.get((read.tensor, read.axis))
        if len(labels) > 1:
            for label in labels:
                sums.setdefault(label, []).append(read)
        elif not (read.index.is_plain and labels == (extent,)):
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
            yield rule  # what it would follow from follows from it
        else:
            yield replace(rule, is_bounded=True, otherwise=tuple(mine))


def labels_needing_room(
    rules: Sequence[SizeRule], reads: Sequence[AxisRead], reduced: frozenset[str]
) -> dict[tuple[str, int, Affine], tuple[str, ...]]:
    """The labels of which each read must be inside for one index, by tensor, axis and index.

    Their sizes are not shown exactly. If another size of the index is fixed or passed, somebody
    said that it is as large as that; and a reduction over nothing has a value that nobody means.
    So a tensor that is too small is refused; it does not make the size 0.
    """
    by_label = {rule.label: rule for rule in rules}
    found: dict[tuple[str, int, Affine], tuple[str, ...]] = {}
    for read in reads:
        others = [by_label[label] for label in read.index.labels]
        labels = tuple(
            rule.label
            for rule in others
            if (rule.is_bounded or read in rule.reads)
            and len(others) > 1
            and (rule.label in reduced or any(_is_said(one, rule.label) for one in others))
        )
        if labels:
            found[read.tensor, read.axis, read.index] = labels
    return found


def _is_said(rule: SizeRule, beside: str) -> bool:
    """Whether the size of another label is fixed, or a call may pass it."""
    return rule.label != beside and (not rule.reads or rule.is_bounded)
