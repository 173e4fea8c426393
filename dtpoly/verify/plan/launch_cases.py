"""Take the launches of a file by hand apart where a tile has so many lanes as a row, up to a limit.

Wrappers often pass `BLOCK=min(next_power_of_2(len(n)), 4096)`, and kernels take a row in rounds of
so many lanes. No step of such a loop is known for all sizes, but in each of two cases it is: with
`len(n) <= 4096` it is `next_power_of_2(len(n))`, and with more it is 4096. Each call is in one of
the cases, so what is proved in each of them is proved. A case that no call is in, as promises leave
it none, needs no proof; that it is one is asked of isl. Where blocks are counted, `cdiv(len(n),
BLOCK)`, a row that is not empty has one block in the first case, and an empty row is a case of its
own, in which the power of two is 1, as everywhere here.

The limit must be a power of two. Then the least power of two that is not below a size is at most
the limit if and only if the size is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.proof_run import Lemma, ProofRun
from dtpoly.verify.triton.said import Said
from dtpoly.verify.triton.unit.unit import Unit

CASE = "case"
# Each limit has two cases, and each case is a proof.
MOST_LIMITS = 2


class NoCallError(Unread):
    """Raised if no call keeps what a file assumes; for a case of several, that is no fault."""


@dataclass(frozen=True, slots=True)
class _Limit:
    """A number of lanes, `min(next_power_of_2(size), most)`, as texts that can be compared."""

    size: str
    most: int


def cases_of(file: Unit) -> tuple[Unit, ...]:
    """Return a file for each case of its launches: the file itself if nothing is to take apart."""
    limits = dict.fromkeys(
        limit
        for one in file.said
        if one.word == "verify"
        for node in ast.walk(one.what)
        if (limit := _limit(node)) is not None
    )
    if not 0 < len(limits) <= MOST_LIMITS:
        return (file,)
    found = [file.said]
    for limit in limits:
        found = [case for said in found for case in _cases(said, limit)]
    return tuple(replace(file, said=said) for said in found)


def is_case(file: Unit) -> bool:
    """Return whether a file is one of several cases."""
    return any(one.word == CASE for one in file.said)


def note_case(run: ProofRun, one: Said) -> None:
    """Note that a proof is one of a case, of which this line says what is so in it."""
    run.assume(Lemma.CASES, one.text)


def _cases(said: tuple[Said, ...], limit: _Limit) -> Iterator[tuple[Said, ...]]:
    """Yield the lines of each case; one of no elements is apart where blocks are counted."""
    below = f"{limit.size} <= {limit.most}"
    power = f"next_power_of_2({limit.size})"
    nodes = [node for one in said for node in ast.walk(one.what)]
    if any(_is_count(node, limit) for node in nodes):
        yield _in_case(said, limit, f"{limit.size} <= 0", "1", "")
        yield _in_case(said, limit, f"({limit.size} >= 1, {below})", power, "1")
    else:
        yield _in_case(said, limit, below, power, "")
    above = f"{limit.size} >= {limit.most + 1}"
    yield _in_case(said, limit, above, str(limit.most), "")


def _in_case(
    said: tuple[Said, ...], limit: _Limit, text: str, lanes: str, blocks: str
) -> tuple[Said, ...]:
    """Return the lines of a case, with what the number of lanes is in it, and that of blocks."""
    line = said[0].line
    what = ast.parse(text, mode="eval").body
    for node in ast.walk(what):
        if isinstance(node, ast.expr):
            node.lineno = line
    changed = _InCase(limit, lanes, blocks)
    lines = (replace(one, what=changed.visit(deepcopy(one.what))) for one in said)
    return (*lines, Said(CASE, what, text, line))


def _is_count(node: ast.AST, limit: _Limit) -> bool:
    """Return whether a number is how many blocks of so many lanes a row has.

    Blocks of the limit, or of more, are as many: one of a row that is not empty, up to the limit.
    """
    match node:
        case ast.Call(func=ast.Name(id="cdiv"), args=[size, by], keywords=[]):
            lanes = by.value if isinstance(by, ast.Constant) else 0
            is_one = isinstance(lanes, int) and lanes >= limit.most
            return (is_one or _limit(by) == limit) and ast.unparse(size) == limit.size
        case _:
            return False


def _limit(node: ast.AST) -> _Limit | None:
    """Return what `min(next_power_of_2(size), most)` is about; None for all else."""
    match node:
        case ast.Call(func=ast.Name(id="min"), args=[left, right], keywords=[]):
            for power, most in ((left, right), (right, left)):
                match power, most:
                    case (
                        ast.Call(func=ast.Name(id="next_power_of_2"), args=[size], keywords=[]),
                        ast.Constant(value=int() as limit),
                    ) if limit > 0 and not limit & (limit - 1) and _is_of_sizes(size):
                        return _Limit(ast.unparse(size), int(limit))
                    case _:
                        pass
        case _:
            pass
    return None


def _is_of_sizes(size: ast.expr) -> bool:
    """Return whether a number is made of sizes of labels alone, and not of strides."""
    called = [node.func for node in ast.walk(size) if isinstance(node, ast.Call)]
    is_plain = all(isinstance(one, ast.Name) and one.id in ("len", "cdiv") for one in called)
    return is_plain and bool(called)


class _InCase(ast.NodeTransformer):
    """Puts what a number of lanes is in a case, and how many blocks of so many lanes there are."""

    def __init__(self, limit: _Limit, lanes: str, blocks: str) -> None:
        self.limit, self.lanes, self.blocks = limit, lanes, blocks

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Return a call as it is in the case."""
        if self.blocks and _is_count(node, self.limit):
            return _at(node, self.blocks)
        return _at(node, self.lanes) if _limit(node) == self.limit else self.generic_visit(node)


def _at(node: ast.expr, text: str) -> ast.expr:
    """Return an expression that stands in the place of another one."""
    found = ast.parse(text, mode="eval").body
    for one in ast.walk(found):
        if isinstance(one, ast.expr):
            ast.copy_location(one, node)
    return found
