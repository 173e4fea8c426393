"""Plans how a call finds the size of every label, and which tensors it refuses.

The rules are those of `dtpoly.algorithm.sizes`.
"""

from collections.abc import Iterator, Mapping, Sequence

from dtpoly.algorithm.expressions import Affine, reads
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_affine
from dtpoly.algorithm.size_rule import AxisRead, SizeRule
from dtpoly.algorithm.sizes import (
    axis_reads,
    extent_label,
    needing_room,
    size_rules,
    used_labels,
)
from dtpoly.algorithm.value_limits import largest_sizes
from dtpoly.frozen import dataclass
from dtpoly.plan.formula import Applied, Formula, FormulaExtent, show
from dtpoly.plan.plan import Demand, PlannedSize, SameShape, SameSize, StaysInside

from .formulas import down, minus, named, number, of_affine, one_of, plus, times, total

Groups = Mapping[tuple[str, int], list[AxisRead]]
Rules = Mapping[str, SizeRule]


@dataclass(frozen=True, slots=True)
class Sizing:
    """A Program, and the names that its inputs and labels have in the plan."""

    program: Program
    inputs: Mapping[str, str]
    labels: Mapping[str, str]

    def size(self, label: str) -> Formula:
        """The size of a label."""
        return named(self.labels[label])

    def extent(self, read: AxisRead) -> Formula:
        """The length of the axis of a read."""
        label = extent_label(self.program, read.tensor, read.axis)
        if label is not None:
            return self.size(label)
        return FormulaExtent(self.inputs[read.tensor], read.axis)


def used_rules(program: Program) -> tuple[SizeRule, ...]:
    """Give the rule for the size of each label that is used, in an order that works."""
    used = used_labels(program)
    return tuple(rule for rule in size_rules(program) if rule.label in used)


def passed_labels(program: Program) -> tuple[str, ...]:
    """Labels whose size no tensor shows."""
    return tuple(rule.label for rule in used_rules(program) if rule.is_passed)


def keyword_labels(program: Program) -> dict[str, bool]:
    """Labels whose size a call may pass, and whether it may leave it out."""
    return {r.label: r.is_bounded for r in used_rules(program) if r.may_be_passed}


def planned_sizes(sizing: Sizing) -> Iterator[PlannedSize]:
    """The size of each label that is used, in an order in which they can be computed."""
    limits = largest_sizes(sizing.program)
    before: list[str] = []
    for rule in used_rules(sizing.program):
        formula = _formula(sizing, rule)
        instead = rule.instead(before) if rule.is_bounded else ()
        yield PlannedSize(
            sizing.labels[rule.label],
            formula,
            is_passed=rule.may_be_passed,
            instead=tuple(sizing.labels[label] for label in instead),
            most=limits[rule.label][0] if rule.label in limits else None,
            shown=_shown(sizing, rule, formula),
        )
        before.append(rule.label)


def _formula(sizing: Sizing, rule: SizeRule) -> Formula | None:
    if rule.size is not None:
        return number(rule.size)
    if rule.otherwise:
        return one_of("min", [_largest(sizing, read, rule.label) for read in rule.otherwise])
    if rule.is_passed:
        return None
    if rule.label not in rule.reads[0].index.labels:
        # The size of a Func is as large as it is read.
        return one_of("max", [_reached(sizing, read.index) for read in rule.reads])
    return one_of("min", [_largest(sizing, read, rule.label) for read in rule.reads])


def _reached(sizing: Sizing, index: Affine) -> Formula:
    return of_affine(index, {label: sizing.size(label) for label in index.labels})


def _largest(sizing: Sizing, read: AxisRead, label: str) -> Formula:
    """The largest size of a label for which a read stays inside."""
    extent = sizing.extent(read)
    if read.index.is_plain:
        return extent
    coefficient = dict(read.index.terms)[label]
    fixed = sizing.program.fixed
    least = most = read.index.constant
    below, above = list[Formula](), list[Formula]()
    for other, factor in read.index.terms:
        if other == label:
            continue
        if other in fixed:
            least += min(factor * (fixed[other] - 1), 0)
            most += max(factor * (fixed[other] - 1), 0)
        else:
            last = Applied("max", (minus(sizing.size(other), number(1)), number(0)))
            (above if factor > 0 else below).append(times(factor, last))
    if coefficient > 0 and not below and least >= 0:
        # Below the end, and then whole steps that fit: never less than none.
        room = extent
        for part in above:
            room = minus(room, part)
        steps = down(plus(room, number(coefficient - 1 - most)), coefficient)
        return extent if steps == extent else Applied("max", (steps, number(0)))
    low, high = _end(least, below), _end(most, above)
    return Applied("fit", (extent, low, high, number(coefficient)))


def _end(constant: int, parts: Sequence[Formula]) -> Formula:
    return total([*([number(constant)] if constant or not parts else []), *parts])


def _shown(sizing: Sizing, rule: SizeRule, formula: Formula | None) -> str:
    """Say where a size comes from, unless its formula tells."""
    if rule.size is not None or rule.is_passed:
        return ""
    first = rule.reads[0]
    is_told = all(read.index.is_plain for read in rule.reads) and isinstance(formula, FormulaExtent)
    return "" if is_told and formula == sizing.extent(first) else _by(sizing, rule.reads)


def _by(sizing: Sizing, group: Sequence[AxisRead]) -> str:
    """Name the axis that shows a size, and how long it is if that is not the size itself."""
    if all(read.index.is_plain for read in group):
        return f"by {group[0]}"
    indices = " and ".join(dict.fromkeys(show_affine(read.index) for read in group))
    return f"by {group[0]}, which is {{{show(sizing.extent(group[0]))}}} and read at {indices}"


# Demands


def demands_of(sizing: Sizing) -> Iterator[Demand]:
    """Refuse sizes on which tensors disagree, then reads outside."""
    rules = {rule.label: rule for rule in used_rules(sizing.program)}
    groups: dict[tuple[str, int], list[AxisRead]] = {}
    for read in axis_reads(sizing.program):
        groups.setdefault((read.tensor, read.axis), []).append(read)
    checked: set[tuple[str, int, str]] = set()
    for tensor in sizing.inputs:
        labels = _labels_of_shape(sizing, tensor, groups, rules)
        if labels:
            yield SameShape(sizing.inputs[tensor], tuple(sizing.labels[v] for v in labels))
            checked |= {(tensor, at, label) for at, label in enumerate(labels)}
    for (tensor, axis), group in groups.items():
        for label in dict.fromkeys(name for read in group for name in read.index.labels):
            alone = _alone(group, label)
            if alone and (tensor, axis, label) not in checked:
                yield from _agreement(sizing, label, alone, rules)
    yield from _inside(sizing, groups, rules)


def _inside(sizing: Sizing, groups: Groups, rules: Rules) -> Iterator[Demand]:
    rooms = needing_room(sizing.program)
    for key, group in groups.items():
        for read in {read.index: read for read in group}.values():
            if not _is_inside(read, rules):
                yield from _stays_inside(sizing, read)
            for label in rooms.get((*key, read.index), ()):
                yield from _stays_inside(sizing, read, label)


def _alone(group: Sequence[AxisRead], label: str) -> tuple[AxisRead, ...]:
    """The reads of an axis whose index has no other label."""
    return tuple(read for read in group if read.index.labels == (label,))


def _decides(rule: SizeRule, group: Sequence[AxisRead]) -> bool:
    """Whether a rule takes these reads and no others."""
    mine = {(r.tensor, r.axis, r.index) for r in rule.reads}
    is_shown = bool(rule.reads and rule.label in rule.reads[0].index.labels)
    return is_shown and mine == {(r.tensor, r.axis, r.index) for r in group}


def _is_inside(read: AxisRead, rules: Rules) -> bool:
    """Whether a read stays inside by what was decided, or demanded, about its label."""
    if len(read.index.labels) == 1:
        return True
    key = read.tensor, read.axis, read.index
    return any(
        label in rule.reads[0].index.labels
        and any((r.tensor, r.axis, r.index) == key for r in rule.reads)
        for label, rule in rules.items()
        if rule.reads and not rule.is_bounded
    )


def _labels_of_shape(
    sizing: Sizing, tensor: str, groups: Groups, rules: Rules
) -> tuple[str, ...] | None:
    """The labels that make the shape of an input, each axis of which some label has as it is.

    There is nothing to demand if the labels have their sizes from there.
    """
    mine = {axis: group for (name, axis), group in groups.items() if name == tensor}
    labels: list[str] = []
    must = False
    for axis in range(_ranks(sizing.program).get(tensor, 0)):
        plain = [
            label
            for label in dict.fromkeys(v for read in mine.get(axis, ()) for v in read.index.labels)
            if (alone := _alone(mine.get(axis, ()), label)) and all(r.index.is_plain for r in alone)
        ]
        open_ = [v for v in plain if not _decides(rules[v], _alone(mine[axis], v))]
        if not plain:
            return None
        labels.append(open_[0] if open_ else plain[0])
        must = must or bool(open_)
    return tuple(labels) if must else None


def _ranks(program: Program) -> dict[str, int]:
    """How many axes each tensor has, those too along which it is only read through a pad."""
    return {read.tensor: len(read.indices) for func in program.funcs for read in reads(func.body)}


def _agreement(
    sizing: Sizing, label: str, alone: Sequence[AxisRead], rules: Rules
) -> Iterator[Demand]:
    if _decides(rules[label], alone):
        return
    extent = extent_label(sizing.program, alone[0].tensor, alone[0].axis)
    if extent == label and all(read.index.is_plain for read in alone):
        return
    size = one_of("min", [_largest(sizing, read, label) for read in alone])
    yield SameSize(sizing.labels[label], size, _by(sizing, alone))


def _stays_inside(sizing: Sizing, read: AxisRead, decided: str | None = None) -> Iterator[Demand]:
    """Refuse a tensor that is too small for a read. A label that is `decided` counts as index 0."""
    index, fixed = read.index, sizing.program.fixed
    low, high = Affine((), index.constant), Affine((), index.constant)
    for label, factor in index.terms:
        reach = Affine(((label, factor),), -factor)
        if label == decided:
            reach = Affine()
        elif label in fixed:
            reach = Affine((), factor * (fixed[label] - 1))
        low, high = (low, high + reach) if factor > 0 else (low + reach, high)
    some = [label for label in index.labels if label not in (decided, *fixed)]
    said = ", ".join(
        f"{label}={fixed[label] if label in fixed else f'{{{sizing.labels[label]}}}'}"
        for label in index.labels
        if label != decided
    )
    # A number is never below 0; or it is, and no extent is below 0.
    lowest = None if not low.terms and low.constant >= 0 else low
    highest = None if not high.terms and high.constant < 0 else high
    if lowest is not None or highest is not None:
        yield StaysInside(
            read.tensor,
            read.axis,
            sizing.extent(read),
            show_affine(index),
            None if lowest is None else _reached(sizing, lowest),
            None if highest is None else _reached(sizing, highest),
            tuple(sizing.labels[label] for label in some),
            said if len(index.labels) > 1 else "",
        )
