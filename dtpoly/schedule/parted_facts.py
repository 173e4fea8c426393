"""Finds which chains of reductions directives ask for in parts.

`block` cuts a label that a Func reduces over, and `online` says that others go along with it. So do
results that the kernel of this Func stores: those that reduce over the label, too, are computed in
the same parts, and those that are fused at the loop over it are stored by the program of their
part. A block of the kernel that merges asks for parts, too, as this kernel has blocks of its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dtpoly.algorithm.parted import AskedChain, NotInPartsError, in_parts
from dtpoly.algorithm.program import Part, Program, reduced_labels, scanned_labels
from dtpoly.algorithm.scan_parts import AskedScan
from dtpoly.schedule.facts import Blocked, Fact, MergeBlocked, ReducedAlong
from dtpoly.schedule.hosts import reductions_of_stores, stores_of


def asked_chains(program: Program, facts: Sequence[Fact]) -> Iterator[AskedChain]:
    """Yield the chains whose label is cut into blocks."""
    blocks = [fact for fact in facts if isinstance(fact, Blocked)]
    blocks = [one for one in blocks if _is_reduced(program, one.func, one.label)]
    if not blocks:
        return
    along = [fact for fact in facts if isinstance(fact, ReducedAlong)]
    merged = {(one.func, one.parts) for one in facts if isinstance(one, MergeBlocked)}
    stores = stores_of(program, facts)
    at_loops = reductions_of_stores(program, facts, stores)
    for block in blocks:
        members = [block.func]
        for last in members:  # grows while it is walked
            mine = (one.func for one in along if (one.consumer, one.label) == (last, block.label))
            members += [one for one in mine if one not in members]
        stored = [result for result, host in stores.items() if host == block.func]
        members += [one for one in stored if one not in members and _has_parts(program, one, block)]
        within = tuple(
            one for one in stored if one in at_loops and block.label in program.func(one).labels
        )
        name = block.name or f"{block.label}.part"
        if len(members) > 1 or within or (block.func, name) in merged:
            others = tuple(members[1:])
            whole = tuple(one for one in stored if one not in (*members, *within))
            asked = AskedChain(block.func, others, block.label, name, block.size, block.span)
            yield replace(asked, within=within, whole=whole)


def asked_scans(program: Program, facts: Iterable[Fact]) -> Iterator[AskedScan]:
    """Yield the Funcs whose blocks cut a label along which they scan.

    Parts without a name are named after the label, and after the Func where others are named so.
    """
    known, taken = tuple(facts), dict[str, Part]()
    for block in known:
        func = program.find_func(block.func) if isinstance(block, Blocked) else None
        if isinstance(block, Blocked) and func and block.label in scanned_labels(func):
            name, part = f"{block.label}.part", Part(block.label, block.size)
            name = name if taken.setdefault(name, part) == part else f"{name}.{block.func}"
            name = block.name or name
            yield AskedScan(block.func, block.label, name, block.size, block.span)


def _has_parts(program: Program, func: str, block: Blocked) -> bool:
    """Return whether a Func reduces over the label of a block, and its reduction has parts."""
    if not _is_reduced(program, func, block.label):
        return False
    try:
        in_parts(program, AskedChain(func, (), block.label, "part", block.size, block.span))
    except NotInPartsError:
        return False  # it is computed whole, by the kernel that merges the others
    return True


def _is_reduced(program: Program, func: str, label: str) -> bool:
    """Return whether a Func reduces over a label that it does not have on its left side."""
    found = program.find_func(func)
    return found is not None and label not in found.labels and label in reduced_labels(found)
