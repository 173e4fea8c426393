"""Say what is missing where the size of an axis is not known, since no label shows it.

`pad(X, 0)[r, n - 1]` reads a tensor whose second axis may have any size. A kernel that takes it to
be that of n is wrong for a caller who passes another one. A person who knows that nobody does so
can promise it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dtpoly.algorithm.outside import as_shown
from dtpoly.algorithm.program import in_order, touched
from dtpoly.verify.proof.findings import Finding, Proof


def way_to_show(proof: Proof, finding: Finding, example: Mapping[str, int] | None) -> str:
    """Return what a person may promise of an axis of which any size counts; empty if there is none.

    Where a load is wrong, that is one of its tensor; where a value is, one of any tensor.
    """
    if not proof.is_by_hand:
        return ""
    access = finding.access
    about = access.tensor if access is not None and access.kind == "load" else ""
    for tensor, axis in _unshown(proof):
        if about in ("", tensor):
            shape = f"{tensor}.shape[{axis}]"
            size = (example or {}).get(shape)
            shown = "" if size is None else f", here {size}"
            promise = f"# assume: {shape} == {_likely(proof, tensor, axis)}"
            return (
                f"no label shows the size of axis {axis} of '{tensor}', so it may be any{shown}; "
                f"if callers always pass the same, promise it: {promise}"
            )
    return ""


def _unshown(proof: Proof) -> Iterator[tuple[str, int]]:
    """Yield the axes of inputs whose size is a name of its own, and that of no label."""
    shown = {size.plain for size in proof.meaning.sizes.values()}
    for one in proof.meaning.program.tensors:
        array = proof.arrays.get(one.name)
        for axis, size in enumerate(array.shape if array is not None else ()):
            if size.plain == f"{one.name}.shape[{axis}]" and size.plain not in shown:
                yield one.name, axis


def _likely(proof: Proof, tensor: str, axis: int) -> str:
    """Return the size that the axis most probably has: that of a label which reads it."""
    program = proof.meaning.program
    for func in in_order(program, [one.name for one in program.funcs]):
        for read in touched(func):
            labels = as_shown(read.indices[axis]).labels if read.tensor == tensor else ()
            if labels:
                return f"len({labels[0]})"
    return "..."
