"""Lays out a call, a condition or a sum in lines, as a formatter of Python would."""

from collections.abc import Sequence

from . import breaking
from .breaking import WIDTH


def call(head: str, arguments: Sequence[str], tail: str = "", indent: int = 4) -> list[str]:
    """`head(arguments)tail`: on a line, else its arguments on one of their own, else one each."""
    inner = ", ".join(arguments)
    if indent + len(f"{head}({inner}){tail}") <= WIDTH:
        return [f"{head}({inner}){tail}"]
    if indent + 4 + len(inner) <= WIDTH:
        return [f"{head}(", f"    {inner}", f"){tail}"]
    lines = [line for one in arguments for line in breaking.inside(one, ",", indent + 4)]
    return [f"{head}(", *(f"    {line}" for line in lines), f"){tail}"]


def joined(
    head: str, operator: str, operands: Sequence[str], tail: str = "", indent: int = 4
) -> list[str]:
    """`head a operator b tail`: on a line, else in brackets, an operand a line."""
    line = f"{head} {f' {operator} '.join(operands)}{tail}"
    if indent + len(line) <= WIDTH:
        return [line]
    first, *others = operands
    return [f"{head} (", f"    {first}", *(f"    {operator} {one}" for one in others), f"){tail}"]


def fitted(lines: Sequence[str], indent: int = 4) -> list[str]:
    """Return the lines of a function, with those broken that are still too long."""
    made: list[str] = []
    for line in lines:
        statement = line.lstrip(" ")
        before = line[: len(line) - len(statement)]
        made += [before + part for part in breaking.broken(statement, indent + len(before))]
    return made


def tuple_of(parts: Sequence[str]) -> str:
    """`(a, b)`, and `(a,)` of one."""
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def inside(lines: Sequence[str]) -> list[str]:
    """Return the lines, indented."""
    return [f"    {line}" if line else "" for line in lines]
