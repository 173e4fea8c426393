"""A case that shows something made smaller, while it still shows it.

    TRITON_INTERPRET=1 python -m tests.attack.shrinking SEED

Statements are left out, and an expression becomes one of its own parts, again and again.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import cast

from tests.attack.case import Case
from tests.attack.generating import case_of_seed
from tests.attack.kernels import judged
from tests.attack.outcome import Verdict

Shows = Callable[[Case], bool]
TRIES = 400


def shrunk(case: Case, shows: Shows, tries: int = TRIES) -> Case:
    """Return the smallest case that was found; each step leaves something out."""
    case = next((one for one in _single_calls(case) if shows(one)), case)
    while tries > 0:
        for text in _smaller(case.text):
            tries -= 1
            one = replace(case, text=text)
            if tries <= 0 or shows(one):
                break
        else:
            return case
        if tries > 0:
            case = one
    return case


def _single_calls(case: Case) -> Iterator[Case]:
    return (replace(case, calls=(call,)) for call in case.calls)


def _smaller(text: str) -> Iterator[str]:
    """Texts in which one thing is left out; statements come before expressions."""
    head, mark, body = text.partition("@triton.jit")
    tree = ast.parse(mark + body)
    for wanted in (ast.stmt, ast.expr):
        for at, node in enumerate(ast.walk(tree)):
            for field, value in ast.iter_fields(node):
                for new in _instead(value, wanted):
                    rest = copy.deepcopy(tree)
                    setattr([*ast.walk(rest)][at], field, copy.deepcopy(new))
                    yield head + "\n\n\n".join(ast.unparse(one) for one in rest.body) + "\n"


def _instead(value: object, wanted: type[ast.AST]) -> Iterator[object]:
    """Yield what a field of a node may be instead of what it is."""
    if isinstance(value, list):
        parts = cast(list[object], value)
        for at, one in reversed([*enumerate(parts)]):
            if isinstance(one, wanted):
                for new in _parts(one):
                    if new or len(parts) > 1:
                        yield [*parts[:at], *new, *parts[at + 1 :]]
    elif isinstance(value, wanted):
        for new in _parts(value):
            if len(new) == 1:
                yield new[0]


def _parts(node: ast.AST) -> Iterator[Sequence[ast.AST]]:
    """Yield what may take the place of a statement or an expression."""
    match node:
        case ast.FunctionDef(name="kernel"):
            pass
        case ast.If(body=body, orelse=orelse):
            yield []
            yield body
            yield orelse
        case ast.stmt():
            yield []
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            yield [left]
            yield [right]
        case ast.UnaryOp(operand=inner):
            yield [inner]
        case ast.Call(func=ast.Attribute(value=inner, attr="to")) | ast.Subscript(value=inner):
            yield [inner]
        case ast.Call(args=args):
            for one in args:
                yield [one]
        case _:
            pass


def is_wrong(case: Case) -> bool:
    """Return whether the verifier reads something else than what happens."""
    try:
        return judged(case).verdict is Verdict.WRONG
    except (SyntaxError, LookupError, ValueError, TypeError, AttributeError, AssertionError):
        return False


def main() -> None:
    """Make the case of a seed smaller, and show it."""
    case = shrunk(case_of_seed(int(sys.argv[1])), is_wrong)
    print(judged(case).what)
    print(case.shown())


if __name__ == "__main__":
    main()
