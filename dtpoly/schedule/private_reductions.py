"""Gives the programs of a kernel private copies of reductions that each of them must compute."""

from dataclasses import replace

from dtpoly.poly.axes import finest, several
from dtpoly.poly.coordinates import applies
from dtpoly.poly.model import Role, by_name
from dtpoly.poly.replicate import replicate
from dtpoly.schedule.state import Fusion, State
from dtpoly.schedule.tree import Kernel, paths


def with_private_reductions(state: State, kernel: Kernel) -> State:
    """Let every program compute for itself a reduction that lacks a label of the grid.

    `f[x, y] = X[x, y] * rsum(X[x, k], k)`, blocked over y: each block of y sums its rows.
    """
    known = by_name(state.model)
    found = {path.statement: path for path in paths((kernel,))}
    mine = tuple(
        statement
        for name in found
        if (statement := known[name]).role not in (Role.VALUE, Role.STORE)
        and not statement.is_atomic
        and not all(applies(axis, statement, is_grid=True) for axis in kernel.grid)
    )
    arrays = {statement.writes.array for statement in mine}
    # An update that has the label although its accumulator lacks it belongs to the reduction.
    mine = tuple(known[name] for name in found if known[name].writes.array in arrays)
    readers = tuple(
        (known[name], path)
        for name, path in found.items()
        if known[name] not in mine and any(read.array in arrays for read in known[name].reads)
    )
    if not mine or not readers:
        return state
    place = several(finest(kernel.grid))
    done = replicate(state.model, mine, state.model.arrays, readers, place, "")
    copies = tuple(copy.name for copy in done.copies)
    fusion = Fusion(kernel.func, kernel.name, kernel.func, "", copies)
    return replace(state, model=done.model, fusions=(*state.fusions, fusion))
