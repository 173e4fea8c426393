"""Tell the user how an algorithm has a number in a row in which data masks everything.

`verify` shows this way out where it cannot compare such a row.
"""

from __future__ import annotations

from dtpoly.verify.algebra.frame_comparison import INFINITE
from dtpoly.verify.algebra.terms import AppliedOperation, Literal, Term, walk
from dtpoly.verify.proof.findings import Finding

LOW = Literal("-inf")
AROUND = (
    "write the mask around the exponential, as in where(c, exp(x - top), 0): where c holds nowhere"
    " in a row, that is 0, but exp(where(c, x, -inf) - top) is a NaN in the algorithm"
)


def way_to_mask(finding: Finding) -> str:
    """Return the way out if the algorithm has exponentials of what data masks, or nothing."""
    if finding.terms is None or INFINITE not in finding.what:
        return ""
    _, algorithm, _ = finding.terms
    return AROUND if any(map(_is_of_masked, walk(algorithm))) else ""


def _is_of_masked(term: Term) -> bool:
    """Return whether a term is the exponential of a value that may be masked by data."""
    if not isinstance(term, AppliedOperation) or term.operation not in ("exp", "exp2"):
        return False
    applied = (one for one in walk(term.operands[0]) if isinstance(one, AppliedOperation))
    return any(one.operation == "where" and LOW in one.operands for one in applied)
