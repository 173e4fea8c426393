"""Parse the formulas, truths and dtypes that a plan has as strings (see docs/plan.md).

A formula is Python of a few forms. Here its form is checked, for each formula of a plan, also for
those that no proof needs: the runtime compiles all of them. `numbers` says what they come to.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.formats import TYPES
from dtpoly.verify.algebra.kernel_values import Unread

# The functions of formulas, with the number of their arguments; None for at least two.
FUNCTIONS: dict[str, int | None] = {"min": None, "max": None, "cdiv": 2, "lanes": 1, "fit": 4}
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
DEEPEST = 50
LARGEST = 2**63
MOST_AXES = 64
# Numbers are written with plain digits: no underscores, no other base than 10.
CHARACTERS = re.compile(r"[A-Za-z0-9_.,()\[\]+\-*/%<>=! ]*")
NUMBER = re.compile(r"(?<![A-Za-z0-9_])\d\w*")
# The words for dtypes, and what the verifier calls them.
WORDS = {str(dtype): kind for dtype, kind in TYPES.items()}
PROMOTED = "promoted"
# The word before the name of a type of kernels, of whose dtype memory is.
TYPE = "type"


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula of a known form: its tree, its text and its line."""

    node: ast.expr
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class FormulaComparison:
    """Two formulas that are compared."""

    word: str
    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Dtype:
    """The dtype that holds the values of some inputs, and of dtypes that are written as words.

    Of memory it may be the dtype of a type of kernels, which is then the only term.
    """

    terms: tuple[str, ...]
    line: int
    is_type: bool = False


def formula_of(text: str, line: int, *, has_strides: bool = False) -> Formula:
    """Return the formula that a text is. Raises Unread."""
    node = _tree(text, line)
    _check(node, text, line, has_strides, 0)
    return Formula(node, text, line)


def truth_of(text: str, line: int) -> tuple[FormulaComparison, ...]:
    """Return the comparisons that a text is, which all hold together. Raises Unread."""
    node = _tree(text, line)
    parts = [node]
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        parts = node.values
    return tuple(_comparison(part, text, line) for part in parts)


def _comparison(node: ast.expr, text: str, line: int) -> FormulaComparison:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
            for side in (left, right):
                _check(side, text, line, True, 0)
            word = COMPARISONS[type(op)]
            return FormulaComparison(word, Formula(left, text, line), Formula(right, text, line))
        case _:
            raise Unread(line, f"'{text}', which is no comparison of formulas")


def _tree(text: str, line: int) -> ast.expr:
    numbers = NUMBER.findall(text)
    is_so = CHARACTERS.fullmatch(text) is not None and text == text.strip()
    if not is_so or any(not one.isdigit() or (one[0] == "0" != one) for one in numbers):
        raise Unread(line, f"'{text}', which is not written as a formula")
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unread(line, f"'{text}', which is not written as a formula") from error


def _check(node: ast.expr, text: str, line: int, has_strides: bool, depth: int) -> None:
    """Refuse whatever no formula may have. Raises Unread."""
    parts: list[ast.expr] = []
    match node:
        case _ if depth > DEEPEST:
            raise Unread(line, "a formula that is nested too deeply")
        case ast.Constant(value=int() as value) if type(value) is int and value <= LARGEST:
            pass
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)) if (
            type(value) is int and value <= LARGEST
        ):
            pass
        case ast.Name():
            pass
        case ast.Subscript(value=ast.Attribute(value=ast.Name(), attr="shape"), slice=axis):
            _check_axis(axis, text, line)
        case ast.Call(
            func=ast.Attribute(value=ast.Name(), attr="stride"), args=[axis], keywords=[]
        ) if has_strides:
            _check_axis(axis, text, line)
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, OPERATORS):
            parts = [left, right]
        case ast.Call(func=ast.Name(id=one), args=args, keywords=[]) if one in FUNCTIONS and (
            len(args) == FUNCTIONS[one] if FUNCTIONS[one] else len(args) > 1
        ):
            parts = args
        case _:
            raise Unread(line, f"'{ast.unparse(node)[:60]}' in a formula")
    for part in parts:
        _check(part, text, line, has_strides, depth + 1)


def _check_axis(node: ast.expr, text: str, line: int) -> None:
    match node:
        case ast.Constant(value=int() as axis) if type(axis) is int and axis < MOST_AXES:
            pass
        case _:
            raise Unread(line, f"an axis of '{text}' that is no number")


def names_in(formula: Formula) -> Iterator[str]:
    """Yield the names in a formula that are not those of functions."""
    called = {id(one.func) for one in ast.walk(formula.node) if isinstance(one, ast.Call)}
    for node in ast.walk(formula.node):
        if isinstance(node, ast.Name) and id(node) not in called:
            yield node.id


def formulas_in_braces(text: str, line: int) -> tuple[Formula, ...]:
    """Return the formulas in the braces of a text for a message. Raises Unread."""
    found: list[Formula] = []
    for at, part in enumerate(re.split(r"[{}]", text)):
        if at % 2:
            found.append(formula_of(part, line))
    if "".join(re.findall(r"[{}]", text)) != "{}" * len(found):
        raise Unread(line, f"the braces of '{text}'")
    return tuple(found)


def dtype_of(text: str, line: int) -> Dtype:
    """Return the dtype that a text is. Raises Unread.

    It is one name, `promoted(...)` of several, or `type(...)` of a type of kernels.
    """
    word, terms = applied(text, line)
    if word == PROMOTED and len(terms) > 1:
        return Dtype(terms, line)
    if word == TYPE and len(terms) == 1:
        return Dtype(terms, line, is_type=True)
    if not terms:
        return Dtype((word,), line)
    raise Unread(line, f"'{text}', which is no dtype")


def applied(text: str, line: int) -> tuple[str, tuple[str, ...]]:
    """Take `word(name, name)` apart; there may be a word alone. Raises Unread."""
    found = re.fullmatch(r"([A-Za-z_]\w*)(?:\((\w+(?:, \w+)*)\))?", text, re.ASCII)
    if found is None:
        raise Unread(line, f"'{text}', which is no dtype")
    return found[1], tuple(found[2].split(", ")) if found[2] else ()
