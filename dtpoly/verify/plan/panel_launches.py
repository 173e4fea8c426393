"""Look whether launches that are done for a part of a size at a time need only that part.

What is proved of launches is proved for all sizes, so it also holds with the size of a part, and
with parts of tensors in place of the tensors (`in_panels` reads the launches so). Hence each part
of the result is what the algorithm gives for the parts of its inputs. This module checks two more
things. The first is that what the algorithm gives for the parts is the part of what it gives for
the whole. The second is that no panel stores what another one touches: then it does not matter if
launches for two panels run at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dtpoly.algorithm.expressions import (
    Dot,
    Index,
    ProgramId,
    Read,
    Reduce,
    Size,
    walk,
)
from dtpoly.algorithm.program import Func
from dtpoly.verify.algebra.algorithm_terms import AlgorithmMeaning
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.whole import names_of
from dtpoly.verify.plan.held import FunctionReading
from dtpoly.verify.triton.access import Ran


def check_panels(
    reading: FunctionReading, runs: Sequence[Ran], meaning: AlgorithmMeaning, func: str
) -> None:
    """Refuse panels that need one another, in what kernels do or in what the algorithm says."""
    panels = reading.panels
    if panels is None:
        return
    line, last = panels.lines
    for ran in runs:
        if not line <= ran.launch.line <= last:
            raise Unread(ran.launch.line, "a launch besides those for panels")
        for one in ran.accesses:
            if one.kind != "load" and one.tensor not in panels.parts:
                raise Unread(one.line, f"'{one.tensor}', which each panel stores")
    labels = [one for one, size in meaning.sizes.items() if names_of(size) & panels.alike]
    if len(labels) != 1:
        raise Unread(line, "panels of a size that those of several labels come of")
    (label,) = labels
    funcs = {one.name: one for one in meaning.program.funcs}
    needed = dict[str, Func]()
    pending = [func]
    while pending:
        of = funcs[pending.pop()]
        needed[of.name] = of
        read = (node.tensor for node in walk(of.body) if isinstance(node, Read))
        pending += [tensor for tensor in read if tensor in funcs and tensor not in needed]
    places = {one: of.labels.index(label) for one, of in needed.items() if label in of.labels}
    if panels.parts.get(str(reading.result)) != places.get(func, -1):
        raise Unread(line, f"panels of another axis than that of '{label}'")
    places |= {one: axis for one, axis in panels.parts.items() if one in reading.inputs}
    for of in needed.values():
        if label not in of.labels or any(_crosses(of, label, places)):
            raise Unread(line, f"panels of '{label}', which '{of.name}' needs more of")


def _crosses(func: Func, label: str, places: Mapping[str, int]) -> Iterator[bool]:
    """Yield for each node of a Func's body whether it needs more than one index of the label.

    A range that depends on the label, or on its size, would begin again in each panel.
    """
    yield any(label in (*one.labels, *one.sizes.labels) for one in func.when)
    for node in walk(func.body):
        match node:
            case Index(label=one) | Size(label=one):
                yield one == label
            case Reduce(labels=labels, when=when) | Dot(labels=labels, when=when):
                yield label in labels
                yield any(label in (*one.labels, *one.sizes.labels) for one in when)
            case ProgramId():
                yield True
            case Read(tensor=tensor, indices=indices, within=within):
                at = places.get(tensor)
                for axis, index in enumerate(indices):
                    yield index.plain != label if axis == at else label in index.labels
                yield bool(within)
            case _:
                pass
