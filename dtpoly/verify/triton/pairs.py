"""Read a kernel whose programs split up between two other kernels, as in this example.

    if tl.program_id(0) < before: first(...) else: second(..., before, ...)

The verifier reads one launch of such a kernel as two launches, one after the other: the first has
`before` programs, and the second has the remaining ones, whose ids count from `before`. That is
right if neither kernel touches what the other one stores, which `check_apart` looks at.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from itertools import pairwise

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.triton.access import Ran
from dtpoly.verify.triton.unit.unit import Unit

PROGRAM = "tl.program_id(0)"
COUNTED = ast.dump(ast.parse(PROGRAM, mode="eval").body)


@dataclass(frozen=True, slots=True)
class PairedKernel:
    """One of the two kernels, and which parameter of the caller each of its parameters is given."""

    definition: ast.FunctionDef
    given: dict[str, str]


@dataclass(frozen=True, slots=True)
class KernelPair:
    """Both kernels, and the parameter that says how many programs run the first one."""

    before: str
    parts: tuple[PairedKernel, PairedKernel]


def pair_of(file: Unit, definition: ast.FunctionDef) -> KernelPair | None:
    """Return the two kernels that a kernel calls; None for a kernel that does something itself."""
    match definition.body:
        case [
            ast.If(
                test=ast.Compare(left=left, ops=[ast.Lt()], comparators=[ast.Name(id=before)]),
                body=[ast.Expr(value=ast.Call() as first)],
                orelse=[ast.Expr(value=ast.Call() as second)],
            )
        ] if ast.dump(left) == COUNTED:
            one, other = _part(file, definition, first), _part(file, definition, second)
        case _:
            return None
    if len(_passed_on(other, before)) != 1 or _annotation_of(definition, before):
        raise Unread(second.lineno, f"programs that do not count from '{before}'")
    if _passed_on(one, before):
        raise Unread(first.lineno, f"programs that count from '{before}'")
    return KernelPair(before, (one, other))


def _part(file: Unit, definition: ast.FunctionDef, call: ast.Call) -> PairedKernel:
    """Read one of the two calls: it passes parameters of the calling kernel unchanged, in order."""
    called = file.jitted.get(call.func.id) if isinstance(call.func, ast.Name) else None
    if called is None or called is definition or call.keywords:
        raise Unread(call.lineno, f"'{ast.unparse(call)}'")
    mine = {one.arg: one for one in definition.args.args}
    words = [arg.id for arg in call.args if isinstance(arg, ast.Name) and arg.id in mine]
    theirs = called.args.args
    if len(words) != len(call.args) or len(words) != len(theirs) or called.args.kwonlyargs:
        raise Unread(call.lineno, f"what '{called.name}' is given")
    for word, one in zip(words, theirs, strict=True):
        if _annotation(mine[word]) != _annotation(one):
            raise Unread(call.lineno, f"'{word}', which is not what '{one.arg}' is")
    return PairedKernel(called, dict(zip((one.arg for one in theirs), words, strict=True)))


def _annotation_of(definition: ast.FunctionDef, word: str) -> str:
    return "".join(_annotation(one) for one in definition.args.args if one.arg == word)


def _annotation(one: ast.arg) -> str:
    return "" if one.annotation is None else ast.unparse(one.annotation)


def _passed_on(part: PairedKernel, word: str) -> list[str]:
    """Return the parameters of a part that are given the caller's parameter `word`."""
    return [one for one, given in part.given.items() if given == word]


def check_apart(runs: Sequence[Ran], into: Mapping[str, str]) -> None:
    """Refuse two kernels of one launch if one touches what the other stores. Raises Unread.

    A result in place and its input, which `into` has for it, are one memory.
    """
    for one, other in pairwise(runs):
        if not other.launch.before:
            continue
        stored = [
            {into.get(a.tensor, a.tensor) for a in ran.accesses if a.kind != "load"}
            for ran in (one, other)
        ]
        touched = [{into.get(a.tensor, a.tensor) for a in ran.accesses} for ran in (one, other)]
        both = sorted((stored[0] & touched[1]) | (stored[1] & touched[0]))
        if both:
            what = f"'{both[0]}', which one kernel of a launch stores and the other one touches"
            raise Unread(other.launch.line, what)
