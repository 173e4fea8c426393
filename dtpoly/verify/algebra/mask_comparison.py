"""Compare a kernel's term with the algorithm's, up to frames, and up to what masks leave out.

A kernel may leave out the tiles in which a mask of the algorithm hides everything. Then the
algorithm's masks are moved outwards (`masked_terms`) before the terms are compared. Where a mask
leaves nothing of a row, both must be a nan (`rows_of_nothing`).
"""

from __future__ import annotations

from dtpoly.verify.algebra.frame_comparison import has_frame, up_to_frames
from dtpoly.verify.algebra.masked_terms import Unmasked, unmasked
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region
from dtpoly.verify.algebra.rows_of_nothing import are_alike
from dtpoly.verify.algebra.terms import Term
from dtpoly.verify.algebra.value import Difference, difference


def proved_difference(
    run: ProofRun, kernel: Term, algorithm: Term, where: Region, *, is_finite: bool
) -> Difference | None:
    """Return the first difference on a set; None if the terms are equal, maybe up to frames.

    `is_finite` says that callers promise that inputs are finite.
    """
    found = difference(run, kernel, algorithm, where)
    if found is None:
        return None
    before = dict(run.licences)
    first = up_to_frames(run, (kernel, algorithm), where, found, is_finite=is_finite)
    if first is None:
        return None
    moved = unmasked(run, algorithm, where)
    if moved is not None and _is_as_unmasked(run, kernel, algorithm, moved, where, is_finite):
        return None
    run.licences = before
    return first


def _is_as_unmasked(
    run: ProofRun,
    kernel: Term,
    algorithm: Term,
    moved: Unmasked,
    where: Region,
    is_finite: bool,
) -> bool:
    """Return whether a kernel is the algorithm with its masks outside, or alike without an element.

    The latter is asked where a mask leaves nothing of a row (lemma 22).
    """
    some = where
    if not run.is_empty(moved.empty):
        if not are_alike(run, kernel, algorithm, moved.empty):
            return False
        some = where.subtract(moved.empty)
    found = difference(run, kernel, moved.term, some)
    if found is None:
        return True
    if has_frame(run, kernel):
        ways = (moved.term,) if some is where else (algorithm, moved.term)
        return any(
            up_to_frames(run, (kernel, one), some, found, is_finite=is_finite) is None
            for one in ways
        )
    # A kernel may have masks of its own. Only where the algorithm multiplies what it masks by 0, a
    # kernel may do so, too.
    own = unmasked(run, kernel, some, is_kernel=True)
    return own is not None and difference(run, own.term, moved.term, some) is None
