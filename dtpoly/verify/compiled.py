"""What Triton's compiler refuses or does otherwise, and its interpreter does not.

A name that a loop sets has one type in each iteration, and after a branch a name has one type,
whichever side was taken: unless it is known where a kernel is compiled which side that is. What
is refused so is a doubt: the kernel is read on, since it may be wrong besides.

Triton (3.6 to 3.9) moves a reduction of what was loaded behind the loop that it is in, and takes it
for granted that the loop combines what comes of it by the same operation. That is a doubt, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from dtpoly.verify import kinds
from dtpoly.verify.axes import shape_of
from dtpoly.verify.terms import Apply, Carried, Choose, Element, Literal, Stored, Term, Total
from dtpoly.verify.typed import UNKNOWN, of_tile
from dtpoly.verify.values import MOST_LANES, Function, Text, Tile, Unread, Value
from dtpoly.verify.whole import Atom, Either, Extreme, Whole

if TYPE_CHECKING:
    from dtpoly.verify.machine import Machine

# Operations that leave a value as it is beside some number, such as 1, or if they are done twice.
FOLDED = ("mul", "div", "sub", "maximum", "minimum", "neg", "round", "may")
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


def check_combined(
    machine: Machine, after: Mapping[str, Value], names: Iterable[str], loop: str, line: int
) -> None:
    """What a loop puts to a name is no reduction of what was loaded, by another operation."""
    for one in names:
        value = after[one]
        if not isinstance(value, Tile) or not isinstance(value.item, Apply):
            continue
        outer, operands = value.item.operation, value.item.operands
        if not any(isinstance(part, Carried) and part.loop == loop for part in operands):
            continue
        for part in operands:
            inner = _reduced_by(machine, part)
            if inner not in ("", outer):
                what = f"'{inner}' of what was loaded, put to '{one}' by '{outer}' in a loop"
                why = "Triton takes both for one operation: add 0.0 to what was loaded"
                doubt(machine, line, f"{what}: {why}")


def note_reduced(machine: Machine, operation: str, body: Term, lanes: Iterable[str]) -> None:
    """Keep in mind what lanes were reduced by, if Triton may see that they hold what was loaded."""
    if _is_loaded(body):
        machine.reduced |= dict.fromkeys(lanes, operation)


def _reduced_by(machine: Machine, term: Term) -> str:
    """The operation by which lanes were reduced that hold what was loaded; nothing of others."""
    match term:
        case Apply(operation=operation, operands=(inner,)) if operation.startswith("round "):
            return _reduced_by(machine, inner)
        case Total(bound=bound):
            return next((machine.reduced[one] for one in bound if one in machine.reduced), "")
        case _:
            return ""


def _is_loaded(term: Term) -> bool:
    """True for what was loaded, also in some lanes alone; and for what a compiler makes that of.

    A sum with 0 is none: it makes 0 of -0, so that it has to be computed.
    """
    match term:
        case Element() | Stored():
            return True
        case Choose(yes=yes, no=no) | Apply(operation="where", operands=(_, yes, no)):
            rest = [one for one in (yes, no) if not isinstance(one, Literal)]
            return bool(rest) and all(map(_is_loaded, rest))
        case Apply(operation=operation, operands=operands):
            rest = [one for one in operands if not isinstance(one, Literal)]
            is_kept = operation.partition(" ")[0] in FOLDED
            return is_kept and len(rest) == 1 and _is_loaded(rest[0])
        case _:
            return False


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
