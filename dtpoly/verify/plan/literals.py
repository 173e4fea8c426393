"""Read a literal of Python from the syntax tree: each part of it keeps its line.

Nothing is evaluated. A literal has dictionaries whose keys are strings, tuples, lists, strings,
whole numbers, True, False and None. Whatever else stands there raises Unread.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Unread

Plain = str | int | None  # a truth is an int here, as it is in Python


@dataclass(frozen=True, slots=True)
class PlainLiteral:
    """A string, a whole number, True, False or None."""

    value: Plain
    line: int


@dataclass(frozen=True, slots=True)
class ListLiteral:
    """A tuple or a list."""

    parts: tuple[Datum, ...]
    is_list: bool
    line: int


@dataclass(frozen=True, slots=True)
class DictLiteral:
    """A dictionary: its entries in their order, and the line of each key."""

    entries: Mapping[str, Datum]
    lines: Mapping[str, int]
    line: int


Datum = PlainLiteral | ListLiteral | DictLiteral


def datum_of(node: ast.expr) -> Datum:
    """Return the literal that an expression is. Raises Unread."""
    match node:
        case ast.Constant(value=str() | int() | None as value):
            return PlainLiteral(value, node.lineno)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)) if (
            type(value) is int
        ):
            return PlainLiteral(-value, node.lineno)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return ListLiteral(tuple(map(datum_of, parts)), isinstance(node, ast.List), node.lineno)
        case ast.Dict():
            return _table(node)
        case _:
            raise Unread(node.lineno, f"'{ast.unparse(node)[:60]}' in a plan, which is no literal")


def _table(node: ast.Dict) -> DictLiteral:
    entries, lines = dict[str, Datum](), dict[str, int]()
    for key, value in zip(node.keys, node.values, strict=True):
        match key:
            case ast.Constant(value=str() as word):
                pass
            case _:
                line = value.lineno if key is None else key.lineno
                raise Unread(line, "a key of a plan that is no string")
        if word in entries:
            # Python keeps the last of them, and a reader sees the first.
            raise Unread(key.lineno, f"the key '{word}' stands twice")
        entries[word], lines[word] = datum_of(value), key.lineno
    return DictLiteral(entries, lines, node.lineno)


def text(datum: Datum, what: str) -> str:
    """Return a string. Raises Unread if it is something else, or has several lines."""
    if isinstance(datum, PlainLiteral) and isinstance(datum.value, str):
        if datum.value.isprintable():
            return datum.value
        raise Unread(datum.line, f"{what}, a string with other characters than are printed")
    raise Unread(datum.line, f"{what} is no string")


def word(datum: Datum, what: str) -> str:
    """Return a string for a message, in which there is no formula. Raises Unread.

    The runtime computes what stands in braces.
    """
    found = text(datum, what)
    if "{" in found or "}" in found:
        raise Unread(datum.line, f"{what} with a brace: '{found}'")
    return found


def whole(datum: Datum, what: str, least: int, most: int = 2**63) -> int:
    """Return a whole number between two others. Raises Unread if it is something else."""
    match datum:
        case PlainLiteral(value=int() as value) if type(value) is int and least <= value <= most:
            return value
        case _:
            raise Unread(datum.line, f"{what} is no whole number from {least} to {most}")


def truth(datum: Datum, what: str) -> bool:
    """Return True or False. Raises Unread if it is something else."""
    match datum:
        case PlainLiteral(value=bool() as value):
            return value
        case _:
            raise Unread(datum.line, f"{what} is neither True nor False")


def is_none(datum: Datum) -> bool:
    """Return whether it is None."""
    return isinstance(datum, PlainLiteral) and datum.value is None


def table(datum: Datum, what: str) -> DictLiteral:
    """Return a dictionary. Raises Unread if it is something else."""
    if isinstance(datum, DictLiteral):
        return datum
    raise Unread(datum.line, f"{what} is no dictionary")


def parts_of(datum: Datum, what: str, *, in_list: bool = False) -> tuple[Datum, ...]:
    """Return the parts of a tuple, or of a list. Raises Unread if it is something else.

    A string in brackets is no tuple without a comma behind it, so the two are told apart.
    """
    if isinstance(datum, ListLiteral) and datum.is_list is in_list:
        return datum.parts
    raise Unread(datum.line, f"{what} is no {'list' if in_list else 'tuple'}")


def texts(datum: Datum, what: str) -> tuple[str, ...]:
    """Return the strings of a tuple. Raises Unread if it has anything else."""
    return tuple(text(one, what) for one in parts_of(datum, what))
