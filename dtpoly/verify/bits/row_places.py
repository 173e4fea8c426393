"""Say whether an algorithm computes a row from what is in it alone, or also from where it stands.

A row of a softmax is the same wherever it stands. A row of causal attention, or one that reads its
neighbour, is not: there nobody can ask for the same bits at another place.
"""

from __future__ import annotations

from dtpoly.algorithm.expressions import (
    Dot,
    Index,
    ProgramId,
    Read,
    Reduce,
    data_of,
    labels_of_conditions,
    walk,
)
from dtpoly.algorithm.program import Func, Program


def has_places(program: Program, func: str, label: str) -> bool:
    """Return whether a Func, or one that it reads, depends on the place along a label."""
    funcs = {one.name: one for one in program.funcs}
    waiting, seen = [func], set[str]()
    while waiting:
        one = waiting.pop()
        if one in seen or one not in funcs:
            continue
        seen.add(one)
        if _has_places(funcs[one], label):
            return True
        waiting.extend(node.tensor for node in walk(funcs[one].body) if isinstance(node, Read))
    return False


def _has_places(func: Func, label: str) -> bool:
    if label in labels_of_conditions(func.when) or func.parted == label:
        return True
    if func.into is not None and func.into.at is not None:
        return True
    for node in walk(func.body):
        match node:
            case Index(label=one) if one == label:
                return True
            case ProgramId():
                return True
            case Read(indices=indices):
                mixed = (one for one in indices if label in one.labels and one.plain != label)
                if any(mixed) or any(True for _ in data_of(node)):
                    return True
            case Reduce(when=when, scan=scan):
                if label in labels_of_conditions(when) or (scan and scan.at == label):
                    return True
            case Dot(when=when):
                if label in labels_of_conditions(when):
                    return True
            case _:
                pass
    return False
