"""Prints a step of a scan as lines of a Triton kernel."""

from dtpoly.ir.lane_scans import ScanLanes
from dtpoly.ir.tile_values import Merged, Value, Variable

from .elements import identity
from .operation_spelling import is_float_element, scan_function
from .value_text import number_text, value_text


def scan_lines(one: ScanLanes) -> list[str]:
    """Print the scan of the lanes, what was carried before them, and what is carried on."""
    if one.factor is not None:
        return _recurrence_lines(one, one.factor)
    kept = tuple(axis for axis in one.axes if axis != one.along)
    before = Variable(one.carry, kept, one.dtype)
    text = value_text(one.value, one.axes, one.dtype)[0]
    lines = [f"{one.name} = {text}"]
    if one.along is not None:
        at = one.axes.index(one.along)
        back = ", reverse=True" if one.is_reverse else ""
        joined = scan_function(one.reduction)
        lines = [f"{one.name} = tl.associative_scan({text}, {at}, {joined}{back})"]
    found = Variable(one.name, one.axes, one.dtype)
    merged = value_text(Merged(one.reduction, before, found, one.axes, one.dtype), one.axes)[0]
    lines.append(f"{one.name} = {merged}")
    lines.append(_sum_so_far(one) or f"{one.carry} = {_last(one)}")
    return lines


def _sum_so_far(one: ScanLanes) -> str | None:
    """Print that the sum of a tile is added to what is carried; None if its last lane is taken.

    A sum of the tile itself waits neither for the scan nor for the tile before, so that the next
    tile has it earlier.
    """
    if one.reduction != "rsum" or one.along is None or not isinstance(one.value, Variable):
        return None
    is_alike = one.value.axes == one.axes and one.value.dtype == one.dtype
    if not is_alike or not is_float_element(one.dtype):
        return None
    return f"{one.carry} += tl.sum({one.value.name}, {one.axes.index(one.along)})"


def _recurrence_lines(one: ScanLanes, factor: Value) -> list[str]:
    """Print the steps of a recurrence: the factors and sums up to each lane, then the results."""
    kept = tuple(axis for axis in one.axes if axis != one.along)
    scale, added = (value_text(value, one.axes, one.dtype) for value in (factor, one.value))
    lines = [f"{one.factors} = {scale[0]}", f"{one.name} = {added[0]}"]
    if one.along is not None:
        at = one.axes.index(one.along)
        back = ", reverse=True" if one.is_reverse else ""
        pair = f"({scale[0]}, {added[0]})"
        both = f"{one.factors}, {one.name}"
        joined = scan_function(one.reduction)
        lines = [f"{both} = tl.associative_scan({pair}, {at}, {joined}{back})"]
    before = value_text(Variable(one.carry, kept, one.dtype), one.axes)[0]
    lines.append(f"{one.name} = {one.factors} * {before} + {one.name}")
    lines.append(f"{one.carry} = {_last(one)}")
    return lines


def _last(one: ScanLanes) -> str:
    """Print what the scan has in its last lane: Triton has no other way to pick a lane."""
    if one.along is None:
        return one.name
    at = one.axes.index(one.along)
    lane = f"tl.arange(0, {one.count})"
    if len(one.axes) > 1:
        lane += f"[{', '.join(':' if axis == one.along else 'None' for axis in one.axes)}]"
    last = "0" if one.is_reverse else f"{one.count} - 1" if isinstance(one.count, str) else ""
    last = last or f"{int(one.count) - 1}"
    operation = one.reduction if one.reduction in ("rmax", "rmin") else "rsum"
    nothing = number_text(identity(operation, one.dtype), one.dtype)
    picked = f"tl.where({lane} == {last}, {one.name}, {nothing})"
    if operation != "rsum":
        return f"tl.reduce({picked}, {at}, {scan_function(operation)})"
    return f"tl.sum({picked}, {at})"
