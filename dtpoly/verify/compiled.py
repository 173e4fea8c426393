"""What Triton's compiler refuses, and its interpreter does not: types that change, large tiles.

A name that a loop sets has one type in each iteration, and after a branch a name has one type,
whichever side was taken: unless it is known where a kernel is compiled which side that is. What
is refused so is a doubt: the kernel is read on, since it may be wrong besides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from dtpoly.verify import kinds
from dtpoly.verify.axes import shape_of
from dtpoly.verify.typed import UNKNOWN, of_tile
from dtpoly.verify.values import MOST_LANES, Function, Text, Tile, Unread, Value
from dtpoly.verify.whole import Atom, Either, Extreme, Whole

if TYPE_CHECKING:
    from dtpoly.verify.machine import Machine

# What a name is set to that is no tensor yet, and what it becomes where a kernel is compiled.
POWERS = ("next_power_of_2(", "lanes(")  # what numbers are called that are powers of two
BECOMES = {kinds.NUMBER: "tl.float32", kinds.TRUTH: kinds.BOOL, kinds.SIZE: "tl.int32"}


def doubt(machine: Machine, line: int, what: str) -> None:
    """Note that Triton does not compile something: nothing is proved of such a kernel."""
    machine.doubts.append((line, what))


def check_side(machine: Machine, count: int) -> None:
    """So many lanes along an axis."""
    if count > MOST_LANES or count < 1 or count & (count - 1):
        doubt(machine, machine.line, f"a tile of {count} lanes, which Triton does not compile")


def check_lanes(machine: Machine, extent: Whole) -> None:
    """So many lanes along an axis, where that is no number: a power of two, whatever it is."""
    if not _is_power(extent):
        doubt(machine, machine.line, "a tile of a number of lanes that may be no power of two")


def _is_power(of: Whole) -> bool:
    """True for a product of powers of two."""
    match of.terms:
        case ((monomial, times),):
            return times > 0 and times & (times - 1) == 0 and all(map(_is_power_too, monomial))
        case _:
            return False


def _is_power_too(factor: Atom) -> bool:
    match factor:
        case str():
            return factor.startswith(POWERS)
        case Extreme(left=left, right=right) | Either(yes=left, no=right):
            return _is_power(left) and _is_power(right)
        case _:
            return False


def check_named(target: ast.Name, value: Value) -> None:
    """Triton makes a tensor of what a name is set to. Raises Unread."""
    is_wide = isinstance(value, Tile) and of_tile(value) == UNKNOWN
    if is_wide or isinstance(value, Text | Function):
        raise Unread(target.lineno, f"'{target.id}' is set to what Triton makes no tensor of")


def check_carried(
    machine: Machine,
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    names: Iterable[str],
    line: int,
) -> None:
    """Names have one type before a loop and after an iteration."""
    for one in names:
        first, second = before[one], after[one]
        if first == machine.launch.arguments.get(one) and _may_be_one(first):
            what = f"'{one}', of which Triton makes a constant where it is 1, is set in a loop"
            doubt(machine, line, what)
        if not _are_alike(machine, first, second):
            doubt(machine, line, f"'{one}' has another type after an iteration than before")


def check_sides(
    machine: Machine, yes: Mapping[str, Value], no: Mapping[str, Value], line: int
) -> None:
    """Names have one type after both sides of a branch."""
    for one in yes.keys() & no.keys():
        if not _are_alike(machine, yes[one], no[one]):
            doubt(machine, line, f"'{one}' has another type in one side of a branch than else")


def _are_alike(machine: Machine, first: Value, second: Value) -> bool:
    """Whether two values have one type and one shape, as far as that is known."""
    if not isinstance(first, Tile) or not isinstance(second, Tile):
        return True  # what else it is, is not read after that
    types = {BECOMES.get(one.kind, one.kind) for one in (first, second)}
    is_known = kinds.LOST not in types
    shapes = {shape_of(machine, one.axes) for one in (first, second)}
    return len(shapes) == 1 and (len(types) == 1 or not is_known)


def _may_be_one(value: Value) -> bool:
    """True for a size that a kernel is given."""
    return isinstance(value, Tile) and value.kind == kinds.SIZE
