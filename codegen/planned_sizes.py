"""Plans how a call finds the size of every label, and which tensors it refuses.

The rules are those of `dtpoly.algorithm.label_sizes`.
"""

from collections.abc import Iterator, Mapping, Sequence, Set

from dtpoly.algorithm.expressions import Affine, Expr
from dtpoly.algorithm.label_sizes import (
    axis_reads,
    extent_label,
    needing_room,
    size_rules,
    used_labels,
)
from dtpoly.algorithm.program import Program, touched
from dtpoly.algorithm.show import show_affine
from dtpoly.algorithm.size_rule import AxisRead, SizeRule
from dtpoly.algorithm.value_limits import largest_sizes
from dtpoly.plan.formula import (
    Applied,
    Formula,
    FormulaExtent,
    FormulaNumber,
    names_in,
    show,
)
from dtpoly.plan.plan import Demand, PlannedSize, SameShape, SameSize, StaysInside

from .divided_sizes import ends_of, largest_divided
from .formulas import down, minus, number, of_affine, one_of, plus, times, total
from .sizing import Sizing

# Above this, the end of the last tile may be beyond 32 bits.
LARGEST_SHORT = 2**31 - 2**20 - 1
Groups = Mapping[tuple[str, int], list[AxisRead]]
Rules = Mapping[str, SizeRule]


def used_rules(program: Program) -> tuple[SizeRule, ...]:
    """Give the rule for the size of each label that is used, in an order that works."""
    used = used_labels(program)
    return tuple(rule for rule in size_rules(program) if rule.label in used)


def passed_labels(program: Program) -> tuple[str, ...]:
    """Return labels whose size no tensor shows."""
    return tuple(rule.label for rule in used_rules(program) if rule.is_passed)


def keyword_labels(program: Program) -> dict[str, bool]:
    """Return labels whose size a call may pass, and whether it may leave it out."""
    return {r.label: r.is_bounded for r in used_rules(program) if r.may_be_passed}


def planned_sizes(sizing: Sizing) -> Iterator[PlannedSize]:
    """Yield the size of each label that is used, in an order in which they can be computed."""
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
            most=_most(sizing.program, rule, limits),
            shown=_shown(sizing, rule, formula),
        )
        before.append(rule.label)


def _most(program: Program, rule: SizeRule, limits: Mapping[str, tuple[int, Expr]]) -> int | None:
    """Return the largest size of a label that a function takes, if there is a limit.

    A size that a quotient decides is a multiple of a length. If the kernel is also given that
    length, no proof can tell from which of the two a number of 32 bits is computed. So both have 32
    bits.
    """
    found = [limits[rule.label][0]] if rule.label in limits else []
    axes = {(read.tensor, read.axis) for read in rule.reads if read.index.divisions}
    is_shared = any(extent_label(program, *axis) is not None for axis in axes) or any(
        (read.tensor, read.axis) in axes and read not in rule.reads for read in axis_reads(program)
    )
    return min([*found, *([LARGEST_SHORT] if is_shared else [])], default=None)


def sizes_for(sizing: Sizing, only: Set[str]) -> list[tuple[str, PlannedSize]]:
    """Return the sizes of some labels, and those from which they are computed, in order."""
    wanted = {sizing.labels[label] for label in only}
    found: list[tuple[str, PlannedSize]] = []
    rules = [rule.label for rule in used_rules(sizing.program)]
    for label, size in reversed([*zip(rules, planned_sizes(sizing), strict=True)]):
        if size.label in wanted:
            found.append((label, size))
            wanted |= names_in(size.formula) if size.formula is not None else set()
    return found[::-1]


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
    """Return the largest size of a label for which a read stays inside."""
    extent = sizing.extent(read)
    if read.index.is_plain:
        return extent
    if read.index.divisions:
        return largest_divided(sizing, read.index, label, extent)
    coefficient = dict(read.index.linear)[label]
    fixed = sizing.program.fixed
    least = most = read.index.constant
    below, above = list[Formula](), list[Formula]()
    for other, factor in read.index.linear:
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
    """Return the reads of an axis whose index has no other label, and decides its size."""
    return tuple(read for read in group if read.decides_alone == label)


def _decides(rule: SizeRule, group: Sequence[AxisRead]) -> bool:
    """Return whether a rule takes these reads and no others."""
    mine = {(r.tensor, r.axis, r.index) for r in rule.reads}
    is_shown = bool(rule.reads and rule.label in rule.reads[0].index.labels)
    return is_shown and mine == {(r.tensor, r.axis, r.index) for r in group}


def _is_inside(read: AxisRead, rules: Rules) -> bool:
    """Return whether a read stays inside by what was decided, or demanded, about its label."""
    if len(read.index.labels) == 1:
        return read.decides_alone is not None
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
    """Return the labels of an input's shape, if each axis has the size of some label.

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
    """Return how many axes each tensor has, those too along which it is only read through a pad."""
    return {read.tensor: len(read.indices) for func in program.funcs for read in touched(func)}


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
    some = [label for label in index.labels if label not in (decided, *fixed)]
    said = ", ".join(
        f"{label}={fixed[label] if label in fixed else f'{{{sizing.labels[label]}}}'}"
        for label in index.labels
        if label != decided
    )
    lowest, highest = _ends_inside(sizing, index, decided)
    if lowest is not None or highest is not None:
        yield StaysInside(
            read.tensor,
            read.axis,
            sizing.extent(read),
            show_affine(index),
            lowest,
            highest,
            tuple(sizing.labels[label] for label in some),
            said if len(index.labels) > 1 else "",
        )


def _ends_inside(
    sizing: Sizing, index: Affine, decided: str | None
) -> tuple[Formula | None, Formula | None]:
    """Return the ends of an index that are to be tested, where no label has the size 0."""
    if index.divisions:
        put = {} if decided is None else {decided: Affine()}
        found = ends_of(sizing, index.substitute(put), lambda size: minus(size, number(1)))
    else:
        low, high = _linear_ends(sizing, index, decided)
        found = _reached(sizing, low), _reached(sizing, high)
    # A number is never below 0; or it is, and no extent is below 0.
    lowest, highest = found
    is_low = not isinstance(lowest, FormulaNumber) or lowest.value < 0
    is_high = not isinstance(highest, FormulaNumber) or highest.value >= 0
    return lowest if is_low else None, highest if is_high else None


def _linear_ends(sizing: Sizing, index: Affine, decided: str | None) -> tuple[Affine, Affine]:
    fixed = sizing.program.fixed
    low, high = Affine((), index.constant), Affine((), index.constant)
    for label, factor in index.linear:
        reach = Affine(((label, factor),), -factor)
        if label == decided:
            reach = Affine()
        elif label in fixed:
            reach = Affine((), factor * (fixed[label] - 1))
        low, high = (low, high + reach) if factor > 0 else (low + reach, high)
    return low, high
