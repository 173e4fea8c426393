"""Loads from tensors to which earlier launches added by atomic operations.

Atomic operations are a reduction in memory: an element becomes its first value, put together with
all values that the operations add to it. A load sees exactly that if all the operations are in
launches before its own, and the first value is stored in launches before theirs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.rounding import split
from dtpoly.verify.algebra.terms import AppliedOperation, Choose, Term, children, choose
from dtpoly.verify.triton.access import KernelAccess, Ran

ATOMIC = {"atomic_add": "add", "atomic_max": "maximum", "atomic_min": "minimum"}
# What must be done to floats before such an operation: memory compares their bits, and a nan must
# win.
OF_BITS = {"maximum": "nan above", "minimum": "nan below"}


def gathered(
    launches: Sequence[Ran], at: int, load: KernelAccess
) -> list[tuple[int, KernelAccess]]:
    """Return each atomic operation on the tensor that is loaded, with the number of its launch.

    Raises Unread if a load may see only some of them: if one is in the load's own launch, if other
    stores come in their launches or later, or if the operations are of several kinds.
    """
    writes = [
        (other, one)
        for other in range(at + 1)
        for one in launches[other].accesses
        if one.tensor == load.tensor and one.kind != "load"
    ]
    found = [(other, one) for other, one in writes if one.kind in ATOMIC]
    if not found:
        return []
    first = min(other for other, _ in found)
    is_between = any(one.kind not in ATOMIC and other >= first for other, one in writes)
    if is_between or len({one.kind for _, one in found}) > 1 or any(o >= at for o, _ in found):
        raise Unread(load.line, "a load of what atomic operations left")
    return found


def func_of(tensor: str, funcs: Collection[str]) -> str | None:
    """Return the Func that a tensor of a plan holds, judged by its name; None for other names.

    The tensor has the name of the Func, or that name, `_` and a number. If a tensor has exactly the
    name of a Func, it holds that one, even if the name ends with a number.
    """
    stem, _, number = tensor.rpartition("_")
    if tensor in funcs:
        return tensor
    return stem if number.isdecimal() and stem in funcs else None


def operation_of(access: KernelAccess, kind: str, *, is_asked: bool) -> str:
    """Return the operation by which an atomic operation combines values in a type.

    Each sum is rounded to the type. If the type is narrow, the result depends on the order. Then it
    is not a sum as the algorithm means it, unless the directive `atomic` asks for it.
    """
    operation = ATOMIC[access.kind]
    is_rounded = kinds.is_float(kind) and kinds.is_narrow(kind)
    return f"add in {kind}" if operation == "add" and is_rounded and not is_asked else operation


def part(access: KernelAccess, kind: str, *, is_finite: bool, is_asked: bool) -> Term:
    """Return the value that an atomic operation combines with an element of a type.

    The operation is done in that type. In a maximum or minimum of floats a nan must have been given
    the bits that win in their order. The rounding of the value can be dropped, since the largest
    of rounded values is the rounded largest value. For a sum that holds only where `atomic` asks
    for it.
    """
    assert access.value is not None
    operation = ATOMIC[access.kind]
    if kinds.is_whole(kind):
        return access.value
    value = access.value
    if operation == "add" and not is_asked:
        return value
    match value:
        case AppliedOperation(operation=made, operands=(inner,)) if (
            operation in OF_BITS and made == f"{OF_BITS[operation]} in {kind}"
        ):
            value = inner
        case _ if operation in OF_BITS and not is_finite:
            raise Unread(access.line, f"an atomic {operation} of floats may lose a nan")
        case _:
            pass
    return _unrounded(kind, value)


def _unrounded(kind: str, value: Term) -> Term:
    """Return a value as it was before it was rounded to a type, also inside of choices."""
    match value:
        case Choose(condition=condition, yes=yes, no=no):
            return choose(condition, _unrounded(kind, yes), _unrounded(kind, no))
        case _:
            return children(value)[0] if split(value) == ("round", kind) else value
