"""Mistakes in loops, conditions and accumulators: where they start, end, and what they keep."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from tests.verify.mutation.edits import (
    Edit,
    Splice,
    Text,
    blocks,
    called,
    calls,
    keyword,
    nodes,
    rebuilt,
    short,
)

RANGES = ("tl.range", "range")
INVERTED: dict[type[ast.cmpop], str] = {
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.Eq: "!=",
    ast.NotEq: "==",
}
WIDER: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}


def starts_late(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A loop leaves out its first iteration."""
    for call in calls(function, *RANGES):
        if len(call.args) >= 2:
            step = text.of(call.args[2]) if len(call.args) > 2 else "1"
            yield text.put(call.args[0], f"{text.around(call.args[0])} + {step}")


def ends_early(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A loop ends one too soon."""
    for call in calls(function, *RANGES):
        stop = call.args[1 if len(call.args) > 1 else 0]
        yield text.put(stop, f"{text.around(stop)} - 1")


def goes_on(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A loop ends one too late."""
    for call in calls(function, *RANGES):
        stop = call.args[1 if len(call.args) > 1 else 0]
        yield text.put(stop, f"{text.around(stop)} + 1")


def goes_on_by_a_tile(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A loop over full tiles takes the ragged one as well."""
    for call in calls(function, *RANGES):
        match call.args:
            case [_, ast.BinOp(op=ast.Sub(), left=left) as stop, _]:
                yield text.put(stop, text.of(left))
            case _:
                pass


def wrong_step(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A loop goes in steps of twice the length."""
    for call in calls(function, *RANGES):
        match call.args:
            case [_, _, step]:
                yield text.put(step, f"{text.around(step)} * 2")
            case [_, stop]:
                yield text.put(stop, f"{text.of(stop)}, 2")
            case _:
                pass


def bound_one_more(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """`<=` for `<`."""
    yield from _compared(text, function, WIDER)


def comparison_inverted(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """The opposite of a comparison."""
    yield from _compared(text, function, INVERTED)


def _compared(
    text: Text, function: ast.FunctionDef, other: dict[type[ast.cmpop], str]
) -> Iterator[Edit]:
    for node in nodes(function):
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in other:
                new = f"({text.around(left)} {other[type(op)]} {text.around(right)})"
                yield text.put(node, new)
            case _:
                pass


def bound_one_less(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A mask ends one too soon."""
    for node in nodes(function):
        match node:
            case ast.Compare(ops=[ast.Lt()], comparators=[right]):
                yield text.put(right, f"({text.of(right)} - 1)")
            case _:
                pass


def condition_negated(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A branch is taken where it should not be, and only there."""
    for node in nodes(function):
        if isinstance(node, ast.If):
            yield text.put(node.test, f"not {text.around(node.test)}")


def condition_dropped(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A branch is taken always."""
    for node in nodes(function):
        if isinstance(node, ast.If):
            yield text.put(node.test, "True")


def branch_dropped(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A branch is never taken: the last tile is left out."""
    for node in nodes(function):
        if isinstance(node, ast.If):
            yield text.put(node.test, "False")


def barrier_missing(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Lanes do not wait."""
    for node in nodes(function):
        if isinstance(node, ast.Expr) and text.of(node) == "tl.debug_barrier()":
            yield text.drop(node)


def start_wrong(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """An accumulator starts with another number."""
    for node in nodes(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=one)], value=ast.Call(args=[_, start, _])) if (
                "_acc" in one and called(node.value, "tl.full")
            ):
                yield text.put(start, "1.0" if ast.unparse(start) == "0.0" else "0.0")
            case _:
                pass


def not_accumulated(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A sum is replaced by its last operand."""
    for node in nodes(function):
        match node:
            case ast.AugAssign(target=target, value=value):
                yield text.put(node, f"{text.of(target)} = {text.of(value)}")
            case ast.Call(func=ast.Attribute(attr="dot"), args=[_, _, _]):
                yield text.put(node, rebuilt(text, node, (), 2))
            case _:
                pass


def accumulated_twice(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """The same is added again."""
    for node in nodes(function):
        is_sum = isinstance(node, ast.AugAssign)
        match node:
            case ast.Assign(value=ast.Call(func=ast.Attribute(attr="dot"), args=[_, _, _])):
                is_sum = True
            case _:
                pass
        if is_sum:
            assert isinstance(node, ast.stmt)
            yield text.put(node, f"{text.of(node)}\n{' ' * node.col_offset}{text.of(node)}")


def stale_accumulator(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """An accumulator keeps what the iteration before left."""
    for loop in nodes(function):
        if not isinstance(loop, ast.For):
            continue
        for node in loop.body:
            match node:
                case ast.Assign(value=ast.Call(func=ast.Attribute(attr="full"))):
                    start = text.start(loop)
                    before = Splice(start, start, f"{text.of(node)}\n{' ' * loop.col_offset}")
                    what = f"'{short(text.of(node))}' stands before the loop"
                    yield Edit(node.lineno, what, (before, text.splice(node, "pass")))
                case _:
                    pass


def statement_dropped(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A statement is left out; one that only names something takes others with it."""
    for node in nodes(function):
        match node:
            case ast.AugAssign() | ast.Assign():
                yield text.drop(node)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))) if name != "debug_barrier":
                yield text.drop(node)
            case _:
                pass


def statements_swapped(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A statement stands after the next."""
    for block in blocks(function):
        for one, other in pairwise(block):
            if not isinstance(one, ast.Assign) or not isinstance(other, ast.Assign):
                yield text.swap(one, other)


def pipelined(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A loop that must not run ahead may."""
    for call in calls(function, "tl.range"):
        if keyword(call, "num_stages") is not None:
            yield text.put(call, rebuilt(text, call, ("num_stages",)))
