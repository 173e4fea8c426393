"""Says which steps of a scan come before others, and which of them somebody needs."""

from collections.abc import Iterable, Mapping, Sequence

from tests.oracle.cells import Indices
from tests.oracle.lines import Line
from tests.oracle.statements import Dim, Meaning, Reduction, Scanned


def in_turn(line: Line, every: Iterable[Indices]) -> Iterable[Indices]:
    """Return the instances of a statement so that each scan goes on from what came before."""
    scan = None if line.reduction is None or line.role != "scan" else line.reduction.scan
    if scan is None:
        return every
    position = line.dims.index(scan.dim)
    return sorted(every, key=lambda one: scan.turn(one[position]))


def begins_inside(line: Line, indices: Indices, walked: Sequence[range]) -> bool:
    """Return whether a step of a scan goes on from one that is in another block of its label."""
    scan = None if line.reduction is None or line.role != "scan" else line.reduction.scan
    if scan is None:
        return False
    position = line.dims.index(scan.dim)
    before = scan.before(indices[position])
    return before is not None and before not in walked[position]


def starts_of_scans(
    meaning: Meaning, instances: Mapping[tuple[str, int], list[Indices]]
) -> dict[Dim, int]:
    """Return where loops along scans begin: at the first step that is needed.

    If several scans go along one label, its loops begin at 0.
    """
    found: dict[Dim, int] = {}
    for one in meaning.reductions:
        if one.scan is not None:
            at = one.kept.index(one.scan.dim)
            first = min((step[at] for step in instances["scan", one.number]), default=0)
            found[one.scan.dim] = 0 if one.scan.dim in found else first
    return found


def steps_of_scan(
    reduction: Reduction, scan: Scanned, wanted: Sequence[Indices]
) -> tuple[list[Indices], list[Indices]]:
    """Return the beginnings and the steps of a scan that some results need."""
    at = reduction.kept.index(scan.dim)
    steps = {
        (*one[:at], index, *one[at + 1 :])
        for one in wanted
        for index in range(scan.size)
        if scan.turn(index) <= scan.turn(one[at])
    }
    return sorted({(*one[:at], *one[at + 1 :]) for one in steps}), sorted(steps)
