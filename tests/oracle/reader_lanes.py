"""Finds the labels of a fused Func that take their lanes from its reader."""

from collections.abc import Sequence

from tests.oracle.cells import AffineAt, Reading
from tests.oracle.lines import Line, Nest
from tests.oracle.members import FuncInKernel, LoopNode
from tests.oracle.said import Settings
from tests.oracle.statements import Dim, Meaning

# The loop at which a Func is fused, and its reads there.
Readings = tuple[LoopNode, Sequence[tuple[FuncInKernel, Line, list[Reading]]]]


def taken_lanes(
    nest: Nest, settings: Settings, meaning: Meaning, at: Readings
) -> dict[str, tuple[str, Dim]]:
    """Return labels that take their lanes from a reader's dimension.

    T holds one tile of this dimension.
    """
    node, readings = at
    taken: dict[str, tuple[str, Dim]] = {}
    for axis, dim in enumerate(meaning.dims):
        if dim.label in settings.splits:
            continue
        if settings.tile(meaning.name, dim.label) is not None:
            continue
        origins = {
            _lanes_of(nest, member, line, reading.indices[axis], node)
            for member, line, mine in readings
            for reading in mine
        }
        origin = origins.pop()
        if origin is not None and not origins:
            taken[dim.label] = origin
    return taken


def _lanes_of(
    nest: Nest, member: FuncInKernel, line: Line, index: AffineAt, node: LoopNode
) -> tuple[str, Dim] | None:
    if index.constant or len(index.terms) != 1 or index.terms[0][1] != 1:
        return None
    position = index.terms[0][0]
    dim, levels = line.dims[position], member.layout.places[line].levels[position]
    if len(levels) != 1 or levels[0].tile is None:
        return None
    (level,) = levels
    block = dict(nest.axes).get(dim) if member.depth == 0 else None
    one_step = level.tile == 0 or (block is not None and block <= (level.tile or 0))
    if one_step or member.depth + level.slot < node.depth:
        return member.origins[dim]
    return None
