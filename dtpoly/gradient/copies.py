"""Leaves out derived Funcs that are only other names of tensors.

What a sum is given by its reader is such a name, as in `d_total[x] = d_f[x]`. All reads of it, also
those through `pad`, become reads of the tensor.
"""

from collections.abc import Collection
from dataclasses import replace

from dtpoly.algorithm.expressions import Expr, Read, map_children
from dtpoly.algorithm.program import Func
from dtpoly.gradient.derivation import Derivation


def without_copies(derivation: Derivation, fixed: Collection[str]) -> list[Func]:
    """Return the derived Funcs without copies; those that are fixed stay."""
    kept = list(derivation.funcs)
    for name in [one.name for one in kept if one.name not in fixed and one.into is None]:
        func = next(one for one in kept if one.name == name)
        body = func.body
        if not isinstance(body, Read) or not _is_copy(func, body, derivation):
            continue
        others = [one for one in kept if one.name != name]
        kept = [replace(one, body=_read_of(one.body, func, body)) for one in others]
    return kept


def _is_copy(func: Func, body: Read, derivation: Derivation) -> bool:
    """Return whether a read has all elements of a tensor, and those of the Func are just these."""
    labels = [one.plain for one in body.indices]
    is_all = sorted(map(str, labels)) == sorted(func.labels)
    return is_all and all(shows(body, label, derivation) for label in func.labels)


def shows(read: Read, label: str, derivation: Derivation) -> bool:
    """Return whether a read says how large a label is: an axis is read at it alone, all of it."""
    every = (*derivation.program.funcs, *derivation.funcs)
    made = {one.name: one.labels for one in every if one.into is None}
    axes = made.get(read.tensor) or derivation.gift_labels.get(read.tensor)
    return read.padding is None and any(
        index.plain == label
        and (
            (axes is not None and axes[at] == label) or (read.tensor, at, label) in derivation.whole
        )
        for at, index in enumerate(read.indices)
    )


def _read_of(expr: Expr, func: Func, body: Read) -> Expr:
    made = map_children(expr, lambda one: _read_of(one, func, body))
    if not isinstance(made, Read) or made.tensor != func.name:
        return made
    at = dict(zip(func.labels, made.indices, strict=True))
    indices = tuple(at[one.plain or ""] for one in body.indices)
    return replace(made, tensor=body.tensor, indices=indices)
