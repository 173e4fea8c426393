"""Finds the values that pass from statement to statement through memory, and the reasons.

A tile in registers can be used, lane by lane, by a statement that follows it in the same iteration.
All other values that pass between statements of a kernel pass through memory.
"""

from collections.abc import Iterator, Mapping
from math import gcd

from dtpoly.algorithm.expressions import Affine, divided, reads
from dtpoly.algorithm.group_index import grouped
from dtpoly.poly.axes import Axis, Path, is_absolute, resolved, several
from dtpoly.poly.model import Access, Model, Statement
from dtpoly.poly.tiles import rounded

Rounded = tuple[int, int | None]
# Where a tile starts along a label, and the distance and number of its lanes.
Position = tuple[Affine, tuple[Rounded, ...]]
# The positions of labels in statements that were asked for before; each has one path in a schedule.
Positions = dict[tuple[str, str], Position]


def in_memory(model: Model, paths: Mapping[str, Path]) -> dict[str, str]:
    """Return the arrays whose values pass through memory inside a kernel, each with the reason."""
    found: dict[str, str] = {}
    known: Positions = {}
    for array in model.arrays:
        writers = [s for s in model.statements if s.writes.array == array and s.name in paths]
        if any(writer.is_atomic for writer in writers):
            continue  # programs add to it, and none reads it
        kernels = {paths[writer.name].kernel for writer in writers}
        readers = [
            (s, read)
            for s in model.statements
            if s.name in paths and paths[s.name].kernel in kernels
            for read in s.reads
            if read.array == array
        ]
        reasons = (
            why
            for writer in writers
            for reader, read in readers
            if writer is not reader
            for why in reasons_for_memory(
                writer, paths[writer.name], reader, paths[reader.name], read, known
            )
        )
        why = next(reasons, None)
        if why is not None:
            found[array] = why
    return found


def reasons_for_memory(
    writer: Statement,
    path: Path,
    reader: Statement,
    path_of_reader: Path,
    read: Access,
    known: Positions | None = None,
) -> Iterator[str]:
    """Yield the reasons why a value cannot stay in registers from its writer to its reader.

    `known` has the positions that questions about the same schedule found before.
    """
    known = {} if known is None else known
    dims = {label for index in writer.writes.indices for label in index.labels}
    for axis in _own_loops(path, path_of_reader):
        if axis.label in dims or axis.name in writer.copies:
            yield f"it is written tile by tile along '{axis.label}' before it is read"
    if _is_padded(reader, read.array):
        yield "it is read with padding, which looks at memory"
    for written, index in zip(writer.writes.indices, read.indices, strict=True):
        if index.plain is None or written.plain is None:
            at = _known_position(known, written.plain, writer, path) if written.plain else None
            if at is not None and at == _of_quotient(index, reader, path_of_reader, known):
                continue
            yield "it is read at other indices than it is written at"
        elif _known_position(known, written.plain, writer, path) != _known_position(
            known, index.plain, reader, path_of_reader
        ):
            yield f"it is read in other tiles along '{index.plain}' than it is written in"


def kept_beyond(writer: Statement, path: Path, path_of_reader: Path) -> str | None:
    """Return the label of a loop that overwrites a private copy before all of it is read, or None.

    A copy belongs to an iteration. Only a tree that a user's primitive made reads it in another
    loop than the one in which it is written.
    """
    loops = _own_loops(path, path_of_reader)
    return next((axis.label for axis in loops if axis.name in writer.copies), None)


def _is_padded(reader: Statement, array: str) -> bool:
    """True if a statement reads an array at indices that may be outside."""
    found = () if reader.body is None else reads(reader.body)
    return any(read.tensor == array and read.padding is not None for read in found)


def _own_loops(path: Path, other: Path) -> tuple[Axis, ...]:
    """Return the loops with several iterations that only the first path is in."""
    common = 0
    for one, two in zip(path.steps, other.steps, strict=False):
        if one != two:
            break
        common += 1
    rest = path.steps[common:]
    return tuple(s for s in rest if isinstance(s, Axis) and not s.is_single)


def _known_position(known: Positions, label: str, statement: Statement, path: Path) -> Position:
    key = (label, statement.name)
    if key not in known:
        known[key] = _position(label, statement, path)
    return known[key]


def _position(label: str, statement: Statement, path: Path) -> Position:
    """Return where a tile starts along a label, and the distance and number of its lanes."""
    named = path.named
    lanes = [axis for axis in several(path.lanes) if axis.index.plain == label]
    axes = axes_along(label, statement, path)
    walked = {lane.name for lane in lanes}
    start = Affine()
    for axis in axes:
        if axis.name not in walked and not axis.is_single:
            start = start + axis.value
    if start == Affine() and axes:
        start = resolved(axes[0].origin, named)
    if any(not is_absolute(named[name], path) for name in start.labels if name in named):
        # The start counts from the axis that it divides, so the same name may mean another place
        # elsewhere.
        start = start + Affine(((statement.name, 1),))
    return start, tuple(_lanes(lane) for lane in lanes)


def _of_quotient(index: Affine, reader: Statement, path: Path, known: Positions) -> Position | None:
    """Return the position of the one quotient that all lanes of a tile read at, or None.

    Of `c // 16`, a tile of at most 16 indices of c that begins at a multiple of 16 has one.
    """
    group = grouped(index)
    if group is None:
        return None
    label, by = group
    start, _ = _known_position(known, label, reader, path)
    lanes = [axis for axis in several(path.lanes) if axis.index.plain == label]
    axis = path.named.get(start.plain or "")
    if axis is not None and axis.extent is not None:
        # All tiles of a loop may be inside of one group.
        origin = resolved(axis.origin, path.named)
        if is_absolute(axis, path) and axis.extent <= gcd(by, _multiple(origin, path)):
            return divided("//", origin, by), ()
    room = gcd(by, _multiple(start, path))
    last = sum(room if (count := _reached(one, path)) is None else count - 1 for one in lanes)
    return None if last >= room else (divided("//", start, by), ())


def _reached(lane: Axis, path: Path) -> int | None:
    """Return how many indices lanes go over; more lanes than a block has indices do nothing."""
    outer = path.named.get(lane.origin.plain or "")
    around = outer.extent if outer is not None and outer.is_single else None
    known = [one for one in (lane.extent, around) if one is not None]
    return min(known, default=None)


def _multiple(start: Affine, path: Path) -> int:
    """Return a number of which a start is a multiple; 1 if none is known, 0 if it is 0."""
    found = start.constant
    for term, coefficient in start.terms:
        axis = path.named.get(term) if isinstance(term, str) else None
        step = 1 if axis is None else gcd(axis.step or 0, _multiple(axis.origin, path))
        found = gcd(found, coefficient * step)
    return found


def _lanes(axis: Axis) -> Rounded:
    step = axis.step or 1
    return step, None if axis.extent is None else rounded(-(-axis.extent // step))


def axes_along(label: str, statement: Statement, path: Path) -> list[Axis]:
    """Return a statement's own loops and lanes along a label."""
    owned = zip((*path.grid, *path.loops), path.owners, strict=True)
    loops = [axis for axis, owner in owned if owner == statement.func and axis not in path.grid]
    axes = (*loops, *path.lanes)
    return [a for a in axes if a.index.plain == label and a.name not in statement.copies]
