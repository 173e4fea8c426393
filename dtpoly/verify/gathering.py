"""A load of what atomic operations left, in; the operations of which it sees all, out.

They are reductions in memory: an element is what it began as, and all that is put to it. That is
what a load sees if they are in launches before its own, and what they begin with before them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dtpoly.verify import kinds
from dtpoly.verify.access import Access, Ran
from dtpoly.verify.rounding import split
from dtpoly.verify.terms import Apply, Choose, Term, children, choose
from dtpoly.verify.values import Unread

ATOMIC = {"atomic_add": "add", "atomic_max": "maximum", "atomic_min": "minimum"}
# What must be done to floats before: memory compares their bits, and a nan is to win.
OF_BITS = {"maximum": "nan above", "minimum": "nan below"}


def gathered(launches: Sequence[Ran], at: int, load: Access) -> list[tuple[int, Access]]:
    """Each atomic operation on the tensor that a load is from, with its launch. Raises Unread."""
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
    """The Func that a tensor of a wrapper holds, by its name: its own, or that and a number.

    A tensor that has the name of a Func holds that one, also if the name ends with a number.
    """
    stem, _, number = tensor.rpartition("_")
    if tensor in funcs:
        return tensor
    return stem if number.isdecimal() and stem in funcs else None


def operation_of(access: Access, kind: str, *, is_asked: bool) -> str:
    """By what an atomic operation puts values together, in an element of a type.

    Each sum is rounded to the type. If that is a narrow one, the result depends on the order: it
    is no sum of the algorithm, unless `atomic` asks for that of the Func.
    """
    operation = ATOMIC[access.kind]
    is_rounded = kinds.is_float(kind) and kinds.is_narrow(kind)
    return f"add in {kind}" if operation == "add" and is_rounded and not is_asked else operation


def part(access: Access, kind: str, *, is_finite: bool, is_asked: bool) -> Term:
    """What an atomic operation puts to an element of a type; it is done in that type.

    A nan must have the bits that win in its order. The largest of rounded values is the largest
    value, rounded; of a sum that is so only where `atomic` asks for it.
    """
    assert access.value is not None
    operation = ATOMIC[access.kind]
    if kinds.is_whole(kind):
        return access.value
    value = access.value
    if operation == "add" and not is_asked:
        return value
    match value:
        case Apply(operation=made, operands=(inner,)) if (
            operation in OF_BITS and made == f"{OF_BITS[operation]} in {kind}"
        ):
            value = inner
        case _ if operation in OF_BITS and not is_finite:
            raise Unread(access.line, f"an atomic {operation} of floats may lose a nan")
        case _:
            pass
    return _unrounded(kind, value)


def _unrounded(kind: str, value: Term) -> Term:
    """The value before it was rounded to a type, whichever way it was chosen."""
    match value:
        case Choose(condition=condition, yes=yes, no=no):
            return choose(condition, _unrounded(kind, yes), _unrounded(kind, no))
        case _:
            return children(value)[0] if split(value) == ("round", kind) else value
