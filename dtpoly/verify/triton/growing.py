"""Say by how much numbers and addresses grow in each iteration of a loop.

    a_ptrs += 4 * n
    a_ptrs -= 3 * n

An address has 64 bits, and what is added to it may have 32. Here the address grows by n, but 4 * n
may wrap where n does not. So an address keeps all that an iteration adds to it as parts of its own:
then its parts show that one of them is below 0, and that the others may be larger than the address.
"""

from __future__ import annotations

from dataclasses import replace

from dtpoly.verify.algebra.kernel_values import PointerValue, TileValue, Value
from dtpoly.verify.algebra.whole import Whole, names_of, number

# What is added in each iteration: the parts of an address, or the one sum that a number grows by.
Growth = tuple[Whole, ...]


def growth(start: Value, end: Value | None, at_start: Value, inner: set[str]) -> Growth | None:
    """Return by how much a value grows in an iteration, if it is the same in each; else None.

    `at_start` is the value when the iteration begins, and `inner` are names that mean something
    else in each iteration.
    """
    if (
        not isinstance(start, TileValue)
        or not isinstance(end, TileValue)
        or not isinstance(at_start, TileValue)
    ):
        return None
    if start.axes != end.axes:
        return None
    found: Growth | None
    match at_start.item, end.item:
        case Whole() as old, Whole() as new:
            found = (new - old,)
        case PointerValue() as old, PointerValue() as new:
            found = _added(old, new)
        case _:
            return None
    if found is None or any(names_of(one) & inner for one in found):
        return None
    return found


def _added(old: PointerValue, new: PointerValue) -> Growth | None:
    """Return the parts that are added to an address; None if another address is made.

    Written numbers and names are as they are given, and none of them wraps: they are one sum.
    """
    known = len(old.parts)
    if old.tensor != new.tensor or old.data != new.data or new.parts[:known] != old.parts:
        return None
    steady, others, total = number(0), list[Whole](), number(0)
    for part in new.parts[known:]:
        total = total + part
        if part.constant is not None or part.plain is not None or (-part).plain is not None:
            steady = steady + part
        else:
            others.append(part)
    if total != new.offset - old.offset:
        return None
    return (*([steady] if steady.terms else []), *others)


def moved(value: Value, by: Growth, times: Whole) -> Value:
    """Return a tile to whose number or address something was added a number of times."""
    assert isinstance(value, TileValue)
    item = value.item
    for one in by:
        match item:
            case PointerValue():
                item = item.plus(one * times)
            case Whole():
                item = item + one * times
            case _:
                raise AssertionError(value)
    return replace(value, item=item)
