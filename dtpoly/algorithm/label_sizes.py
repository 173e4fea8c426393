"""Decides which tensor gives which label its size, and computes all sizes of a call.

A label may also have a size that no tensor shows. Then the call must pass it.
"""

from collections.abc import Iterable, Iterator, Mapping

from dtpoly.algorithm.bounded_sizes import labels_needing_room, with_bounded
from dtpoly.algorithm.expressions import (
    Affine,
    Conditions,
    Dot,
    Index,
    Read,
    Reduce,
    Reshape,
    Size,
    division,
    walk,
)
from dtpoly.algorithm.index_ends import decides, ends, labels_of
from dtpoly.algorithm.once import once_for_each_algorithm
from dtpoly.algorithm.outside import as_shown, padded_axes
from dtpoly.algorithm.program import Program, touched
from dtpoly.algorithm.size_messages import (
    disagree,
    given_otherwise,
    gives,
    must_be_passed,
    outside,
)
from dtpoly.algorithm.size_rule import AxisRead, SizeRule
from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity

Sizes = Mapping[str, int]


@once_for_each_algorithm
def axis_reads(program: Program) -> tuple[AxisRead, ...]:
    """Return every read of an axis that must be inside its tensor, in program order."""
    found = [
        AxisRead(read.tensor, axis, as_shown(index), read.span)
        for func in program.funcs
        for read in touched(func)
        for axis, index in enumerate(read.indices)
        if axis not in padded_axes(read)
    ]
    shown = {read.decides_alone for read in found}
    return (
        *found,
        *(read for read in _results_of_scans(program) if read.decides_alone not in shown),
    )


def _results_of_scans(program: Program) -> Iterator[AxisRead]:
    """Yield for each scan that the axis of its results is as long as the label it goes over.

    No tensor says so of a scan that reads none at this label, or reads it through `pad`.
    """
    for func in program.funcs:
        for node in walk(func.body):
            if isinstance(node, Reduce) and node.scan is not None and node.scan.at in func.labels:
                axis = func.labels.index(node.scan.at)
                for label in node.labels:
                    yield AxisRead(func.name, axis, Affine(((label, 1),)), node.span)


def used_labels(program: Program) -> frozenset[str]:
    """Return the labels whose size matters: those of the definitions and of their bodies."""
    labels: set[str] = set()
    for func in program.funcs:
        labels.update(func.labels, _sizes_in(func.when))
        labels.update(one for read in touched(func) for one in _promised_in(read))
        for node in walk(func.body):
            match node:
                case Read(indices=indices):
                    labels.update(label for index in indices for label in index.labels)
                case Index(label=label) | Size(label=label):
                    labels.add(label)
                case Reduce(labels=reduced, when=when) | Dot(labels=reduced, when=when):
                    labels.update(reduced, _sizes_in(when))
                case Reshape(axes=axes):
                    labels.update(axis for axis in axes if axis)
                case _:
                    pass
    return frozenset(labels)


def _promised_in(read: Read) -> tuple[str, ...]:
    """Return the labels within whose sizes the indices of a read are promised to be."""
    return tuple(one for index in read.indices if isinstance(one := index.within, str))


def _sizes_in(when: Conditions) -> tuple[str, ...]:
    return tuple(label for one in when for label in one.sizes.labels)


def extent_label(program: Program, tensor: str, axis: int) -> str | None:
    """Return the label that is the extent of an axis of a Func; None for a tensor input."""
    func = program.find_func(tensor)
    return func.labels[axis] if func is not None and axis < len(func.labels) else None


@once_for_each_algorithm
def size_rules(program: Program) -> tuple[SizeRule, ...]:
    """Return a rule for every label, in an order in which each rule needs only earlier ones."""
    order = {tensor.name: at for at, tensor in enumerate(program.tensors)}
    extents = {
        (func.name, axis): label for func in program.funcs for axis, label in enumerate(func.labels)
    }
    used = used_labels(program)
    fixed = program.fixed
    known = {label: SizeRule(label, size=size) for label, size in fixed.items() if label in used}
    labels = [label.name for label in program.labels if label.name in used]
    # A plain read decides first, since it shows the size directly. Among plain reads the first
    # declared input decides, and inputs decide before Funcs.
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
    return (
        *with_bounded([*known.values()], axis_reads(program), extents),
        *(SizeRule(label, size=fixed.get(label)) for label in idle),
    )


Extents = Mapping[tuple[str, int], str]  # the label of each axis of each Func
Known = Mapping[str, SizeRule]


def _says_nothing_more(read: AxisRead, extents: Extents, known: Known) -> bool:
    extent = extents.get((read.tensor, read.axis))
    return all(name in known for name in (*read.index.labels, *((extent,) if extent else ())))


def _decided_by_reads(pending: list[AxisRead], extents: Extents, known: Known) -> SizeRule | None:
    """Find the rule for a label that indexes an axis whose extent is known."""
    for first in pending:
        label = _undecided(first, known)
        extent = extents.get((first.tensor, first.axis))
        if label is None or not (extent is None or extent in known):
            continue
        together = (r for r in pending if (r.tensor, r.axis) == (first.tensor, first.axis))
        return SizeRule(label, tuple(r for r in together if _undecided(r, known) == label))
    return None


def _decided_by_readers(pending: list[AxisRead], extents: Extents, known: Known) -> SizeRule | None:
    """Find the rule for a label of a Func that no axis shows.

    The Func is as large as its reads need.
    """
    shifted = [r for r in pending if r.index.shifted in known]
    for read in shifted:
        extent = extents.get((read.tensor, read.axis))
        if extent and extent not in known:
            alike = (r for r in shifted if (r.tensor, r.axis) == (read.tensor, read.axis))
            return SizeRule(extent, tuple(alike))
    return None


def _undecided(read: AxisRead, known: Mapping[str, SizeRule]) -> str | None:
    """Return the label that the index decides, if it is the only one that has no size yet."""
    unknown = [label for label in read.index.labels if label not in known]
    return unknown[0] if len(unknown) == 1 and decides(read.index, unknown[0]) else None


def largest_size(index: Affine, label: str, extent: int, sizes: Sizes) -> int:
    """Return the largest size of a label for which an index stays inside 0..extent-1.

    The index decides the size of the label. All other labels have their sizes. If one of them is 0,
    nothing is read at all.
    """
    low, high = ends(index, {**sizes, label: 0})
    if low < 0 or high >= extent:
        return 0
    return _room(index, label, 0, extent, sizes) + 1


def _room(index: Affine, label: str, least: int, end: int, sizes: Sizes) -> int:
    """Return the largest index of a label for which a sum is at least `least` and below `end`.

    It is neither for a smaller index of the label.
    """
    ((own, coefficient),) = [(t, c) for t, c in index.terms if label in labels_of(t)]
    low, high = ends(index - Affine(((own, coefficient),)), sizes)
    if isinstance(own, str):
        if coefficient < 0:
            return (low - least) // -coefficient
        return (end - 1 - high) // coefficient
    own = division(own)
    # The quotient is at least `first`, and below `last`.
    first = -((low - least) // coefficient)
    last = (end - 1 - high) // coefficient + 1
    return _room(own.inner, label, first * own.divisor, last * own.divisor, sizes)


def sizes_of(
    program: Program, shapes: Mapping[str, tuple[int, ...]], passed: Sizes | None = None
) -> dict[str, int]:
    """Return the size of every label, from the shapes of the tensors and the passed sizes.

    Raises DtpolyError if they disagree. Its messages name the tensors and the sizes.
    """
    given = dict(passed or {})
    used = used_labels(program)
    sizes: dict[str, int] = {}
    for rule in size_rules(program):
        if rule.label in used or rule.label in given:
            sizes[rule.label] = _size(program, rule, shapes, sizes, given)
    # Where the tensors disagree on a size, a read may be outside for that reason alone, so the
    # reads are checked only if the tensors agree.
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
    if rule.may_be_passed and rule.label in given:
        return given[rule.label]
    if rule.is_passed:
        instead = rule.instead(sizes)
        if not instead or any(one not in given for one in instead):
            raise DtpolyError([must_be_passed(rule.label, instead)])
        known = {**given, **sizes}
        return min(
            largest_size(r.index, rule.label, _extent(program, r, shapes, sizes), known)
            for r in rule.otherwise
        )
    if rule.label not in rule.reads[0].index.labels:  # the Func is as large as its reads need
        return max(sizes[r.index.labels[0]] + r.index.constant for r in rule.reads)
    return min(
        largest_size(r.index, rule.label, _extent(program, r, shapes, sizes), sizes)
        for r in rule.reads
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
            seen = gives(str(read), _extent(program, read, shapes, sizes), sizes[label])
            yield disagree(label, f"{size} was passed", seen, None)
    for group in _by_axis(program).values():
        extent = _extent(program, group[0], shapes, sizes)
        for label in dict.fromkeys(name for r in group for name in r.index.labels):
            alone = [r for r in group if r.decides_alone == label]
            if not alone:
                continue
            size = min(largest_size(r.index, label, extent, sizes) for r in alone)
            if size != sizes[label]:
                first = f"{sizes[label]} was passed"
                if decided_by[label].size is not None:
                    first = f"the file says that it is {sizes[label]}"
                elif decided_by[label].reads:
                    read = decided_by[label].reads[0]
                    first = gives(str(read), _extent(program, read, shapes, sizes), sizes[label])
                yield disagree(label, first, gives(str(alone[0]), extent, size), alone[0].span)


def _outside(
    program: Program, shapes: Mapping[str, tuple[int, ...]], sizes: Sizes
) -> Iterator[Diagnostic]:
    rooms = needing_room(program)
    for (tensor, axis), group in _by_axis(program).items():
        extent = _extent(program, group[0], shapes, sizes)
        for read in group:
            labels = rooms.get((tensor, axis, read.index), ())
            for one in (sizes, *({**sizes, v: max(sizes[v], 1)} for v in labels)):
                low, high = _range(read.index, one)
                if low < 0 or high >= extent:
                    reached = low if low < 0 else high
                    yield outside(read.span, tensor, axis, extent, read.index, reached, one)
                    break


def needing_room(program: Program) -> dict[tuple[str, int, Affine], tuple[str, ...]]:
    """Return the labels whose reads must be inside even for a single index.

    The keys are a tensor, an axis and an index.
    """
    reduced = frozenset(label.name for label in program.labels if label.reducible)
    return labels_needing_room(size_rules(program), axis_reads(program), reduced)


def _by_axis(program: Program) -> dict[tuple[str, int], list[AxisRead]]:
    groups: dict[tuple[str, int], list[AxisRead]] = {}
    for read in axis_reads(program):
        groups.setdefault((read.tensor, read.axis), []).append(read)
    return groups


def _range(index: Affine, sizes: Sizes) -> tuple[int, int]:
    """Return the smallest and the largest value of an index, or (0, -1) if it has no values."""
    if any(sizes[label] == 0 for label in index.labels):
        return 0, -1
    return ends(index, sizes)


def input_shapes(program: Program, sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Return the smallest shapes of the tensor inputs for which `sizes_of` gives these sizes."""
    decided = {
        (read.tensor, read.axis, read.index): rule.label
        for rule in size_rules(program)
        for read in rule.reads
    }
    rooms = needing_room(program)
    shapes: dict[str, tuple[int, ...]] = {}
    all_reads = [read for func in program.funcs for read in touched(func)]
    for tensor in program.tensors:
        mine = [read for read in all_reads if read.tensor == tensor.name]
        rank = len(mine[0].indices) if mine else 0
        extents: list[int] = []
        for axis in range(rank):
            inside = [
                as_shown(read.indices[axis]) for read in mine if axis not in padded_axes(read)
            ]
            # An axis that is only read through a pad gets the length of its index without the
            # shift.
            padded = [Affine(read.indices[axis].terms) for read in mine]
            affine = [index for index in inside or padded if index.data is None]
            # Data may be anything. An axis that is only read at data gets the largest size of a
            # label that the data depends on.
            reaches = [] if affine else [_as_labels(padded, sizes)]
            for index in affine:
                one, key = dict(sizes), (tensor.name, axis, index)
                one.update((label, max(sizes[label], 1)) for label in rooms.get(key, ()))
                reaches.append(reach(index, one, decided.get(key)))
            extents.append(max(reaches))
        shapes[tensor.name] = tuple(extents)
    return shapes


def _as_labels(indices: Iterable[Affine], sizes: Sizes) -> int:
    """Return the largest size of a label in some indices; 1 if there is no label in them."""
    return max((sizes[label] for index in indices for label in index.labels), default=1)


def reach(index: Affine, sizes: Sizes, decided: str | None = None) -> int:
    """Return the smallest extent that holds every read at an index and decides that label's size.

    For coefficients above 0 the law is `largest_size(index, decided, reach(index, sizes, decided),
    sizes) == sizes[decided]`.
    """
    counted = index.labels if decided is None else (decided,)
    if any(sizes[label] == 0 for label in counted):
        return 0
    return max(ends(index, sizes)[1] + 1, 0)


def check_sizes(program: Program) -> list[Diagnostic]:
    """Report a note for each size that no tensor shows."""
    used = used_labels(program)
    spans = {label.name: label.span for label in program.labels}
    return [
        Diagnostic(
            "DT174",
            Severity.NOTE,
            f"the size of '{rule.label}' must be passed by the caller",
            spans[rule.label],
            _why_passed(rule),
        )
        for rule in size_rules(program)
        if rule.is_passed and rule.label in used
    ]


def _why_passed(rule: SizeRule) -> str:
    instead = rule.instead(())
    others = " and ".join(f"'{one}'" for one in instead)
    return "no tensor shows its size" + (f"; or pass that of {others} instead" if instead else "")
