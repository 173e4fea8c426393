"""Faults planted in the verifier's reading of kernels, to see that the campaign finds them.

    TRITON_INTERPRET=1 python -m tests.attack.planted [SEEDS]

Most are slips in what a piece of a kernel means: the reader is given another piece in its place.
The launch is of the kernel as it is.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from dtpoly.verify.algebra.terms import Literal
from dtpoly.verify.triton import accessing, calls, carrying
from dtpoly.verify.triton.reader import Reader
from tests.attack.kernels import attempt
from tests.attack.outcome import Verdict

Change = Callable[[Any], Any]
# Among so many seeds each fault must be found.
SEEDS = 60


@dataclass(frozen=True)
class Fault:
    """A slip: what is read wrong, how to plant it, and a seed that shows it."""

    name: str
    plant: Callable[[], AbstractContextManager[object]]
    # A seed at which it was found; after a change of the generator another one may be the first.
    seed: int = 0


def _instead(method: str, change: Change) -> Callable[[], AbstractContextManager[object]]:
    """The reader is given another node than the one that is there."""
    real: Any = getattr(Reader, method)

    def read(self: Reader, node: Any) -> Any:
        changed = change(copy.deepcopy(node))
        return real(self, node if changed is None else changed)

    return lambda: mock.patch.object(Reader, method, read)


def _word(node: Any) -> str:
    """Return the function of `tl.word(...)` or `x.word(...)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr
    return ""


def _of_tl(node: Any, *words: str) -> bool:
    return _word(node) in words and ast.unparse(node.func).startswith("tl.")


def without_option(word: str, option: str) -> Change:
    """A call without one of its options."""

    def change(node: Any) -> Any:
        if _of_tl(node, word) and any(one.arg == option for one in node.keywords):
            node.keywords = [one for one in node.keywords if one.arg != option]
            return node
        return None

    return change


def with_option(word: str, option: str, value: str) -> Change:
    """A call that has another value for one of its options."""

    def change(node: Any) -> Any:
        if _of_tl(node, word):
            for one in node.keywords:
                if one.arg == option:
                    one.value = _located(value, node)
                    return node
        return None

    return change


def _located(text: str, near: ast.AST) -> ast.expr:
    """An expression as if it stood there."""
    made = ast.parse(text, mode="eval").body
    for one in ast.walk(made):
        ast.copy_location(one, near)
    return made


def named(word: str, other: str) -> Change:
    """A function taken for another one."""

    def change(node: Any) -> Any:
        if _of_tl(node, word):
            node.func.attr = other
            return node
        return None

    return change


def argument(word: str, at: int) -> Change:
    """A call taken for one of its arguments."""

    def change(node: Any) -> Any:
        return node.args[at] if _of_tl(node, word) and len(node.args) > at else None

    return change


def swapped(word: str, first: int, second: int) -> Change:
    """A call with two of its arguments in each other's place."""

    def change(node: Any) -> Any:
        if _of_tl(node, word) and len(node.args) > max(first, second):
            args = node.args
            args[first], args[second] = args[second], args[first]
            return node
        return None

    return change


def operator(old: type[ast.AST], new: Callable[[], Any]) -> Change:
    """An operator taken for another one."""

    def change(node: Any) -> Any:
        if isinstance(node, ast.BinOp) and isinstance(node.op, old):
            node.op = new()
            return node
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], old):
            node.ops = [new()]
            return node
        return None

    return change


def sign(old: type[ast.AST]) -> Change:
    """A sign that is not seen."""

    def change(node: Any) -> Any:
        is_it = isinstance(node, ast.UnaryOp) and isinstance(node.op, old)
        return node.operand if is_it else None

    return change


def other_axis(node: Any) -> Any:
    """A reduction of the other axis of two."""
    if not _of_tl(node, "sum", "max", "min"):
        return None
    for one in node.keywords:
        if one.arg == "axis" and isinstance(one.value, ast.Constant) and one.value.value == 1:
            one.value.value = 0
            return node
    return None


def cast_to_wide(node: Any) -> Any:
    """A narrow type taken for f32."""
    if isinstance(node, ast.Attribute) and ast.unparse(node) == "tl.float16":
        node.attr = "float32"
        return node
    return None


def turned_index(node: Any) -> Any:
    """`x[:, None]` taken for `x[None, :]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        node.slice.elts.reverse()
        return node
    return None


def rounded_down(node: Any) -> Any:
    """`tl.cdiv` rounded down."""
    if _of_tl(node, "cdiv"):
        return ast.copy_location(ast.BinOp(node.args[0], ast.FloorDiv(), node.args[1]), node)
    return None


def other_program(node: Any) -> Any:
    """The first axis of programs taken for the second."""
    if _of_tl(node, "program_id"):
        number = node.args[0] if node.args else node.keywords[0].value
        number.value = {0: 1, 1: 0}.get(number.value, number.value)
        return node
    return None


def in_loop(change: Callable[[ast.For], None]) -> Change:
    """A loop that is another one."""

    def changed(node: Any) -> Any:
        if isinstance(node, ast.For):
            change(node)
            return node
        return None

    return changed


def _ends_early(node: ast.For) -> None:
    assert isinstance(node.iter, ast.Call)
    args = node.iter.args
    at = 0 if len(args) == 1 else 1
    args[at] = _located(f"{ast.unparse(args[at])} - 1", node)


def _begins_late(node: ast.For) -> None:
    assert isinstance(node.iter, ast.Call)
    args = node.iter.args
    if len(args) == 1:
        args.insert(0, _located("1", node))
    else:
        args[0] = args[2]


def _steps_far(node: ast.For) -> None:
    assert isinstance(node.iter, ast.Call)
    if len(node.iter.args) == 3:
        node.iter.args[2] = _located(f"{ast.unparse(node.iter.args[2])} * 2", node)


def added(node: Any) -> Any:
    """`-=` and `*=` taken for `+=`."""
    if isinstance(node, ast.AugAssign) and not isinstance(node.op, ast.Add):
        node.op = ast.Add()
        return node
    return None


def always_taken(node: Any) -> Any:
    """A branch that is always taken."""
    if isinstance(node, ast.If):
        node.test = _located("True", node)
        return node
    return None


def never_else(node: Any) -> Any:
    """The other side of a branch is not seen."""
    if isinstance(node, ast.If) and node.orelse:
        node.orelse = [ast.copy_location(ast.Pass(), node)]
        node.test = _located("True", node)
        return node
    return None


def not_stored(node: Any) -> Any:
    """The store in a branch is not seen."""
    if isinstance(node, ast.If) and "tl.store" in ast.unparse(node):
        return ast.copy_location(ast.Pass(), node)
    return None


def _reversed_indices() -> AbstractContextManager[object]:
    real: Any = accessing.__dict__["indices_of"]

    def reversed_indices(*given: Any) -> Any:
        return real(*given)[::-1]

    return mock.patch.object(accessing, "indices_of", reversed_indices)


def _reversed_arguments() -> AbstractContextManager[object]:
    real: Any = calls.__dict__["called"]

    def called(read: Any, of: str, values: list[Any], *more: Any) -> Any:
        return real(read, of, values[::-1], *more)

    return mock.patch.object(calls, "called", called)


def _forgotten_start() -> AbstractContextManager[object]:
    real: Any = carrying.__dict__["_start"]

    def start(*given: Any, **named: Any) -> Any:
        found = real(*given, **named)
        return Literal("0") if isinstance(found, Literal) else found

    return mock.patch.object(carrying, "_start", start)


def _mask_of_nothing() -> AbstractContextManager[object]:
    real: Any = accessing.__dict__["store"]

    def store(state: Any, kind: str, pointer: Any, value: Any, mask: Any, line: int) -> Any:
        return real(state, kind, pointer, value, None, line)

    return mock.patch.object(accessing, "store", store)


def _atomic_as_store() -> AbstractContextManager[object]:
    real: Any = accessing.__dict__["store"]

    def store(state: Any, kind: str, *given: Any) -> Any:
        return real(state, "store", *given)

    return mock.patch.object(accessing, "store", store)


FAULTS = (
    Fault("the mask of a load is ignored", _instead("value", without_option("load", "mask"))),
    Fault("the mask of a store is ignored", _mask_of_nothing),
    Fault("other is 0", _instead("value", with_option("load", "other", "0")), 2),
    Fault("an atomic operation is a store", _atomic_as_store, 63),
    Fault("< is <=", _instead("value", operator(ast.Lt, ast.LtE))),
    Fault("> is >=", _instead("value", operator(ast.Gt, ast.GtE))),
    Fault("== is !=", _instead("value", operator(ast.Eq, ast.NotEq)), 4),
    Fault("* is +", _instead("value", operator(ast.Mult, ast.Add)), 2),
    Fault("- is +", _instead("value", operator(ast.Sub, ast.Add)), 7),
    Fault("/ is *", _instead("value", operator(ast.Div, ast.Mult)), 11),
    Fault("% is //", _instead("value", operator(ast.Mod, ast.FloorDiv)), 14),
    Fault("& is |", _instead("value", operator(ast.BitAnd, ast.BitOr))),
    Fault("| is &", _instead("value", operator(ast.BitOr, ast.BitAnd)), 3),
    Fault("a minus is not seen", _instead("value", sign(ast.USub)), 1),
    Fault("~ is not seen", _instead("value", sign(ast.Invert)), 32),
    Fault("where has its sides swapped", _instead("value", swapped("where", 1, 2))),
    Fault("maximum is minimum", _instead("value", named("maximum", "minimum")), 1),
    Fault("tl.sum is tl.max", _instead("value", named("sum", "max")), 2),
    Fault("tl.max is tl.min", _instead("value", named("max", "min")), 26),
    Fault("the other axis is reduced", _instead("value", other_axis), 26),
    Fault("f16 is f32", _instead("value", cast_to_wide), 13),
    Fault("trans is not seen", _instead("value", argument("trans", 0)), 28),
    Fault("axes are turned", _instead("value", turned_index)),
    Fault("fma has its parts swapped", _instead("value", swapped("fma", 1, 2)), 11),
    Fault("dot has its sides swapped", _instead("value", swapped("dot", 0, 1)), 28),
    Fault("cdiv rounds down", _instead("value", rounded_down), 34),
    Fault("axes of programs change places", _instead("value", other_program), 1),
    Fault("exp is exp2", _instead("value", named("exp", "exp2")), 90),
    Fault("floor is ceil", _instead("value", named("floor", "ceil")), 3),
    Fault("a loop ends early", _instead("statement", in_loop(_ends_early)), 3),
    Fault("a loop begins late", _instead("statement", in_loop(_begins_late)), 11),
    Fault("a loop steps too far", _instead("statement", in_loop(_steps_far)), 11),
    Fault("-= is +=", _instead("statement", added), 1),
    Fault("a branch is always taken", _instead("statement", always_taken)),
    Fault("the other side of a branch is not seen", _instead("statement", never_else), 8),
    Fault("a store in a branch is not seen", _instead("statement", not_stored)),
    Fault("indices are in the wrong order", _reversed_indices),
    Fault("arguments of functions are reversed", _reversed_arguments, 28),
    Fault("what an accumulator begins with is forgotten", _forgotten_start, 3),
)


def found_at(fault: Fault, seeds: int = SEEDS) -> int | None:
    """Return the first seed, from that of the fault on, at which the campaign finds it."""
    with fault.plant():
        for seed in range(fault.seed, fault.seed + seeds):
            if attempt(seed).verdict is Verdict.WRONG:
                return seed
    return None


def main() -> None:
    """Say of each fault at which seed it is found."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    for one in FAULTS:
        found = found_at(Fault(one.name, one.plant), seeds)
        print(f"{one.name}: {'not found' if found is None else f'seed {found}'}", flush=True)


if __name__ == "__main__":
    main()
