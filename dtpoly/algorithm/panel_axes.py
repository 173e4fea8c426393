"""Decides whether a Func can be computed panel by panel along a label, and along which axes.

A panel is a range of indices of the label. It can be computed by itself if every Func that is
needed has an index for the label, and if each read of such a Func is at that very index. Then a
panel of the result needs only the same panel of everything else. Otherwise the caller learns why
not.
"""

from collections.abc import Iterator, Mapping, Sequence

from dtpoly.algorithm.equal_sizes import equal_sizes
from dtpoly.algorithm.expressions import (
    Dot,
    Index,
    ProgramId,
    Read,
    Reduce,
    Size,
    SizedIndex,
    reads,
    walk,
)
from dtpoly.algorithm.label_sizes import size_rules
from dtpoly.algorithm.outside import padded_axes
from dtpoly.algorithm.program import Func, Program, in_order, reduced_labels, touched
from dtpoly.frozen import dataclass
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Reading:
    """A read at other indices of a tensor that is cut along an axis, and the Func that reads."""

    func: Func
    read: Read
    axis: int


@dataclass(frozen=True, slots=True)
class Crossing:
    """The reason why a panel needs more than the same panel of everything else, and its place."""

    why: str
    span: Span | None
    read: Reading | None = None  # the read that shows it, if a read does


def cut_along(program: Program, func: str, label: str) -> dict[str, int] | Crossing:
    """Return the axis along which each tensor and Func is cut, or why they cannot be cut."""
    needed = in_order(program, [func])
    axes = {one.name: one.labels.index(label) for one in needed if label in one.labels}
    funcs = {one.name for one in needed}
    for one in needed:
        if one.name not in axes:
            return Crossing(f"'{one.name}' has no '{label}': all panels need it", one.span)
        if label in reduced_labels(one):
            why = f"'{one.name}' reduces over '{label}', so over what all panels have"
            return Crossing(why, one.span)
        for why, span in _values(one, label):
            return Crossing(why, span)
    readings = [(one, read) for one in needed for read in reads(one.body)]
    found = [read for _, read in readings]
    for read in (read for one in needed for read in touched(one)):
        if any(index.within == label for index in read.indices):
            why = f"'{read.tensor}' is read at data within the size of '{label}'"
            return Crossing(why, read.span)
    for read in found:
        at = [axis for axis, index in enumerate(read.indices) if index.plain == label]
        if at and read.tensor not in funcs:
            axes.setdefault(read.tensor, at[0])
    for reader, read in readings:
        at = [axis for axis, index in enumerate(read.indices) if label in index.labels]
        wanted = [axes[read.tensor]] if read.tensor in axes else []
        if at != wanted or any(read.indices[axis].plain != label for axis in at):
            others = "along two axes" if len(at) > 1 else f"at other indices than '{label}'"
            why = f"'{read.tensor}' is read {others}"
            return Crossing(why, read.span, Reading(reader, read, (wanted or at)[0]))
    for tensor, axis in axes.items():
        mine = [read for read in found if read.tensor == tensor and tensor not in funcs]
        if mine and all(axis in padded_axes(read) for read in mine):
            why = f"'{tensor}' may have another size along axis {axis}: it is read with padding"
            return Crossing(why, mine[0].span)
    return _same_size(program, needed, label) or _other_sizes(program, axes, label) or axes


def _same_size(program: Program, needed: Sequence[Func], label: str) -> Crossing | None:
    """Find a label that always has the same size as `label`.

    A kernel knows both sizes as one number, which would be the size of a panel.
    """
    first = equal_sizes(program)
    same = {one for one in first if first[one] == first[label]} - {label}
    for func in needed:
        for one in sorted(same):
            if one in {*func.labels, *reduced_labels(func)} or _is_asked(func, one):
                why = f"'{func.name}' has '{one}', whose size is always that of '{label}'"
                return Crossing(why, func.span)
    return None


def _is_asked(func: Func, label: str) -> bool:
    nodes = [*walk(func.body)]
    steps = [node for node in nodes if isinstance(node, Reduce | Dot)]
    when = [*func.when, *(one for node in steps for one in node.when)]
    is_in_range = any(label in one.sizes.labels for one in when)
    return is_in_range or any(isinstance(node, Size) and node.label == label for node in nodes)


def _asks(condition: SizedIndex, label: str) -> bool:
    return label in (*condition.labels, *condition.sizes.labels)


def _other_sizes(program: Program, axes: Mapping[str, int], label: str) -> Crossing | None:
    """Find a label whose size would be wrong if it were computed from a panel."""
    for rule in size_rules(program):
        for read in rule.reads:
            if rule.label == label:
                if not read.index.is_plain:
                    return Crossing(
                        f"its size is not that of an axis of '{read.tensor}'", read.span
                    )
            elif (read.tensor, read.axis) in axes.items() or label in read.index.labels:
                why = f"the size of '{rule.label}' comes of that axis, too"
                return Crossing(why, read.span)
    return None


def _values(func: Func, label: str) -> Iterator[tuple[str, Span | None]]:
    """Yield the places where a value depends on the index of the label itself, or on its size."""
    if any(_asks(one, label) for one in func.when):
        yield f"the elements of '{func.name}' have a range that depends on '{label}'", func.span
    for node in walk(func.body):
        match node:
            case Reduce(when=when, span=span) | Dot(when=when, span=span) if any(
                _asks(one, label) for one in when
            ):
                yield f"'{func.name}' reduces over a range that depends on '{label}'", span
            case Index(label=one, span=span) if one == label:
                yield f"'{func.name}' computes with '{label}' itself", span
            case Size(label=one, span=span) if one == label:
                yield f"'{func.name}' computes with the size of '{label}'", span
            case ProgramId(span=span):
                yield f"'{func.name}' asks which program computes it", span
            case _:
                pass
