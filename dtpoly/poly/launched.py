"""Decides how the programs of a grid are numbered, and computes which programs are launched.

isl is told the facts about a program, and writes neither a bound nor a mask for a condition that
follows from them. Usually every program has something to do. A user's primitive may make a tree in
which some programs do nothing: with two axes of one label, only those programs work in which both
axes are at the same index.
"""

from __future__ import annotations

from dtpoly.poly.axes import Axis, Path, finest, resolved, several
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Model
from dtpoly.poly.spaces import affs, set_space
from dtpoly.poly.tiles import grid_param

Grid = tuple[Axis, ...]


def numbered(grid: Grid) -> tuple[tuple[Axis, Axis | None], ...]:
    """Return the axes by which programs are numbered, outermost first.

    The second axis is None unless the first one is a group of blocks. A group that stands inside
    its own blocks has one value there, so it numbers nothing.
    """
    axes = several(grid)
    found: list[tuple[Axis, Axis | None]] = []
    for at, axis in enumerate(axes):
        inside = [one for one in axes if axis.name in one.origin.labels]
        if not inside:
            found.append((axis, None))
        elif inside[0] in axes[at:]:
            found.append((axis, inside[0]))
    return tuple(found)


def unnumbered(grid: Grid) -> Axis | None:
    """Return the first axis whose place the number of a program does not tell, or None.

    The number tells it for the blocks of a label from index 0 on, and for a group of such blocks.
    There are no groups of groups.
    """
    named = {axis.name: axis for axis in grid}
    outer = {label for axis in several(grid) for label in axis.origin.labels}
    return next((one for one in several(grid) if not _is_numbered(one, named, outer)), None)


def _is_numbered(axis: Axis, named: dict[str, Axis], outer: set[str]) -> bool:
    origin = resolved(axis.origin, named)
    if axis.index.plain is None or not axis.step:
        return False
    if not origin.terms:
        return not origin.constant
    group = named.get(origin.plain or "")
    return (
        group is not None
        and axis.name not in outer
        and group.index == axis.index
        and not (group.step or 1) % axis.step
    )


def launched(model: Model, path: Path) -> isl.Set:
    """Return the programs: every combination of the blocks of each axis."""
    axes = several(finest(path.grid))
    of = affs(set_space("", (), (*model.params, *(grid_param(axis.name) for axis in axes))))
    programs = isl.Set.universe(of[0].get_domain_space())
    for axis in axes:
        label = axis.index.plain
        assert label is not None
        part = model.parts.get(label)
        # As many parts are launched as begin inside the label.
        size = of[model.size_of[part.of if part else label]]
        start, step = of[grid_param(axis.name)], isl.Val(axis.step or 1)
        programs = programs & start.eq_set(start.scale_down_val(step).floor().scale_val(step))
        programs = programs & start.ge_set(of[0])
        programs = programs & (start * (part.size if part else 1)).lt_set(size)
    return programs.params()


def where_launched(known: isl.Set, programs: isl.Set) -> isl.Set:
    """Return the facts about programs that have something to do, if only these are launched.

    Otherwise the only known fact is that a program is launched.
    """
    return known if programs.is_subset(known) else programs
