"""Finds how one of two named instances of a schedule violates an order with the other.

It looks at places and storage only: who touches which cell, in which program, at which time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from dtpoly.algorithm.program import Program
from tests.oracle.built import Built, Placed, Recomputed
from tests.oracle.cells import NOWHERE, Cell, Indices
from tests.oracle.kernels import plan
from tests.oracle.lines import Role, nests
from tests.oracle.needed_steps import Sizes
from tests.oracle.nest import build
from tests.oracle.run import Kind
from tests.oracle.statements import meanings

# For the name of a statement in messages, the roles that it has in the oracle.
ROLES: dict[str, tuple[Role, ...]] = {
    "init": ("init", "zero"),
    "update": ("update", "add"),
    "combine": ("combine",),
    "value": ("value", "store"),
    "stored": ("kept",),
}


@dataclass(frozen=True, slots=True)
class Named:
    """An instance as a message names it: statement, indices, and its place by labels."""

    func: str
    role: str
    indices: Mapping[str, int]
    program: Mapping[str, int]
    loops: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Pair:
    """The way in which two instances break the rules, and whether their distance is as was said."""

    kind: Kind
    is_placed: bool


def pairs(program: Program, sizes: Sizes, source: Named, target: Named) -> Iterator[Pair]:
    """Yield the violations of any two instances that have these names.

    The source must come first.
    """
    built = build(program, sizes)
    axes = _axes(program, sizes)
    # The program gives the labels that number partial results.
    labels = {label.name for label in program.labels}
    if any(_answers(one, source, labels, axes) for one in built.lost):
        yield Pair("is not computed exactly once", is_placed=True)
    sources = [one for one in built.placed if _answers(one, source, labels, axes)]
    targets = [one for one in built.placed if _answers(one, target, labels, axes)]
    wanted = (source.func, NOWHERE, tuple(source.indices.values()))
    if source.role == "value" and any(wanted in placed.reads for placed in targets):
        yield Pair("runs too late", is_placed=True)
    for before in sources:
        for after in targets:
            kind = _broken(before, after, built.recomputed)
            if before is not after and kind is not None:
                yield Pair(kind, _is_apart(built, before, after, source, target))


def met(program: Program, sizes: Sizes, source: Named, target: Named) -> bool:
    """True if one program computes both, the source before the target, and they share a cell."""
    built = build(program, sizes)
    axes, labels = _axes(program, sizes), {label.name for label in program.labels}
    return any(
        (one.kernel, one.program) == (two.kernel, two.program)
        and one.time < two.time
        and _touch(one, two)
        for one in built.placed
        if _answers(one, source, labels, axes)
        for two in built.placed
        if _answers(two, target, labels, axes)
    )


def _axes(program: Program, sizes: Sizes) -> list[tuple[str, ...]]:
    """Return the labels of the grid of each kernel; labels of a user's primitive come last."""
    known = plan(program)
    meaning = meanings(known.program, known.inlined, known.sized(sizes), cuts=known.cuts)
    found: list[tuple[str, ...]] = []
    for name in known.order:
        if name in known.fused:
            settings = known.settings[name]
            spread = [d for d in settings.rewrites if d.name == "spread"]
            more = tuple(str(a.target) for directive in spread for a in directive.arguments)
            for nest in nests(meaning[name], settings):
                found.append((*(dim.label for dim, _ in nest.axes), *more))
    return found


def _answers(one: Placed, named: Named, labels: Set[str], axes: Sequence[tuple[str, ...]]) -> bool:
    """True if the instance is the one that is named, as far as some labels say."""
    func = one.line.target if one.line.role == "kept" else one.line.func
    if func != named.func or one.line.role not in ROLES[named.role]:
        return False
    every = {dim.label: index for dim, index in zip(one.line.dims, one.indices, strict=True)}
    mine = {label: index for label, index in every.items() if label in labels}
    wanted = {label: index for label, index in named.indices.items() if label in labels}
    # Lost instances have no place in blocks that a user's primitive adds.
    program = dict(zip(axes[one.kernel], one.program, strict=False))
    here = all(program.get(label, block) == block for label, block in named.program.items())
    return mine == wanted and here


def _broken(source: Placed, target: Placed, recomputed: Iterable[Recomputed]) -> Kind | None:
    if source.line is target.line and _place(source) == _place(target):
        return "is not computed exactly once"
    if (source.line, source.indices) == (target.line, target.indices):
        return "recomputes in a loop" if _is_again(source, target, recomputed) else None
    if not _touch(source, target) or source.kernel < target.kernel:
        return None
    if source.kernel > target.kernel:
        return "runs too late"
    if source.program != target.program:
        return "crosses program instances"
    if source.line is target.line and source.line.is_update:
        return None
    if source.time == target.time:
        return "lanes race"
    return "runs too late" if source.time > target.time else None


def _touch(one: Placed, other: Placed) -> bool:
    """True if one of them writes a cell that both touch.

    A reduction and its result count as one.
    """
    mine, others = _reduction(one.write), _reduction(other.write)
    if mine == others:
        return True
    return mine in map(_reduction, other.reads) or others in map(_reduction, one.reads)


def _reduction(cell: Cell) -> Cell:
    array, key, indices = cell
    return array.rstrip("="), key, indices


def _place(one: Placed) -> tuple[int, Indices, Indices, Indices]:
    return one.kernel, one.program, one.time, one.lane


def _is_again(one: Placed, other: Placed, recomputed: Iterable[Recomputed]) -> bool:
    """True if two copies of an instance are in different iterations of one program."""
    same = (one.kernel, one.program) == (other.kernel, other.program)
    mine = any(
        (again.kernel, again.line, again.indices) == (one.kernel, one.line, one.indices)
        # These are the programs before a user's primitive added blocks.
        and again.program == one.program[: len(again.program)]
        for again in recomputed
    )
    return same and mine and one.time != other.time and one.write != other.write


def _is_apart(built: Built, one: Placed, other: Placed, source: Named, target: Named) -> bool:
    """True if the loops of the kernel's own Func are as far apart as the names say."""
    if one.line not in built.ways or other.line not in built.ways:
        return True
    way, way_of_other = built.ways[one.line], built.ways[other.line]
    mine = dict(zip(way.loops, way.values(one.time), strict=True))
    others = dict(zip(way_of_other.loops, way_of_other.values(other.time), strict=True))
    for turn, value in mine.items():
        label = turn.label
        if turn.func != built.hosts[one.kernel] or turn not in others:
            continue
        if label in source.loops and label in target.loops:
            far = target.loops[label] - source.loops[label]
            if far != (others[turn] - value) * turn.step:
                return False
    return True
