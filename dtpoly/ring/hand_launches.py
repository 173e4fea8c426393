"""Calls the kernels of a hand-written file as its own lines say, in Triton's interpreter.

    # verify: kernel[(grid, ...)](argument, ..., BLOCK=1024)
    # assume: promise, ...

Such a file has no function to call. Its lines are Python over the tensors and the sizes of a call,
so they are computed as Python once these are known. A call that breaks a promise is not made.
This reads the lines without any of the verifier's code, and it imports torch and triton.
"""

import ast
import builtins
import io
import re
import tokenize
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

import torch

from dtpoly.algorithm.label_sizes import Sizes
from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass

# Triton has no types.
tl: Any = import_module("triton.language")
LINE = re.compile(r"#\s*(verify|assume)\s*:(.*)")
SOME_PROGRAMS = 3  # of an axis of which a launch may have any number


class NoLaunch(Exception):
    """Raised where the lines of a file cannot be carried out at some sizes."""


@dataclass(frozen=True, slots=True)
class HandLine:
    """A line of a hand-written file: the word, and the expression behind it."""

    word: str
    what: ast.expr


@dataclass(frozen=True, slots=True)
class CalledLabel:
    """A label, of which a line takes the length."""

    size: int

    def __len__(self) -> int:
        """Return the size of the label."""
        return self.size


def hand_lines(text: str) -> tuple[HandLine, ...]:
    """Return the lines of a file that say how its kernels are launched. Raises NoLaunch."""
    try:
        tokens = [*tokenize.generate_tokens(io.StringIO(text).readline)]
    except (tokenize.TokenError, SyntaxError) as error:
        raise NoLaunch(str(error)) from error
    comments = {one.start[0]: one.string for one in tokens if one.type == tokenize.COMMENT}
    found: list[HandLine] = []
    for line, comment in comments.items():
        match = LINE.fullmatch(comment)
        if match is None:
            continue
        written, below = match[2].strip(), line + 1
        while _is_open(written) and below in comments:
            written += "\n" + comments[below].lstrip("# ")
            below += 1
        try:
            found.append(HandLine(match[1], ast.parse(written, mode="eval").body))
        except SyntaxError as error:
            raise NoLaunch(str(error)) from error
    return tuple(found)


def _is_open(text: str) -> bool:
    return sum(map(text.count, "([")) > sum(map(text.count, ")]"))


def is_launched_by_hand(text: str) -> bool:
    """Return whether a file says itself how its kernels are launched."""
    return any(LINE.fullmatch(line.strip()) is not None for line in text.splitlines())


def called_by_hand(
    module: ModuleType,
    text: str,
    program: Program,
    func: str,
    sizes: Sizes,
    given: Mapping[str, Any],
) -> torch.Tensor:
    """Launch the kernels of a file once, and return the Func that is asked for. Raises NoLaunch."""
    lines = hand_lines(text)
    known = dict[str, Any](given)
    tensors = [one for one in given.values() if isinstance(one, torch.Tensor)]
    floats = [one.dtype for one in tensors if one.is_floating_point()]
    mentioned = {
        node.id for one in lines for node in ast.walk(one.what) if isinstance(node, ast.Name)
    }
    for one in program.funcs:
        if one.name in mentioned:
            into = program.into.get(one.name)
            shape = [sizes[label] for label in one.labels]
            # What nobody stores shows, and what is added to starts at 0.
            known[one.name] = (
                known[into] if into else torch.zeros(shape, dtype=floats[0] if floats else None)
            )
    known |= {one.name: CalledLabel(sizes[one.name]) for one in program.labels if one.name in sizes}
    known |= _words(program, known)
    for line in lines:
        if line.word == "assume":
            _promise(line.what, known)
    for line in lines:
        if line.word == "verify":
            _launch(module, line.what, known)
    result = known.get(func)
    if not isinstance(result, torch.Tensor):
        raise NoLaunch(f"no line computes '{func}'")
    return result


def _words(program: Program, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the words that lines may use beside names of tensors and labels."""

    def length(of: Any) -> int:
        return len(of)

    def reach(tensor: torch.Tensor) -> int:
        pairs = zip(tensor.shape, tensor.stride(), strict=True)
        return 1 + sum((extent - 1) * stride for extent, stride in pairs)

    def cdiv(a: int, b: int) -> int:
        return -(-a // b)

    def next_power_of_2(a: int) -> int:
        return 1 << (a - 1 if a > 1 else 0).bit_length()

    taken = {*known, *(one.name for one in program.labels)}
    words: dict[str, Any] = {
        "len": length,
        "reach": reach,
        "cdiv": cdiv,
        "next_power_of_2": next_power_of_2,
        "min": builtins.min,
        "max": builtins.max,
        "any": SOME_PROGRAMS,
        "finite": True,
        "tl": tl,
    }
    return {word: what for word, what in words.items() if word not in taken}


def _value(node: ast.expr, known: Mapping[str, Any]) -> Any:
    try:
        code = compile(ast.Expression(node), "<line>", "eval")
        return eval(code, {"__builtins__": {}, **known})  # a line of the user's own
    except (
        NameError,
        TypeError,
        ValueError,
        ArithmeticError,
        AttributeError,
        LookupError,
    ) as error:
        raise NoLaunch(f"{ast.unparse(node)}: {error}") from error


def _promise(what: ast.expr, known: Mapping[str, Any]) -> None:
    for one in what.elts if isinstance(what, ast.Tuple) else (what,):
        if not _value(one, known):
            raise NoLaunch(f"this call does not keep '{ast.unparse(one)}'")


def _launch(module: ModuleType, what: ast.expr, known: Mapping[str, Any]) -> None:
    """Launch one kernel."""
    if not isinstance(what, ast.Call) or not isinstance(what.func, ast.Subscript):
        raise NoLaunch("a launch is written as kernel[(grid,)](arguments)")
    kernel = getattr(module, ast.unparse(what.func.value), None)
    if kernel is None:
        raise NoLaunch(f"there is no kernel '{ast.unparse(what.func.value)}'")
    written = what.func.slice
    parts = written.elts if isinstance(written, ast.Tuple) else [written]
    grid = tuple([_value(one, known) for one in parts])
    if min(grid) < 1:
        return
    arguments = [_value(one, known) for one in what.args]
    named = {str(one.arg): _value(one.value, known) for one in what.keywords}
    kernel[grid](*arguments, **named)
