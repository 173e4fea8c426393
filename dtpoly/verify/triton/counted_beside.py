"""Read a number that follows the counter of a loop over programs in steps of its own.

    tile = tl.program_id(0) - P
    for i in range(tl.program_id(0), high, P):
        ...
        tile += P

The j-th iteration of program p has i = p + j * P. A number that is t before the loop, and grows by
P once in each iteration, is t + j * P before that statement and t + (j + 1) * P after it. So it is
the counter after the statement if t + P is p, and before it if t is p. This is said of whole
numbers and needs no other iteration. Elsewhere in the body the number is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import TileValue
from dtpoly.verify.algebra.whole import Whole
from dtpoly.verify.triton.carrying import assigned
from dtpoly.verify.triton.reader import Reader

KIND = "tl.int32"


@dataclass(frozen=True, slots=True)
class CountedBeside:
    """The body of a loop, in which such numbers are the counter; and those that begin as it."""

    body: list[ast.stmt]
    # Numbers that are the counter as long as they are not set.
    begun: tuple[str, ...]


def counted_beside(
    read: Reader, counter: str, low: Whole, step: Whole, body: list[ast.stmt]
) -> CountedBeside:
    """Return a body in which steps of numbers that follow the counter are replaced by it."""
    if counter in assigned(body) or any(isinstance(one, LEAVING) for one in _all(body)):
        return CountedBeside(body, ())
    found, begun = list(body), list[str]()
    for at, statement in enumerate(body):
        match statement:
            case ast.AugAssign(target=ast.Name(id=one), op=ast.Add(), value=by):
                pass
            case _:
                continue
        rest = [*body[:at], *body[at + 1 :]]
        start = read.state.names.get(one)
        if one in assigned(rest) or not _is_number(start) or not _is_step(read, by, step, body):
            continue
        assert isinstance(start, TileValue)
        assert isinstance(start.item, Whole)
        if start.item + step == low:
            new = ast.Assign([ast.Name(one, ast.Store())], ast.Name(counter, ast.Load()))
            found[at] = ast.fix_missing_locations(ast.copy_location(new, statement))
        elif start.item == low and not _looks_at(body[at + 1 :], one):
            found[at] = ast.copy_location(ast.Pass(), statement)
            begun.append(one)
    return CountedBeside(found, tuple(begun))


LEAVING = (ast.Return, ast.Break, ast.Continue, ast.While)


def _is_number(start: object) -> bool:
    """Return whether a value is a whole number of 32 bits, which hold the counter, too."""
    if not isinstance(start, TileValue) or start.axes:
        return False
    return isinstance(start.item, Whole) and start.kind == KIND


def _is_step(read: Reader, by: ast.expr, step: Whole, body: Sequence[ast.stmt]) -> bool:
    """Return whether a number grows by the number of programs, as the loop does."""
    match by:
        case ast.Name(id=one) if one in assigned(list(body)):
            return False
        case ast.Name() | ast.Constant() | ast.Call(func=ast.Attribute(attr="num_programs")):
            found = read.value(by)
            return isinstance(found, TileValue) and not found.axes and found.item == step
        case _:
            return False


def _looks_at(body: Sequence[ast.stmt], name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in _all(body))


def _all(body: Sequence[ast.stmt]) -> list[ast.AST]:
    return [node for statement in body for node in ast.walk(statement)]
