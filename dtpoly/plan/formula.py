"""Formulas of a plan: whole numbers and truths that a call computes from what it is given.

`show` writes one as it stands in a file, and `parse` reads that back. The text is Python's, so that
the runtime can compile it; nothing else of Python is a formula.
"""

import ast
from collections.abc import Callable, Mapping
from typing import Literal, assert_never

from dtpoly.frozen import dataclass

Operator = Literal["+", "-", "*", "//", "%"]
Comparison = Literal["==", "!=", "<", "<=", ">", ">="]
Function = Literal["min", "max", "cdiv", "lanes", "fit"]
# A formula that is nested deeper is no formula: whoever reads one must not run out of stack.
DEEPEST = 50
LARGEST = 2**63
# How many arguments a function takes; None for at least two.
ARGUMENTS: Mapping[Function, int | None] = {
    "min": None,
    "max": None,
    "cdiv": 2,
    "lanes": 1,
    "fit": 4,
}
OPERATORS: Mapping[type[ast.operator], Operator] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
COMPARISONS: Mapping[type[ast.cmpop], Comparison] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
BINDS: Mapping[Operator, int] = {"+": 1, "-": 1, "*": 2, "//": 2, "%": 2}
NO_OPERATION = 3


@dataclass(frozen=True, slots=True)
class FormulaNumber:
    """A whole number; one below 0 is written with a sign."""

    value: int


@dataclass(frozen=True, slots=True)
class FormulaName:
    """The size of a label, or another number that the plan has a name for."""

    name: str


@dataclass(frozen=True, slots=True)
class FormulaExtent:
    """The length of an axis of an input: `A.shape[0]`."""

    tensor: str
    axis: int


@dataclass(frozen=True, slots=True)
class Stride:
    """The distance of neighbours along an axis: `A.stride(0)`."""

    tensor: str
    axis: int


@dataclass(frozen=True, slots=True)
class FormulaOperation:
    """Two numbers, and what is made of them."""

    operator: Operator
    left: "Formula"
    right: "Formula"


@dataclass(frozen=True, slots=True)
class Applied:
    """One of a few functions of numbers."""

    function: Function
    arguments: "tuple[Formula, ...]"


@dataclass(frozen=True, slots=True)
class FormulaCompared:
    """A comparison of two numbers."""

    comparison: Comparison
    left: "Formula"
    right: "Formula"


Formula = FormulaNumber | FormulaName | FormulaExtent | Stride | FormulaOperation | Applied
Truth = tuple[FormulaCompared, ...]  # all of them hold; there is at least one


class NotAFormulaError(Exception):
    """A text is no formula: where, and why."""


def show(formula: Formula, names: Mapping[str, str] | None = None) -> str:
    """Return a formula as text; `names` has what its functions are called, if not as in plans."""
    return _shown(formula, 0, names or {})


def show_truth(truth: Truth) -> str:
    """Conditions that all hold, as text."""
    return " and ".join(f"{show(o.left)} {o.comparison} {show(o.right)}" for o in truth)


def functions_in(formula: Formula) -> set[str]:
    """The functions that a formula applies."""
    match formula:
        case FormulaOperation(left=left, right=right):
            return functions_in(left) | functions_in(right)
        case Applied(function=function, arguments=arguments):
            return set[str]({function}).union(*map(functions_in, arguments))
        case FormulaNumber() | FormulaName() | FormulaExtent() | Stride():
            return set()
        case _:
            assert_never(formula)


def _shown(formula: Formula, binds: int, names: Mapping[str, str]) -> str:
    match formula:
        case FormulaNumber(value=value):
            # Python reads a sign as an operation on what follows it.
            return f"({value})" if value < 0 and binds else str(value)
        case FormulaName(name=name):
            return name
        case FormulaExtent(tensor=tensor, axis=axis):
            return f"{tensor}.shape[{axis}]"
        case Stride(tensor=tensor, axis=axis):
            return f"{tensor}.stride({axis})"
        case FormulaOperation(operator=operator, left=left, right=right):
            mine = BINDS[operator]
            text = f"{_shown(left, mine, names)} {operator} {_shown(right, mine + 1, names)}"
            return f"({text})" if mine < binds else text
        case Applied(function=function, arguments=arguments):
            inner = ", ".join(_shown(one, 0, names) for one in arguments)
            return f"{names.get(function, function)}({inner})"
        case _:
            assert_never(formula)


def names_in(formula: Formula) -> set[str]:
    """Return the names of sizes and numbers that a formula is computed from."""
    match formula:
        case FormulaName(name=name):
            return {name}
        case FormulaOperation(left=left, right=right):
            return names_in(left) | names_in(right)
        case Applied(arguments=arguments):
            return set[str]().union(*map(names_in, arguments))
        case FormulaNumber() | FormulaExtent() | Stride():
            return set()
        case _:
            assert_never(formula)


def parse(text: str) -> Formula:
    """Return the formula that a text is. Raises NotAFormulaError."""
    return _formula(_tree(text), 0)


def parse_truth(text: str) -> Truth:
    """Return the conditions that a text is. Raises NotAFormulaError."""
    node = _tree(text)
    parts = node.values if isinstance(node, ast.BoolOp) and _is_and(node) else [node]
    return tuple(map(_compared, parts))


def _is_and(node: ast.BoolOp) -> bool:
    return isinstance(node.op, ast.And)


def _tree(text: str) -> ast.expr:
    if "\n" in text or not text.isascii() or text != text.strip():
        raise NotAFormulaError("a formula is one line of plain characters")
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotAFormulaError(f"'{text}' is not written as Python is") from error


def _compared(node: ast.expr) -> FormulaCompared:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
            return FormulaCompared(COMPARISONS[type(op)], _formula(left, 0), _formula(right, 0))
        case _:
            raise _wrong(node)


def _formula(node: ast.expr, depth: int) -> Formula:
    if depth > DEEPEST:
        raise NotAFormulaError("a formula is nested too deeply")
    match node:
        case ast.Constant(value=int() as value) if type(value) is int:
            return _number(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)) if (
            type(value) is int and value
        ):
            return _number(-value)
        case ast.Name(id=name):
            return FormulaName(name)
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=tensor), attr="shape"), slice=axis
        ):
            return FormulaExtent(tensor, _axis(axis))
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=tensor), attr="stride"), args=[axis], keywords=[]
        ):
            return Stride(tensor, _axis(axis))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            operator = OPERATORS[type(op)]
            return FormulaOperation(operator, _formula(left, depth + 1), _formula(right, depth + 1))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return _applied(node, name, tuple(_formula(one, depth + 1) for one in args))
        case _:
            raise _wrong(node)


def _number(value: int) -> FormulaNumber:
    if abs(value) > LARGEST:
        raise NotAFormulaError("a number of a formula has at most 64 bits")
    return FormulaNumber(value)


def _axis(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int() as axis) if type(axis) is int and 0 <= axis < DEEPEST:
            return axis
        case _:
            raise _wrong(node)


def _applied(node: ast.expr, name: str, arguments: tuple[Formula, ...]) -> Applied:
    for function, count in ARGUMENTS.items():
        if function == name and (len(arguments) == count if count else len(arguments) > 1):
            return Applied(function, arguments)
    raise _wrong(node)


def _wrong(node: ast.expr) -> NotAFormulaError:
    return NotAFormulaError(f"'{ast.unparse(node)[:60]}' is no formula of a plan")


# What formulas come to

Known = Callable[[FormulaName | FormulaExtent | Stride], int]


def value_of(formula: Formula, known: Known) -> int:
    """Return the number that a formula comes to, by what is known of a call."""
    match formula:
        case FormulaNumber(value=value):
            return value
        case FormulaName() | FormulaExtent() | Stride():
            return known(formula)
        case FormulaOperation(operator=operator, left=left, right=right):
            return _operated(operator, value_of(left, known), value_of(right, known))
        case Applied(function=function, arguments=arguments):
            return _result(function, [value_of(one, known) for one in arguments])
        case _:
            assert_never(formula)


def holds(truth: Truth, known: Known) -> bool:
    """Return whether all conditions hold."""
    return all(
        _is_so(one.comparison, value_of(one.left, known), value_of(one.right, known))
        for one in truth
    )


def _operated(operator: Operator, left: int, right: int) -> int:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "//":
            return left // right
        case "%":
            return left % right
        case _:
            assert_never(operator)


def _result(function: Function, given: list[int]) -> int:
    match function:
        case "min":
            return min(given)
        case "max":
            return max(given)
        case "cdiv":
            return -(-given[0] // given[1])
        case "lanes":
            return 1 << max(given[0] - 1, 15).bit_length()
        case "fit":
            return _fit(*given)
        case _:
            assert_never(function)


def _fit(extent: int, low: int, high: int, coefficient: int) -> int:
    """Return the largest size of a label for which an index stays inside of an axis.

    From low to high is what the index is where that label is 0.
    """
    if low < 0 or high >= extent:
        return 0
    if coefficient > 0:
        return (extent - 1 - high) // coefficient + 1
    return low // -coefficient + 1


def _is_so(comparison: Comparison, left: int, right: int) -> bool:
    match comparison:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case _:
            assert_never(comparison)
