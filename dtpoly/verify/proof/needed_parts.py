"""Say how a file promises that only some elements of a result are needed.

A kernel may leave elements as they were on purpose: blocks above a diagonal, or rows of a cache
that no request has. Without an algorithm nobody has said what such elements should be.
"""

from __future__ import annotations

from dtpoly.verify.proof.findings import NOT_STORED, Finding, Proof


def way_to_keep(proof: Proof, finding: Finding) -> str:
    """Return what to promise if elements that are not stored may keep what they had, or nothing."""
    if proof.is_valued or finding.what != NOT_STORED:
        return ""
    name = proof.into.get(proof.result, proof.result)
    return f"if such elements may keep what they had, say so: # assume: partly({name})"
