"""Completes the sizes that a user gives: some follow from them, and the rest are assumed."""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.index_ends import decides
from dtpoly.algorithm.label_sizes import (
    Sizes,
    axis_reads,
    extent_label,
    largest_size,
    reach,
    size_rules,
    used_labels,
)
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.size_messages import disagree, given_otherwise, gives, must_be_passed
from dtpoly.algorithm.size_rule import AxisRead
from dtpoly.diagnostics import DtpolyError, Note


def filled(program: Program, sizes: Sizes, assumed: Sizes | None = None) -> dict[str, int]:
    """Return the given sizes with those that follow from them, and with assumed ones for the rest.

    Raises DtpolyError for a label whose size neither follows nor is assumed, and for a size that no
    tensor gives.
    """
    known = with_fixed(program, sizes)
    for label, size in known.items():
        if (other := _reachable(program, label, size, known)) != size:
            read = next(_quotients(program, label, known))
            extent = reach(read.index, known)
            seen = gives(str(read), extent, other)
            raise DtpolyError([disagree(label, f"{size} was passed", seen, read.span)])
    used = used_labels(program)
    labels = [label.name for label in program.labels if label.name in used]
    while True:
        while found := _following(program, known):
            known.update(found)
        guess = next((a for a in labels if a not in known and a in (assumed or {})), None)
        if guess is None:
            break
        known[guess] = _reachable(program, guess, (assumed or {})[guess], known)
    if missing := used - set(known):
        raise DtpolyError(
            replace(
                must_be_passed(rule.label),
                notes=(Note(f"tensors would decide it: {rule}"),) if rule.reads else (),
                hint=f"pass {rule.label}=..., on the command line --size {rule.label}=...",
            )
            for rule in size_rules(program)
            if rule.label in missing
        )
    return known


def _reachable(program: Program, label: str, size: int, known: Sizes) -> int:
    """Return a size that tensors may give a label: the next one, if it is read at a quotient."""
    for read in _quotients(program, label, known):
        size = largest_size(read.index, label, reach(read.index, {label: size}), {label: size})
    return size


def _quotients(program: Program, label: str, known: Sizes) -> Iterator[AxisRead]:
    """Yield the reads that decide the size of a label by a quotient of it alone.

    Nothing but this size decides how long the axis is.
    """
    for read in axis_reads(program):
        is_open = extent_label(program, read.tensor, read.axis) not in known
        if is_open and read.index.divisions and read.decides_alone == label:
            yield read


def with_fixed(program: Program, sizes: Sizes) -> dict[str, int]:
    """Return the given sizes with those that the file fixes. Raises DtpolyError if they differ."""
    wrong = [
        given_otherwise(label, sizes[label], size)
        for label, size in program.fixed.items()
        if sizes.get(label, size) != size
    ]
    if wrong:
        raise DtpolyError(wrong)
    return {**sizes, **program.fixed}


def _following(program: Program, known: Sizes) -> dict[str, int]:
    """Return one more size that follows from those known, or {} if none does."""
    extents: dict[tuple[str, int], int] = {}
    reached: dict[str, int] = {}  # the extent that the reads of the Funcs with this label need
    for read in axis_reads(program):
        label = extent_label(program, read.tensor, read.axis)
        axis = (read.tensor, read.axis)
        if label is not None and label in known:
            extents[axis] = known[label]
        elif all(name in known for name in read.index.labels):
            extents[axis] = max(extents.get(axis, 0), reach(read.index, known))
            if label is not None:
                reached[label] = max(reached.get(label, 0), extents[axis])
    if reached:
        return dict([*reached.items()][:1])
    largest: dict[tuple[str, int, str], int] = {}
    for read in axis_reads(program):
        unknown = [name for name in read.index.labels if name not in known]
        extent = extents.get((read.tensor, read.axis))
        if extent is not None and len(unknown) == 1 and decides(read.index, unknown[0]):
            key = (read.tensor, read.axis, unknown[0])
            size = largest_size(read.index, unknown[0], extent, known)
            largest[key] = min(size, largest.get(key, size))
    return {label: size for (_, _, label), size in list(largest.items())[:1]}
