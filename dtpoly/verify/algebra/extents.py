"""The size of each label of a Program, as a number over the shapes of the inputs.

This is the algorithm's side: it says what sizes should be. If a plan computes a size that a call
leaves out, `sizes` compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dtpoly.algorithm.expressions import Affine, Term, division
from dtpoly.algorithm.index_ends import is_natural
from dtpoly.algorithm.label_sizes import extent_label, size_rules, used_labels
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.size_rule import AxisRead, SizeRule
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
    for label, coefficient in index.linear:
        total = total + sizes[label] * coefficient
    return total


def _fit(program: Program, read: AxisRead, label: str, sizes: Mapping[str, Whole]) -> Whole:
    size = extent(program, read.tensor, read.axis, sizes)
    if read.index.is_plain:
        return size
    lasts = {
        other: extreme(True, sizes[other] - 1, number(0))
        for other in read.index.labels
        if other != label
    }
    low, high = ends(read.index, {**lasts, label: number(0)})
    inside = both(compare(">=", low, number(0)), compare("<", high, size))
    return either(inside, _largest(read.index, label, number(0), size, lasts), number(0))


def _largest(
    index: Affine, label: str, least: Whole, end: Whole, lasts: Mapping[str, Whole]
) -> Whole:
    """Return how large a label may be for a sum to be at least `least`, and below `end`.

    The sum is so where the label has one index. The other labels go up to `lasts`.
    """
    term, by = next((t, c) for t, c in index.terms if t == label or _has(t, label))
    low, high = ends(Affine(tuple(t for t in index.terms if t[0] != term), index.constant), lasts)
    if isinstance(term, str):
        return (end - 1 - high).floor(by) + 1 if by > 0 else (low - least).floor(-by) + 1
    term = division(term)
    # The quotient is at least this, and below the other one.
    first, last = -(low - least).floor(by), (end - 1 - high).floor(by) + 1
    return _largest(term.inner, label, first * term.divisor, last * term.divisor, lasts)


def _has(term: Term, label: str) -> bool:
    return not isinstance(term, str) and label in division(term).inner.labels


def ends(index: Affine, lasts: Mapping[str, Whole]) -> tuple[Whole, Whole]:
    """Return the least and the largest value of an index, if each label goes from 0 to its last.

    What the language says of remainders is in `dtpoly.algorithm.index_ends`.
    """
    low = high = number(index.constant)
    for term, coefficient in index.terms:
        if isinstance(term, str):
            first, last = number(0), lasts[term]
        else:
            term = division(term)
            first, last = ends(term.inner, lasts)
            if term.operator == "//":
                first, last = first.floor(term.divisor), last.floor(term.divisor)
            else:
                most = number(term.divisor - 1)
                first = number(0)
                last = extreme(False, last, most) if is_natural(term.inner) else most
        first, last = (first, last) if coefficient > 0 else (last, first)
        low, high = low + first * coefficient, high + last * coefficient
    return low, high
