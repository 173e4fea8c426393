"""Finds which chains of reductions directives ask for in parts.

`block` cuts a label that a Func reduces over, and `online` says that others go along with it.
"""

from collections.abc import Iterable, Iterator, Sequence

from dtpoly.algorithm.parted import AskedChain
from dtpoly.algorithm.program import Part, Program, scanned_labels
from dtpoly.algorithm.scan_parts import AskedScan
from dtpoly.schedule.facts import Blocked, Fact, NewName, ReducedAlong


def asked_chains(facts: Sequence[Fact]) -> Iterator[AskedChain]:
    """Yield the chains whose label is cut into blocks."""
    along = [fact for fact in facts if isinstance(fact, ReducedAlong)]
    names = {(one.func, one.of): one.name for one in facts if isinstance(one, NewName)}
    for block in facts:
        if not isinstance(block, Blocked):
            continue
        members = [block.func]
        for last in members:  # grows while it is walked
            mine = (one.func for one in along if (one.consumer, one.label) == (last, block.label))
            members += [one for one in mine if one not in members]
        if len(members) > 1:
            name = names.get((block.func, block.label), f"{block.label}.part")
            others = tuple(members[1:])
            yield AskedChain(block.func, others, block.label, name, block.size, block.span)


def asked_scans(program: Program, facts: Iterable[Fact]) -> Iterator[AskedScan]:
    """Yield the Funcs whose blocks cut a label along which they scan.

    Parts without a name are named after the label, and after the Func where others are named so.
    """
    known, taken = tuple(facts), dict[str, Part]()
    names = {(one.func, one.of): one.name for one in known if isinstance(one, NewName)}
    for block in known:
        func = program.find_func(block.func) if isinstance(block, Blocked) else None
        if isinstance(block, Blocked) and func and block.label in scanned_labels(func):
            name, part = f"{block.label}.part", Part(block.label, block.size)
            name = name if taken.setdefault(name, part) == part else f"{name}.{block.func}"
            name = names.get((block.func, block.label), name)
            yield AskedScan(block.func, block.label, name, block.size, block.span)
