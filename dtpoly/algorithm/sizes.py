"""Sizes of labels: which tensor decides which, which must be passed, and what they come to."""

from collections.abc import Iterator, Mapping

from dtpoly.algorithm.expressions import (
    Affine,
    Dot,
    Index,
    Read,
    Reduce,
    Reshape,
    Size,
    padded_axes,
    reads,
    walk,
)
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_affine
from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.source import Span

Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class AxisRead:
    """One read of one axis of a tensor input or of a Func, where no padding is outside of it."""

    tensor: str
    axis: int
    index: Affine
    span: Span | None

    def __str__(self) -> str:
        return f"{self.tensor}.shape[{self.axis}]"


@dataclass(frozen=True, slots=True)
class SizeRule:
    """How a label gets its size: the largest for which every read of one axis is inside.

    Without reads no tensor shows the size: the file says it, or the caller must pass it.
    """

    label: str
    reads: tuple[AxisRead, ...] = ()
    size: int | None = None  # if the file says it

    @property
    def is_passed(self) -> bool:
        """True if the caller must pass it."""
        return not self.reads and self.size is None

    def __str__(self) -> str:
        if self.size is not None:
            return f"{self.label} is {self.size}, as declared"
        if self.is_passed:
            return f"{self.label} must be passed"
        offsets = {r.index for r in self.reads if not r.index.is_plain}
        why = f" (read at {', '.join(show_affine(i) for i in offsets)})" if offsets else ""
        return f"{self.label} from {self.reads[0]}{why}"


def axis_reads(program: Program) -> tuple[AxisRead, ...]:
    """Every read of an axis that must be inside of its tensor, in program order."""
    return tuple(
        AxisRead(read.tensor, axis, index, read.span)
        for func in program.funcs
        for read in reads(func.body)
        for axis, index in enumerate(read.indices)
        if axis not in padded_axes(read)
    )


def used_labels(program: Program) -> frozenset[str]:
    """Labels whose size matters: those of a definition, and those in its body."""
    labels: set[str] = set()
    for func in program.funcs:
        labels.update(func.labels)
        for node in walk(func.body):
            match node:
                case Read(indices=indices):
                    labels.update(label for index in indices for label in index.labels)
                case Index(label=label) | Size(label=label):
                    labels.add(label)
                case Reduce(labels=reduced) | Dot(labels=reduced):
                    labels.update(reduced)
                case Reshape(axes=axes):
                    labels.update(axis for axis in axes if axis)
                case _:
                    pass
    return frozenset(labels)


def extent_label(program: Program, tensor: str, axis: int) -> str | None:
    """The label that is the extent of a Func's axis; None for a tensor input."""
    func = program.find_func(tensor)
    return func.labels[axis] if func is not None and axis < len(func.labels) else None


def size_rules(program: Program) -> tuple[SizeRule, ...]:
    """A rule for every label, in an order in which each needs only earlier ones."""
    order = {tensor.name: at for at, tensor in enumerate(program.tensors)}
    extents = {
        (func.name, axis): label for func in program.funcs for axis, label in enumerate(func.labels)
    }
    used = used_labels(program)
    fixed = program.fixed
    known = {label: SizeRule(label, size=size) for label, size in fixed.items() if label in used}
    labels = [label.name for label in program.labels if label.name in used]
    # A plain read says most; of equals, the first input as declared, and inputs before Funcs.
    pending = sorted(
        axis_reads(program),
        key=lambda r: (not r.index.is_plain, order.get(r.tensor, len(order))),
    )
    pending = [r for r in pending if not _says_nothing_more(r, extents, known)]
    while len(known) < len(labels):
        rule = (
            _decided_by_reads(pending, extents, known)
            or _decided_by_readers(pending, extents, known)
            or SizeRule(next(label for label in labels if label not in known))
        )
        known[rule.label] = rule
        pending = [r for r in pending if not _says_nothing_more(r, extents, known)]
    idle = (label.name for label in program.labels if label.name not in used)
    return (*known.values(), *(SizeRule(label, size=fixed.get(label)) for label in idle))


Extents = Mapping[tuple[str, int], str]  # the label of each axis of each Func
Known = Mapping[str, SizeRule]


def _says_nothing_more(read: AxisRead, extents: Extents, known: Known) -> bool:
    extent = extents.get((read.tensor, read.axis))
    return all(name in known for name in (*read.index.labels, *((extent,) if extent else ())))


def _decided_by_reads(pending: list[AxisRead], extents: Extents, known: Known) -> SizeRule | None:
    """The size of a label that indexes an axis whose extent is known."""
    for first in pending:
        label = _undecided(first, known)
        extent = extents.get((first.tensor, first.axis))
        if label is None or not (extent is None or extent in known):
            continue
        together = (r for r in pending if (r.tensor, r.axis) == (first.tensor, first.axis))
        return SizeRule(label, tuple(r for r in together if _undecided(r, known) == label))
    return None


def _decided_by_readers(pending: list[AxisRead], extents: Extents, known: Known) -> SizeRule | None:
    """The size of a Func's label that nothing shows: it is as large as it is read."""
    shifted = [r for r in pending if r.index.shifted in known]
    for read in shifted:
        extent = extents.get((read.tensor, read.axis))
        if extent and extent not in known:
            alike = (r for r in shifted if (r.tensor, r.axis) == (read.tensor, read.axis))
            return SizeRule(extent, tuple(alike))
    return None


def _undecided(read: AxisRead, known: Mapping[str, SizeRule]) -> str | None:
    """The one label of the index that has no size yet."""
    unknown = [label for label in read.index.labels if label not in known]
    return unknown[0] if len(unknown) == 1 else None


def largest_size(index: Affine, label: str, extent: int, sizes: Sizes) -> int:
    """The largest size of a label for which an index stays inside 0..extent-1.

    All other labels have their sizes; if one of them is 0 nothing is read at all.
    """
    low = high = index.constant
    for other, coefficient in index.terms:
        if other != label:
            reach = coefficient * max(sizes[other] - 1, 0)
            low, high = low + min(reach, 0), high + max(reach, 0)
    coefficient = dict(index.terms)[label]
    if low < 0 or high >= extent:
        return 0
    room = (extent - 1 - high) // coefficient if coefficient > 0 else low // -coefficient
    return room + 1


def sizes_of(
    program: Program, shapes: Mapping[str, tuple[int, ...]], passed: Sizes | None = None
) -> dict[str, int]:
    """The size of every label, from the tensors' shapes and from what was passed.

    Raises DtpolyError, by name and with the sizes seen, where they disagree.
    """
    given = dict(passed or {})
    used = used_labels(program)
    sizes: dict[str, int] = {}
    for rule in size_rules(program):
        if rule.label in used or rule.label in given:
            sizes[rule.label] = _size(program, rule, shapes, sizes, given)
    # Where the tensors disagree, a read may be outside for no other reason.
    wrong = list(_disagreements(program, shapes, sizes, given)) or list(
        _outside(program, shapes, sizes)
    )
    if wrong:
        raise DtpolyError(wrong)
    return sizes


def _extent(
    program: Program, read: AxisRead, shapes: Mapping[str, tuple[int, ...]], sizes: Sizes
) -> int:
    label = extent_label(program, read.tensor, read.axis)
    return shapes[read.tensor][read.axis] if label is None else sizes[label]


def _size(
    program: Program,
    rule: SizeRule,
    shapes: Mapping[str, tuple[int, ...]],
    sizes: Sizes,
    given: Sizes,
) -> int:
    if rule.size is not None:
        return rule.size
    if rule.is_passed:
        if rule.label not in given:
            raise DtpolyError([_must_be_passed(rule.label)])
        return given[rule.label]
    if rule.label not in rule.reads[0].index.labels:  # the Func is as large as it is read
        return max(sizes[r.index.labels[0]] + r.index.constant for r in rule.reads)
    return min(
        largest_size(r.index, rule.label, _extent(program, r, shapes, sizes), sizes)
        for r in rule.reads
    )


def _must_be_passed(label: str) -> Diagnostic:
    return Diagnostic(
        "DT170",
        Severity.ERROR,
        f"the size of '{label}' must be passed",
        None,
        notes=(Note(f"no tensor input is read at an index of '{label}' alone: none shows it"),),
        hint=f"pass {label}=...",
    )


def _disagreements(
    program: Program,
    shapes: Mapping[str, tuple[int, ...]],
    sizes: Sizes,
    given: Sizes,
) -> Iterator[Diagnostic]:
    decided_by = {rule.label: rule for rule in size_rules(program)}
    for label, size in given.items():
        rule = decided_by.get(label)
        if rule is not None and rule.size not in (None, size):
            yield given_otherwise(label, size, rule.size)
        elif rule is not None and rule.reads and sizes[label] != size:
            read = rule.reads[0]
            seen = _gives(read, _extent(program, read, shapes, sizes), sizes[label])
            yield _disagree(label, f"{size} was passed", seen, None)
    for group in _by_axis(program).values():
        extent = _extent(program, group[0], shapes, sizes)
        for label in dict.fromkeys(name for r in group for name in r.index.labels):
            alone = [r for r in group if r.index.labels == (label,)]
            if not alone:
                continue
            size = min(largest_size(r.index, label, extent, sizes) for r in alone)
            if size != sizes[label]:
                first = f"{sizes[label]} was passed"
                if decided_by[label].size is not None:
                    first = f"the file says that it is {sizes[label]}"
                elif decided_by[label].reads:
                    read = decided_by[label].reads[0]
                    first = _gives(read, _extent(program, read, shapes, sizes), sizes[label])
                yield _disagree(label, first, _gives(alone[0], extent, size), alone[0].span)


def _outside(
    program: Program, shapes: Mapping[str, tuple[int, ...]], sizes: Sizes
) -> Iterator[Diagnostic]:
    room = {(r.tensor, r.axis, r.index): label for label, r in needing_room(program)}
    for (tensor, axis), group in _by_axis(program).items():
        extent = _extent(program, group[0], shapes, sizes)
        for read in group:
            label = room.get((tensor, axis, read.index))
            first = sizes if label is None else {**sizes, label: max(sizes[label], 1)}
            low, high = _range(read.index, first)
            if low < 0 or high >= extent:
                reached = f"{show_affine(read.index)} reaches {low if low < 0 else high}"
                yield Diagnostic(
                    "DT173",
                    Severity.ERROR,
                    f"'{tensor}' is read outside of axis {axis}",
                    read.span,
                    f"{read} is {extent}, and {reached if read.index.terms else 'this is beyond'}",
                    hint=f"pass a larger tensor, or read through pad({tensor}, 0)",
                )


def needing_room(program: Program) -> Iterator[tuple[str, AxisRead]]:
    """Reads that must be inside for one index of the label whose size they decide.

    They have another label whose size is fixed or passed: somebody said that it is as large as
    that. So a tensor that is too small for it is refused; it does not make the other size 0.
    """
    rules = {rule.label: rule for rule in size_rules(program)}
    for label, rule in rules.items():
        for read in rule.reads:
            others = [rules[one] for one in read.index.labels if one != label]
            is_decided = label in read.index.labels
            if is_decided and any(not one.reads for one in others):
                yield label, read


def _gives(read: AxisRead, extent: int, size: int) -> str:
    return f"{read} is {extent}" + ("" if size == extent else f", which gives {size}")


def _disagree(label: str, first: str, second: str, span: Span | None) -> Diagnostic:
    return Diagnostic(
        "DT172",
        Severity.ERROR,
        f"the tensors disagree on the size of '{label}'",
        span,
        second,
        (Note(f"{first}, but {second}"),),
        f"every label has one size; use another label where '{label}' may differ",
    )


def _by_axis(program: Program) -> dict[tuple[str, int], list[AxisRead]]:
    groups: dict[tuple[str, int], list[AxisRead]] = {}
    for read in axis_reads(program):
        groups.setdefault((read.tensor, read.axis), []).append(read)
    return groups


def _range(index: Affine, sizes: Sizes) -> tuple[int, int]:
    """The smallest and the largest value of an index; (0, -1) if it has none."""
    if any(sizes[label] == 0 for label in index.labels):
        return 0, -1
    reaches = [c * (sizes[label] - 1) for label, c in index.terms]
    low = index.constant + sum(min(reach, 0) for reach in reaches)
    return low, index.constant + sum(max(reach, 0) for reach in reaches)


def input_shapes(program: Program, sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """The smallest shapes of the tensor inputs for which sizes_of gives these sizes."""
    decided = {
        (read.tensor, read.axis, read.index): rule.label
        for rule in size_rules(program)
        for read in rule.reads
    }
    shapes: dict[str, tuple[int, ...]] = {}
    all_reads = [read for func in program.funcs for read in reads(func.body)]
    for tensor in program.tensors:
        mine = [read for read in all_reads if read.tensor == tensor.name]
        rank = len(mine[0].indices) if mine else 0
        extents: list[int] = []
        for axis in range(rank):
            inside = [read.indices[axis] for read in mine if axis not in padded_axes(read)]
            # An axis that is only read through a pad is as long as its index without the shift.
            padded = [Affine(read.indices[axis].terms) for read in mine]
            labels = {i: decided.get((tensor.name, axis, i)) for i in inside or padded}
            extents.append(max(reach(index, sizes, label) for index, label in labels.items()))
        shapes[tensor.name] = tuple(extents)
    return shapes


def reach(index: Affine, sizes: Sizes, decided: str | None = None) -> int:
    """The smallest extent that holds every read at an index, and decides that label's size.

    `largest_size(index, decided, reach(index, sizes, decided), sizes) == sizes[decided]`, for
    coefficients above 0.
    """
    counted = index.labels if decided is None else (decided,)
    if any(sizes[label] == 0 for label in counted):
        return 0
    high = sum(max(c * (max(sizes[label], 1) - 1), 0) for label, c in index.terms)
    return max(index.constant + high + 1, 0)


def given_otherwise(label: str, size: int, fixed: int | None) -> Diagnostic:
    """A size that is not the one that the file says."""
    return Diagnostic(
        "DT169",
        Severity.ERROR,
        f"the size of '{label}' is {fixed}, not {size}",
        None,
        notes=(Note(f"the file fixes it: {label}: {fixed}"),),
        hint=f"leave {label} out, or change its declaration",
    )


def check_sizes(program: Program) -> list[Diagnostic]:
    """A note for each size that no tensor shows."""
    used = used_labels(program)
    spans = {label.name: label.span for label in program.labels}
    return [
        Diagnostic(
            "DT174",
            Severity.NOTE,
            f"the size of '{rule.label}' must be passed by the caller",
            spans[rule.label],
            "no tensor shows its size",
        )
        for rule in size_rules(program)
        if rule.is_passed and rule.label in used
    ]
