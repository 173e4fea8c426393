"""Model `tl.reshape` and `tl.split`: the same lanes in the same order, but on other axes.

An axis is known by the name of its lane's index. So a reshape writes the index of each old axis as
a number over the indices of the new axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from math import prod

from dtpoly.verify.algebra.kernel_values import TileValue, Unread, lanes_of, put_item
from dtpoly.verify.algebra.whole import Whole, name, number
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.product_axes import Extents, LaidOutAnewError, extents_of, merged

Axes = Sequence[str | None]
Sized = list[tuple[str, int]]


def reshaped(
    state: KernelState, tile: TileValue, axes: tuple[str | None, ...], line: int
) -> TileValue:
    """Model `tl.reshape`: the lanes stay in their order, with the last axis fastest, on new axes.

    If the extents are constants, neighbouring axes are taken together: the place of a lane among
    all lanes of the old axes is the same as among those of the new ones, and divisions by the
    extents take the old indices out of it. An axis whose extent is no constant stays as it is.
    """
    put: dict[str, Whole] = {}
    for old, new in _runs(state, tile.axes, axes, line):
        if state.extents[old[0]].constant is None:
            put[old[0]] = name(new[0])
            continue
        for some, others in _groups(state, old, new, line):
            place = number(0)
            for axis, extent in others:
                place = place * extent + name(axis)
            left = place
            for at, (axis, extent) in reversed(list(enumerate(some))):
                put[axis] = left.modulo(extent) if at else left
                left = left.floor(extent)
    return replace(tile, axes=axes, item=put_item(state.run, tile.item, put))


def halves(state: KernelState, tile: TileValue, line: int) -> tuple[TileValue, TileValue]:
    """Model `tl.split`: return what stands at each of the two lanes of the last axis.

    The results are tiles without that axis.
    """
    *axes, last = tile.axes or (None,)
    if last is None or not axes or state.extents[last] != number(2):
        raise Unread(line, "a split of what has no last axis of two lanes beside others")
    first, second = (put_item(state.run, tile.item, {last: number(at)}) for at in (0, 1))
    one = replace(tile, axes=tuple(axes), item=first)
    return one, replace(one, item=second)


def _runs(
    state: KernelState, old: Axes, new: Axes, line: int
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield old and new names of lanes that correspond to each other.

    They are neighbouring axes whose extents are constants, or single axes with any other extent.
    """
    wanted, given = (merged(_extents(state, axes)) for axes in (old, new))
    if wanted != given:
        _lay_out(state, new, _extents(state, old))
        _lay_out(state, old, _extents(state, new))
        raise Unread(line, "a reshape that takes lanes apart whose number is not known")
    both = (_neighbours(state, lanes_of(axes)) for axes in (old, new))
    yield from zip(*both, strict=True)


def _neighbours(state: KernelState, lanes: Sequence[str]) -> list[list[str]]:
    found: list[list[str]] = []
    for is_number, some in groupby(lanes, lambda one: state.extents[one].constant is not None):
        run = list(some)
        found += [run] if is_number else [[one] for one in run]
    return found


def _extents(state: KernelState, axes: Axes) -> Extents:
    return tuple(extent for one in axes if one is not None for extent in extents_of(state, one))


def _lay_out(state: KernelState, axes: Axes, others: Extents) -> None:
    """Start over if the other side of a reshape shows that an axis has other factors."""
    left = list(others)
    for axis in axes:
        if axis is None:
            continue
        whole, mine, total = state.extents[axis], list[Whole](), number(1)
        while total != whole and left:
            mine.append(left.pop(0))
            total = total * mine[-1]
        factors = merged(tuple(mine))
        if total != whole:
            return
        is_new = whole not in state.laid_out and len(factors) > 1
        if is_new and factors != extents_of(state, axis):
            raise LaidOutAnewError(whole, factors)


def _groups(
    state: KernelState, old: Sequence[str], new: Sequence[str], line: int
) -> Iterator[tuple[Sized, Sized]]:
    """Yield groups of neighbouring old and new axes with equally many lanes.

    Each group is as small as possible.
    """

    def sized(axes: Sequence[str]) -> Sized:
        extents = ((axis, state.extents[axis].constant) for axis in axes)
        return [(axis, extent) for axis, extent in extents if extent is not None]

    first, second = sized(old), sized(new)
    while first or second:
        mine, other = first[:1], second[:1]
        del first[:1], second[:1]
        while (have := prod(n for _, n in mine)) != (want := prod(n for _, n in other)):
            short, rest = (mine, first) if have < want else (other, second)
            if not rest:
                raise Unread(line, "a reshape to another number of lanes")
            short.append(rest.pop(0))
        yield mine, other
