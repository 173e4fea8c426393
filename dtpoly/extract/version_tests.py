"""Decides tests of Triton's version, so that of two definitions the one is known that holds.

A module may say `if version.parse(triton.__version__) >= version.parse("3.0.0"):`, and define a
function in both blocks. dtpoly is about some versions of Triton. Where such a test has one answer
for all of them, that answer is taken, and is an assumption.
"""

import ast
import operator
from collections.abc import Callable

from dtpoly.extract.module_names import Binding
from dtpoly.extract.python_modules import Module
from dtpoly.frozen import dataclass

# The first and the last ones of each, as an answer may change between any two of them.
VERSIONS = tuple((3, minor, patch) for minor in (6, 7, 8, 9) for patch in (0, 99))
OLDEST, NEWEST = "3.6", "3.9"
PARSERS = ("parse", "Version")
PACKAGE = "packaging"
DEPTH = 4  # of names of tests
Numbers = tuple[int, ...]
OPERATORS: dict[type[ast.cmpop], Callable[[Numbers, Numbers], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@dataclass(frozen=True, slots=True)
class ChosenBinding:
    """The one of two bindings that holds, and what is assumed for that."""

    binding: Binding
    assumed: str


def by_version(module: Module, bindings: tuple[Binding, ...]) -> ChosenBinding | None:
    """Return which of two bindings holds, if they stand in the two blocks of a decided test."""
    if len(bindings) != 2:
        return None
    nodes = [one.node for one in bindings]
    for test in module.tree.body:
        if not isinstance(test, ast.If) or not test.orelse:
            continue
        sides = [
            [one for one, node in zip(bindings, nodes, strict=True) if node in block]
            for block in (test.body, test.orelse)
        ]
        if [len(one) for one in sides] != [1, 1]:
            continue
        found = _decided(module, test.test, DEPTH)
        if found is None:
            return None
        said = ast.unparse(test.test)
        truth = "true" if found else "false"
        assumed = (
            f"'{said}' in line {test.lineno} of '{module.path.name}' is {truth}, as for Triton "
            f"{OLDEST} to {NEWEST}"
        )
        return ChosenBinding(sides[0 if found else 1][0], assumed)
    return None


def _decided(module: Module, test: ast.expr, depth: int) -> bool | None:
    """Return what a test gives for each version; None if it is no such test."""
    match test:
        case ast.Name(id=name) if depth and (value := _only_value(module, name)) is not None:
            return _decided(module, value, depth - 1)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            found = _decided(module, operand, depth)
            return None if found is None else not found
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATORS:
            compared = OPERATORS[type(op)]
            if _is_triton(module, left) and (limit := _limit(module, right)) is not None:
                answers = {compared(one, limit) for one in VERSIONS}
            elif _is_triton(module, right) and (limit := _limit(module, left)) is not None:
                answers = {compared(limit, one) for one in VERSIONS}
            else:
                return None
            return answers.pop() if len(answers) == 1 else None
        case _:
            return None


def _only_value(module: Module, name: str) -> ast.expr | None:
    """Return what a name is set to, if that is done once."""
    found = module.names.get(name, ())
    if len(found) != 1 or not found[0].is_sure or "*" in module.names or name in module.changes:
        return None
    match found[0].node:
        case ast.Assign(targets=[ast.Name()], value=value):
            return value
        case _:
            return None


def _is_triton(module: Module, node: ast.expr) -> bool:
    """Return whether an expression is the parsed version of Triton."""
    inner = _parsed(module, node)
    match inner:
        case ast.Attribute(value=ast.Name(id=name), attr="__version__"):
            found = module.names.get(name, ())
            is_one = len(found) == 1 and found[0].module == "triton" and not found[0].word
            return is_one and name not in module.changes
        case _:
            return False


def _limit(module: Module, node: ast.expr) -> Numbers | None:
    """Return the parsed version that is written, of which each part is a number."""
    match _parsed(module, node):
        case ast.Constant(value=str() as text):
            parts = text.split(".")
            if not all(one.isascii() and one.isdecimal() for one in parts) or len(parts) > 3:
                return None
            numbers = tuple(map(int, parts))
            return (*numbers, 0, 0, 0)[: max(3, len(numbers))]
        case _:
            return None


def _parsed(module: Module, node: ast.expr) -> ast.expr | None:
    """Return what is handed to a function of `packaging` that reads a version."""
    match node:
        case ast.Call(func=func, args=[inner], keywords=[]):
            pass
        case _:
            return None
    words = ast.unparse(func).split(".")
    found = module.names.get(words[0], ())
    if len(found) != 1 or words[0] in module.changes or "*" in module.names:
        return None
    binding = found[0]
    path = ".".join(filter(None, (binding.module or "", binding.word, *words[1:])))
    if binding.module == PACKAGE and not binding.word and words[0] != PACKAGE:
        return None
    known = {f"{PACKAGE}.version.{one}" for one in PARSERS}
    return inner if path in known else None
