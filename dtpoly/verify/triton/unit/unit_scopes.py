"""Check where each name of a function comes from: the function itself, the unit, or Python.

Python looks a name up when it comes to it: in the function if that binds it anywhere, then in the
module, then among the builtins. Triton looks in the part of the function that it has read so far,
and then in the module. Both find the same if no name that a function binds means anything to the
module.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.triton.unit.forms import located
from dtpoly.verify.triton.unit.words import FIXED, MODULES, PLAIN_BUILTINS

DUNDER = re.compile(r"__[^_](\w*[^_])?__")
MEANING = "is defined, which has a meaning of its own"


@dataclass(frozen=True)
class UnitScope:
    """The names that a function may use without binding them, and those that it must not bind."""

    builtins: frozenset[str]
    # The functions of the unit, and the constants of its module.
    given: frozenset[str]
    # Names of the module: a function that binds one hides it, and Triton would find the
    # module's meaning where the function has not bound the name yet.
    fixed: frozenset[str]


def is_dunder(one: str) -> bool:
    """True for a name such as `__len__`, which Python reads even if no text says it."""
    return DUNDER.fullmatch(one) is not None


def bindings(function: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """Yield every name that a function binds inside, and the line where it does so."""
    for node, line in located(function, function.lineno):
        if node is function:
            continue
        match node:
            case (
                ast.FunctionDef(name=str() as one)
                | ast.AsyncFunctionDef(name=str() as one)
                | ast.ClassDef(name=str() as one)
                | ast.ExceptHandler(name=str() as one)
                | ast.MatchAs(name=str() as one)
                | ast.MatchStar(name=str() as one)
                | ast.MatchMapping(rest=str() as one)
                | ast.arg(arg=str() as one)
                | ast.Name(id=str() as one, ctx=ast.Store() | ast.Del())
            ):
                yield one, line
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from ((one, line) for one in names)
            case ast.Import(names=imports) | ast.ImportFrom(names=imports):
                yield from ((one.asname or one.name.split(".")[0], line) for one in imports)
            case _:
                pass


def check_names(function: ast.FunctionDef, scope: UnitScope) -> None:
    """Refuse a name that may mean something else than what is read. Raises Unread."""
    bound = set[str]()
    for one, line in bindings(function):
        # Python and Triton look for such a name in the function first, where it is bound.
        if one not in PLAIN_BUILTINS - scope.builtins - scope.fixed:
            check_new(one, line, scope.fixed)
        bound.add(one)
    inner = {
        id(node.value): node
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    known = scope.given | scope.builtins
    for node in ast.walk(function):
        match node:
            case ast.Name(id=one, ctx=ast.Load()) if one in bound:
                pass
            case ast.Name(id=one, ctx=ast.Load()) if one in MODULES:
                if id(node) not in inner:
                    raise Unread(node.lineno, f"the module '{one}' without one of its words")
            case ast.Name(id=one, ctx=ast.Load()) if one not in known:
                raise Unread(node.lineno, f"'{one}' is not known")
            case ast.Call(func=ast.Name(id=one)) if one in bound and one in scope.given:
                raise Unread(node.lineno, f"a call of '{one}', which is set here")
            case _:
                pass


def check_new(one: str, line: int, fixed: Set[str]) -> None:
    """Refuse to bind a name if that changes the meaning of other text. Raises Unread."""
    if one in FIXED or one in fixed:
        raise Unread(line, f"'{one}' {MEANING}")
    if is_dunder(one):
        raise Unread(line, f"'{one}', a name that Python reads by itself")
