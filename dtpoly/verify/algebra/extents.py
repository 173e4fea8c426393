"""The size of each label of a Program, as a number over the shapes of the inputs.

This is the algorithm's side: it says what sizes should be. If a wrapper computes a size that a call
leaves out, the two are compared (see left_out).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.size_rule import AxisRead, SizeRule
from dtpoly.algorithm.sizes import extent_label, size_rules, used_labels
from dtpoly.verify.algebra.whole import Whole, both, compare, either, extreme, name, number


def sizes_of(program: Program, *, are_free: bool = False) -> dict[str, Whole]:
    """Return the size of every label. A size that a call must pass is a name of its own.

    With `are_free`, a size that a call may pass is such a name, too. Then a proof holds for all
    sizes for which every read is inside, and the size where a call passes none is one case of it.
    """
    sizes: dict[str, Whole] = {}
    for rule in _rules(program):
        if rule.is_passed or (are_free and rule.is_bounded):
            sizes[rule.label] = name(size_name(rule.label))
        else:
            sizes[rule.label] = _decided(program, rule, rule.reads, sizes)
    return sizes


def size_name(label: str) -> str:
    """Return the name that proofs use for the size that is passed for a label."""
    return f"{label}_size"


def left_out(program: Program) -> dict[str, Whole]:
    """Return the size of each label for which a call may pass one, for calls that pass none."""
    sizes = sizes_of(program, are_free=True)
    return {
        rule.label: _decided(program, rule, (*rule.reads, *rule.otherwise), sizes)
        for rule in _rules(program)
        if rule.is_bounded
    }


def _rules(program: Program) -> Iterator[SizeRule]:
    used = used_labels(program)
    return (rule for rule in size_rules(program) if rule.label in used)


def _decided(
    program: Program, rule: SizeRule, reads: Sequence[AxisRead], sizes: Mapping[str, Whole]
) -> Whole:
    """Return the size that the file gives a label, or the one that follows from some reads."""
    if rule.size is not None:
        return number(rule.size)
    # If the label is a Func's own, the Func must be as large as it is read; otherwise the label may
    # be as large as the tensors that it reads allow.
    is_reach = rule.label not in reads[0].index.labels
    total: Whole | None = None
    for read in reads:
        one = _reach(read.index, sizes) if is_reach else _fit(program, read, rule.label, sizes)
        total = one if total is None else extreme(is_reach, total, one)
    assert total is not None
    return total


def extent(program: Program, tensor: str, axis: int, sizes: Mapping[str, Whole]) -> Whole:
    """Return the size of an axis of an input or of a Func."""
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
