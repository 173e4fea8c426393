"""Tell the user what to do about a whole number that may not fit its type.

`verify` shows this way out with a finding of the layer `overflow`.
"""

from __future__ import annotations

from collections.abc import Sequence

from dtpoly.verify.algebra.regions import is_affine
from dtpoly.verify.algebra.whole import Whole, names_of
from dtpoly.verify.proof.findings import Finding, Proof
from dtpoly.verify.proof.report import CallWitness
from dtpoly.verify.triton.strides import apart_from

WIDE = "compute it in 64 bits, as in i.to(tl.int64) * stride"
LARGE = 2**30  # sizes from here on are those that a promise can exclude


def way_to_fit(proof: Proof, finding: Finding, witness: CallWitness | None) -> str:
    """Return the way out as the user would write it, or nothing if there is none.

    It is to compute in 64 bits, or to promise something about a tensor or a size.
    """
    if finding.layer != "overflow":
        return ""
    tensors = [] if finding.number is None else _tensors(proof, finding.number)
    promises = [f"reach({tensor}) < 2**31" for tensor in tensors]
    if not promises and witness is not None:
        promises = [f"len({label}) <= 2**30" for label, size in witness.sizes if size > LARGE]
    if not promises:
        return WIDE
    return f"{WIDE}; or promise beside a launch: # assume: {', '.join(promises)}"


def _tensors(proof: Proof, number: Whole) -> list[str]:
    """Return the tensors into which a kernel may go so far.

    The number is then a multiple of a stride of the tensor. A number that is linear in sizes gives
    no tensor, because the reach of a tensor says little about a single size.
    """
    if is_affine(number) and not any(".stride(" in one for one in names_of(number)):
        return []
    used = {access.tensor for ran in proof.runs for access in ran.accesses}
    return [one for one in sorted(used) if _has_stride(proof.arrays[one].strides, number)]


def _has_stride(strides: Sequence[Whole], number: Whole) -> bool:
    apart = apart_from(strides, number)
    factors = () if apart is None else zip(strides, apart[0], strict=True)
    return any(stride.constant is None and factor.terms for stride, factor in factors)
