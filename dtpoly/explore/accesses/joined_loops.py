"""Finds which loops of a kernel code generation makes one, as running reductions ask.

In the tree each reduction has its own loop, and its own copy of what it reads. In the emitted
kernel there is one loop, and what several of these loops compute alike is computed once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dtpoly.algorithm.expressions import Reduce
from dtpoly.explore.accesses.tile_counts import StatementWalk
from dtpoly.poly.model import Role, Statement, renamed_reads
from dtpoly.schedule.kept_dependences import base
from dtpoly.schedule.tree import Kernel, launch_of, loops

FRAMES = ("rmax", "rmin")  # reductions whose running result corrects others


def joined(walks: Sequence[StatementWalk], node: Kernel) -> tuple[StatementWalk, ...]:
    """Return the walks of a kernel with the loops that it has when it is emitted.

    Copies of one statement that come to stand in one loop are one.
    """
    leaders = _leaders(node)
    if not leaders:
        return tuple(walks)
    inside = {*leaders.values()}
    found = dict[tuple[object, ...], StatementWalk]()
    same = dict[str, str]()  # from an array to the one that the kept copy writes
    for walk in walks:
        nest = tuple(leaders.get(axis.name, axis.name) for axis in walk.loops)
        is_joined = not inside.isdisjoint(nest)
        name = walk.statement.name
        key = (base(name), nest) if is_joined else (name,)
        if key in found:
            same[walk.statement.writes.array] = found[key].statement.writes.array
        else:
            statement = _reading(walk.statement, same)
            found[key] = replace(walk, statement=statement, joined=nest if is_joined else ())
    return tuple(found.values())


def is_carried(walk: StatementWalk) -> bool:
    """Return whether a statement adds to what goes from one iteration of a joined loop to the next.

    A copy that each iteration has for itself does not.
    """
    names = {axis.name for axis in walk.loops}
    is_own = names.isdisjoint(walk.statement.copies)
    return bool(walk.joined) and walk.statement.role is Role.UPDATE and is_own


def is_corrected(walk: StatementWalk) -> bool:
    """Return whether what is added up in a joined loop is multiplied when a maximum grows."""
    body = walk.statement.body
    is_extreme = isinstance(body, Reduce) and body.operation in FRAMES
    return is_carried(walk) and not is_extreme


def _leaders(node: Kernel) -> dict[str, str]:
    """Return, by the axis of a loop that is joined with another one, the axis of that one."""
    readers = dict(launch_of(node).running)
    reductions = [one[-1] for one in loops(node.body) if one[-1].is_reduction]
    found = dict[str, str]()
    for loop in reductions if readers else ():
        last = _last_reader(loop.func, readers)
        for other in reductions:
            if other.func == last != loop.func and other.axis.label == loop.axis.label:
                found[loop.axis.name] = other.axis.name
    return found


def _last_reader(func: str, readers: Mapping[str, str]) -> str:
    """Return the Func with whose loop that of a Func is joined in the end."""
    for _ in readers:
        func = readers.get(func, func)
    return func


def _reading(statement: Statement, same: Mapping[str, str]) -> Statement:
    """Return a statement that reads the copies that are kept."""
    if not any(read.array in same for read in statement.reads):
        return statement
    reads = tuple(replace(one, array=same.get(one.array, one.array)) for one in statement.reads)
    body = None if statement.body is None else renamed_reads(statement.body, same)
    return replace(statement, reads=reads, body=body)
