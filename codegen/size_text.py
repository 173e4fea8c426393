"""Writes the Python that finds the size of every label, and refuses tensors that disagree.

The rules are those of `dtpoly.algorithm.sizes`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

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

from .layout import call, inside, joined, tuple_of

LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Sizing:
    """All that the text about sizes is written from: names of inputs, of sizes, and of keywords."""

    program: Program
    inputs: Mapping[str, str]
    sizes: Mapping[str, str]  # label -> variable
    keywords: Mapping[str, str]  # label -> parameter, where the size must be passed
    is_checked: bool = True  # whether what is passed is looked at

    def extent(self, read: AxisRead) -> str:
        """Write the length of the axis of a read."""
        label = extent_label(self.program, read.tensor, read.axis)
        if label is not None:
            return self.sizes[label]
        return f"{self.inputs[read.tensor]}.shape[{read.axis}]"


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


def size_lines(sizing: Sizing, only: Collection[str] | None = None) -> list[str]:
    """A variable for the size of each label, or only for some and those that they need."""
    rules = used_rules(sizing.program)
    if only is not None:
        needed = _needed(sizing.program, rules, only)
        given = needed.union(*(r.instead(()) for r in rules if r.label in needed))
        lines = _given(sizing, [rule for rule in rules if rule.label in given])
        rules = tuple(rule for rule in rules if rule.label in needed)
    else:
        lines = _given(sizing, rules)
    before: list[str] = []
    at = 0
    while at < len(rules):
        shown = _whole_shape(sizing.program, rules[at:])
        if shown > 1:
            names = ", ".join(sizing.sizes[rule.label] for rule in rules[at : at + shown])
            lines.append(f"{names} = {sizing.inputs[rules[at].reads[0].tensor]}.shape")
        elif rules[at].is_bounded:
            lines += _unless_given(sizing, rules[at], before)
        else:
            lines += _size(sizing, rules[at])
        before += [rule.label for rule in rules[at : at + max(shown, 1)]]
        at += max(shown, 1)
    return [*lines, *_limit_lines(sizing, rules)]


def _limit_lines(sizing: Sizing, rules: Iterable[SizeRule]) -> Iterator[str]:
    """Refuse sizes that tensors show, and for which a value would not fit 64 bits."""
    limits = largest_sizes(sizing.program) if sizing.is_checked else {}
    for rule in rules:
        if rule.label in limits and (rule.is_bounded or not rule.is_passed):
            variable = sizing.sizes[rule.label]
            seen = [f'"{rule.label}"', variable, "0", _most(sizing, rule.label)]
            yield from call(f"{variable} = dt_int", seen)


def _most(sizing: Sizing, label: str) -> str:
    """Write the largest size that a call may have."""
    limits = largest_sizes(sizing.program)
    return str(limits[label][0] if label in limits else LARGEST)


def _given(sizing: Sizing, rules: Iterable[SizeRule]) -> list[str]:
    """Read the sizes that a call may leave out, before any of them is computed."""
    lines: list[str] = []
    for label in (rule.label for rule in rules if rule.is_bounded):
        variable, keyword = sizing.sizes[label], sizing.keywords[label]
        if sizing.is_checked:
            lines += call(f"{variable} = dt_given", [f'"{label}"', keyword, _most(sizing, label)])
        else:
            lines.append(f"{variable} = {keyword}")
    return lines


def _unless_given(sizing: Sizing, rule: SizeRule, before: Sequence[str]) -> list[str]:
    """The largest size that fits, if the call says none."""
    lines: list[str] = []
    instead = rule.instead(before)
    if instead and sizing.is_checked:
        none = [f"{sizing.sizes[label]} is None" for label in instead]
        some = none[0] if len(none) == 1 else f"({' or '.join(none)})"
        lines += joined("if", "and", [f"{sizing.sizes[rule.label]} is None", some], ":")
        seen = [f'"{label}"' for label in (rule.label, *instead)]
        lines += inside(call("raise dt_not_passed", seen, indent=8))
    lines.append(f"if {sizing.sizes[rule.label]} is None:")
    return [*lines, *inside(_size(sizing, rule))]


def _needed(program: Program, rules: Sequence[SizeRule], only: Collection[str]) -> set[str]:
    """The labels, and those from whose sizes theirs follow."""
    needed = set(only)
    for at, rule in reversed([*enumerate(rules)]):
        known = [one.label for one in rules[:at]]
        if rule.label in needed:
            for read in (*rule.reads, *rule.otherwise):
                extent = extent_label(program, read.tensor, read.axis)
                later = rule.instead(known) if read in rule.otherwise else ()
                needed.update(label for label in read.index.labels if label not in later)
                needed.update((extent,) if extent else ())
    return needed


def _whole_shape(program: Program, rules: Sequence[SizeRule]) -> int:
    """How many rules take, one after another, every axis of one input as it is."""
    reads = [rule.reads[0] if rule.reads else None for rule in rules]
    first = reads[0]
    if first is None or extent_label(program, first.tensor, first.axis) is not None:
        return 0
    rank = _ranks(program)[first.tensor]
    is_fit = len(rules) >= rank and all(
        read is not None
        and (read.tensor, read.axis) == (first.tensor, axis)
        and all(one.index.is_plain for one in rule.reads)
        for axis, (rule, read) in enumerate(zip(rules[:rank], reads, strict=False))
    )
    return rank if is_fit else 0


def _ranks(program: Program) -> dict[str, int]:
    """How many axes each tensor has, those too along which it is only read through a pad."""
    return {read.tensor: len(read.indices) for func in program.funcs for read in reads(func.body)}


def _size(sizing: Sizing, rule: SizeRule) -> list[str]:
    variable = sizing.sizes[rule.label]
    if rule.size is not None:
        return [f"{variable} = {rule.size}"]
    if rule.otherwise:
        largest = [_largest(sizing, read, rule.label) for read in rule.otherwise]
        return _one_of(f"{variable} =", "min", largest)
    if rule.is_passed and not sizing.is_checked:
        return [f"{variable} = {sizing.keywords[rule.label]}"]
    if rule.is_passed:
        arguments = [f'"{rule.label}"', sizing.keywords[rule.label], "0", _most(sizing, rule.label)]
        return call(f"{variable} = dt_int", arguments)
    if rule.label not in rule.reads[0].index.labels:
        # The size of a Func is as large as it is read.
        reaches = [_sum(sizing, read.index) for read in rule.reads]
        return _one_of(f"{variable} =", "max", reaches)
    return _one_of(
        f"{variable} =", "min", [_largest(sizing, read, rule.label) for read in rule.reads]
    )


def _sum(sizing: Sizing, index: Affine) -> str:
    return show_affine(index.substitute({v: Affine(((sizing.sizes[v], 1),)) for v in index.labels}))


def _one_of(head: str, function: str, values: Sequence[str]) -> list[str]:
    values = list(dict.fromkeys(values))
    if len(values) == 1:
        return [f"{head} {values[0]}"]
    return call(f"{head} {function}", values)


def _smallest(sizing: Sizing, reads: Sequence[AxisRead], label: str) -> str:
    """The largest size of a label for which several reads stay inside."""
    values = list(dict.fromkeys(_largest(sizing, read, label) for read in reads))
    return values[0] if len(values) == 1 else f"min({', '.join(values)})"


def _largest(sizing: Sizing, read: AxisRead, label: str) -> str:
    """The same for one read."""
    extent = sizing.extent(read)
    if read.index.is_plain:
        return extent
    coefficient = dict(read.index.terms)[label]
    fixed = sizing.program.fixed
    least = most = read.index.constant
    below, above = list[str](), list[str]()
    for other, factor in read.index.terms:
        if other == label:
            continue
        if other in fixed:
            least += min(factor * (fixed[other] - 1), 0)
            most += max(factor * (fixed[other] - 1), 0)
        else:
            reach = f"max({sizing.sizes[other]} - 1, 0)"
            reach = reach if factor == 1 else f"{factor} * {reach}"
            (above if factor > 0 else below).append(reach)
    low, high = [str(least), *below], [str(most), *above]
    if coefficient > 0 and not below and least >= 0:
        # Below the end, and then whole steps that fit: never less than none.
        constant = coefficient - 1 - most
        shift = f" {'+' if constant > 0 else '-'} {abs(constant)}" if constant else ""
        room = " - ".join([extent, *high[1:]]) + shift
        steps = room if coefficient == 1 else f"({room}) // {coefficient}"
        return f"max({steps}, 0)" if steps != extent else extent
    ends = [" + ".join(end[1:] if end[0] == "0" and len(end) > 1 else end) for end in (low, high)]
    return f"dt_fit({extent}, {ends[0]}, {ends[1]}, {coefficient})"


# Checks


def check_lines(sizing: Sizing) -> list[str]:
    """Refuse sizes on which tensors disagree, then reads outside."""
    program = sizing.program
    rules = {rule.label: rule for rule in used_rules(program)}
    groups: dict[tuple[str, int], list[AxisRead]] = {}
    for read in axis_reads(program):
        groups.setdefault((read.tensor, read.axis), []).append(read)
    lines: list[str] = []
    checked: set[tuple[str, int, str]] = set()
    for tensor in sizing.inputs:
        shape = _shape_check(sizing, tensor, groups, rules)
        if shape is not None:
            lines += shape[0]
            checked |= shape[1]
    for (tensor, axis), group in groups.items():
        for label in dict.fromkeys(name for read in group for name in read.index.labels):
            alone = _alone(group, label)
            if alone and (tensor, axis, label) not in checked:
                lines += _disagreement(sizing, label, alone, rules)
    rooms = needing_room(program)
    for key, group in groups.items():
        for read in {read.index: read for read in group}.values():
            if not _is_inside(read, rules):
                lines += _outside(sizing, read)
            for label in rooms.get((*key, read.index), ()):
                lines += _outside(sizing, read, label)
    return lines


def _alone(group: Sequence[AxisRead], label: str) -> tuple[AxisRead, ...]:
    """The reads of an axis whose index has no other label."""
    return tuple(read for read in group if read.index.labels == (label,))


def _decides(rule: SizeRule, reads: Sequence[AxisRead]) -> bool:
    """Whether a rule takes these reads and no others."""
    return {(r.tensor, r.axis, r.index) for r in rule.reads} == {
        (r.tensor, r.axis, r.index) for r in reads
    } and bool(rule.reads and rule.label in rule.reads[0].index.labels)


def _is_inside(read: AxisRead, rules: Mapping[str, SizeRule]) -> bool:
    """Whether a read stays inside by what was decided, or checked, about its label."""
    if len(read.index.labels) == 1:
        return True
    return any(
        label in rule.reads[0].index.labels
        and any((r.tensor, r.axis, r.index) == (read.tensor, read.axis, read.index) for r in reads)
        for label, rule in rules.items()
        if (reads := rule.reads) and not rule.is_bounded
    )


def _shape_check(
    sizing: Sizing,
    tensor: str,
    groups: Mapping[tuple[str, int], list[AxisRead]],
    rules: Mapping[str, SizeRule],
) -> tuple[list[str], set[tuple[str, int, str]]] | None:
    """One comparison for an input each axis of which some label has as it is."""
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
    if not must:
        return None
    names = [sizing.sizes[label] for label in labels]
    axes = [f'("{v}", {sizing.sizes[v]}, {_source(sizing, rules[v])})' for v in labels]
    refused = call("raise dt_other_shape", [f'"{tensor}"', sizing.inputs[tensor], *axes], indent=8)
    condition = f"if {sizing.inputs[tensor]}.shape != {tuple_of(names)}:"
    return [condition, *inside(refused)], {(tensor, at, label) for at, label in enumerate(labels)}


def _disagreement(
    sizing: Sizing, label: str, alone: Sequence[AxisRead], rules: Mapping[str, SizeRule]
) -> list[str]:
    rule = rules[label]
    if _decides(rule, alone):
        return []
    extent = extent_label(sizing.program, alone[0].tensor, alone[0].axis)
    size = _smallest(sizing, alone, label)
    if extent == label and all(read.index.is_plain for read in alone):
        return []
    variable = sizing.sizes[label]
    seen = [f'"{label}"', variable, _source(sizing, rule), size, _by(sizing, alone)]
    refused = call("raise dt_disagree", seen, indent=8)
    return [*joined("if", "!=", [size, variable], ":"), *inside(refused)]


def _source(sizing: Sizing, rule: SizeRule) -> str:
    """Write where a size comes from, for a message."""
    if rule.size is not None:
        return '"as the file says"'
    return '"as passed"' if rule.is_passed else _by(sizing, rule.reads)


def _by(sizing: Sizing, reads: Sequence[AxisRead]) -> str:
    """Name the axis that shows a size, and how long it is if that is not the size itself."""
    indices = dict.fromkeys(show_affine(read.index) for read in reads)
    if all(read.index.is_plain for read in reads):
        return f'"by {reads[0]}"'
    read = f"which is {{{sizing.extent(reads[0])}}} and read at {' and '.join(indices)}"
    return f'f"by {reads[0]}, {read}"'


def _outside(sizing: Sizing, read: AxisRead, decided: str | None = None) -> Iterator[str]:
    """Refuse a tensor that is too small for a read. A label that is `decided` counts as index 0."""
    index, extent, fixed = read.index, sizing.extent(read), sizing.program.fixed
    low, high = Affine((), index.constant), Affine((), index.constant)
    for label, factor in index.terms:
        reach = Affine(((sizing.sizes[label], factor),), -factor)
        if label == decided:
            reach = Affine()
        elif label in fixed:
            reach = Affine((), factor * (fixed[label] - 1))
        low, high = (low, high + reach) if factor > 0 else (low + reach, high)
    some = [sizing.sizes[label] for label in index.labels if label not in (decided, *fixed)]
    said = ", ".join(
        f"{label}={fixed[label] if label in fixed else f'{{{sizing.sizes[label]}}}'}"
        for label in index.labels
        if label != decided
    )
    sizes = [f'{"f" if some else ""}"{said}"'] if len(index.labels) > 1 else []
    for value, is_wrong in ((low, "< 0"), (high, f">= {extent}")):
        if not value.terms and (value.constant >= 0) == (is_wrong == "< 0"):
            continue  # it is never below 0; or it is, and no extent is below 0
        text = show_affine(value)
        seen = [f'"{read.tensor}"', str(read.axis), extent, f'"{show_affine(index)}"', text, *sizes]
        yield from joined("if", "and", [*some, f"{text} {is_wrong}"], ":")
        yield from inside(call("raise dt_outside", seen, indent=8))
