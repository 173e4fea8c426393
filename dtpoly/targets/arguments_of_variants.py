"""Leaves of a kernel's arguments only what its launch lets Triton know of them.

The generated file has few variants of a kernel, each with what Triton may look at: `dt_chooser`
there says which variant a call runs.
"""

from collections.abc import Sequence
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.codegen.fours import rows
from dtpoly.codegen.python_names import pointer, strides
from dtpoly.ir.kernel import FOURS, SPECIALIZED, TileKernel
from dtpoly.targets.argument import CONSTANT, TYPES, ParameterType

Words = Sequence[Sequence[str]]


def told(
    kernel: TileKernel, words: Words, passed: Sequence[ParameterType], is_large: bool
) -> tuple[ParameterType, ...]:
    """Return the same arguments; of each but constants whether Triton may look at it.

    `words` are those of the axes of tensors: new ones are contiguous along their last. If one of
    them is large, rows that are aligned are known, also where others are not.
    """
    known = {one.name: one for one in passed}
    is_wide = known["offset"].value is DType.I64
    described = [known[one.name] for one in kernel.described]
    has_blocks = not is_wide and all(one.type != CONSTANT for one in described)
    pointers = [pointer(tensor) for tensor in kernel.tensors]
    units = [[*strides(tensor)][-1] for tensor in kernel.tensors if tensor.rank]
    steps = [row.variable for row in rows(kernel, words)]
    is_aligned = all(known[name].is_aligned for name in (*pointers, *steps))
    if described:
        is_aligned = is_aligned and (has_blocks or is_wide)
    is_four = not is_aligned and not is_wide and FOURS in known and bool(known[FOURS].value)
    is_even = all(known[name].is_aligned for name in pointers)
    is_four = is_four and is_even
    aligned = {*pointers, *units, *steps}
    may_know = aligned if is_aligned else set[str]() if is_wide else {*units}
    may_know |= {*pointers} if is_four else set()
    if is_large and is_even and not (is_aligned or is_wide or is_four or described):
        rows_known = {name for name in steps if known[name].is_aligned}
        may_know |= {*pointers, *rows_known} if rows_known else set()
    blocks = {one.name for one in described}
    is_whole = is_aligned and not is_wide and all(o.value for o in passed if _is_flag(o))
    found: list[ParameterType] = []
    for one in passed:
        if one.name == FOURS:
            found.append(replace(one, value=is_four))
        elif _is_flag(one):
            found.append(replace(one, value=is_whole))
        elif one.name == SPECIALIZED and kernel.own:
            found.append(one if has_blocks else replace(one, value=0))
        elif one.name in blocks:
            found.append(_untold(one) if has_blocks else ParameterType(one.name, CONSTANT))
        elif one.is_chosen or one.name in may_know:
            found.append(one)
        else:
            found.append(_untold(one))
    return tuple(found)


def _is_flag(one: ParameterType) -> bool:
    return one.is_chosen and isinstance(one.value, bool) and one.name != FOURS


def _untold(one: ParameterType) -> ParameterType:
    """Return a number that Triton may not look at is like any other, if it is a 1."""
    kind = TYPES[DType.I32] if one.type == CONSTANT else one.type
    return ParameterType(one.name, kind, is_told=False)
