"""Compare sums that a loop keeps in a frame with sums of the algorithm in that frame (lemma 23).

Where the algorithm itself subtracts m in the exponents of a sum, and m is not the largest of just
these exponents, a kernel may do so, too: its sum is then as large as the algorithm says. So a value
that is kept in a frame may need to be such a sum.
"""

from __future__ import annotations

from collections.abc import Iterator

from dtpoly.verify.algebra.frame_terms import ZERO, guarded, unstarted
from dtpoly.verify.algebra.frames import Framing
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region
from dtpoly.verify.algebra.terms import (
    RUNNING,
    AppliedOperation,
    Term,
    Total,
    children,
    names,
    walk,
)
from dtpoly.verify.algebra.value import difference

# What a value needs that has to be a sum of the algorithm; the operand is the value.
OF_ALGORITHM = "a sum of the algorithm"


def for_sum_of_algorithm(value: Term) -> Term:
    """Return what a value needs that has to be a sum of the algorithm in the same frame."""
    return AppliedOperation(OF_ALGORITHM, (value,))


def is_for_sum_of_algorithm(need: Term) -> bool:
    """Return whether a value needs to be a sum of the algorithm."""
    return isinstance(need, AppliedOperation) and need.operation == OF_ALGORITHM


def are_of_algorithm(
    run: ProofRun, framing: Framing, kernel: Term, algorithm: Term, where: Region
) -> bool:
    """Return whether all values of a kernel that need to be sums of the algorithm are such sums."""
    values = list(dict.fromkeys(_needed(kernel)))
    sums = list(_sums(algorithm)) if values else []
    return all(any(_is_same(run, framing, one, theirs, where) for theirs in sums) for one in values)


def _needed(kernel: Term) -> Iterator[Term]:
    for one in walk(kernel):
        match one:
            case AppliedOperation(operation=operation, operands=(_, *needs)) if (
                operation == RUNNING
            ):
                values = (children(need)[0] for need in needs if is_for_sum_of_algorithm(need))
                yield from (value for value in values if not _is_of_nothing(value))
            case _:
                pass


def _is_of_nothing(value: Term) -> bool:
    """Return whether nothing is summed: 0 in any frame."""
    return isinstance(value, AppliedOperation) and ZERO in value.operands


def _sums(algorithm: Term) -> Iterator[Total]:
    """Yield the sums of an algorithm that look at no name that another reduction binds."""
    totals = [one for one in walk(algorithm) if isinstance(one, Total)]
    bound = {one for total in totals for one in total.bound}
    for total in totals:
        if total.operation == "add" and names(total).isdisjoint(bound):
            yield total


def _is_same(run: ProofRun, framing: Framing, kernel: Term, algorithm: Term, where: Region) -> bool:
    """Return whether two sums are equal, and in equal frames, each with the same power."""
    mine, theirs = framing.value(kernel), framing.value(algorithm)
    if mine.over or theirs.over or not mine.powers or len(mine.powers) != len(theirs.powers):
        return False
    left = dict(theirs.powers)
    for frame, power in mine.powers.items():
        bare = unstarted(guarded(frame) or frame)
        same = (
            other
            for other, wanted in left.items()
            if power == wanted and difference(run, bare, other, where) is None
        )
        found = next(same, None)
        if found is None:
            return False
        del left[found]
    return difference(run, mine.body, theirs.body, where) is None
