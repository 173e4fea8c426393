"""Reads a file of kernels as a tree, knows the place of each part, and edits the text there."""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import TypeVar

T = TypeVar("T")
# A replacement for the text between two places.
Edit = tuple[int, int, str]
# A function that yields texts which may take the place of a part of the tree.
Variants = Callable[["Source", ast.AST, Random], Iterable[str]]
# A function that makes one mistake or change in a text, or None if the text has no place for it.
Change = Callable[["Source", Random], str | None]


@dataclass(frozen=True)
class Operator:
    """A kind of change, and its class."""

    group: str
    name: str
    change: Change


@dataclass(frozen=True)
class Source:
    """A text and its tree. A text that is no valid Python has no functions."""

    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Return the tree that Python reads."""
        try:
            return ast.parse(self.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.Module([], [])

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines with their ends, as Python counts them."""
        return self.text.splitlines(keepends=True) if self._is_plain else _python_lines(self.text)

    @cached_property
    def _is_plain(self) -> bool:
        return not any(one in self.text for one in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")

    @cached_property
    def starts(self) -> list[int]:
        """Return where each line begins."""
        found = [0]
        for line in self.lines:
            found.append(found[-1] + len(line))
        return found

    def at(self, line: int, column: int) -> int:
        """Return a place of the tree, which counts bytes, as a place of the text."""
        start = self.starts[line - 1]
        if self.text.isascii():
            return start + column
        return start + len(self.lines[line - 1].encode()[:column].decode(errors="ignore"))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a part of the tree begins and ends in the text."""
        assert isinstance(node, ast.expr | ast.stmt | ast.arg | ast.keyword | ast.excepthandler)
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.at(node.lineno, node.col_offset), self.at(end_line, end)

    def of(self, node: ast.AST) -> str:
        """Return the text of a part of the tree."""
        start, end = self.span(node)
        return self.text[start:end]

    def inside(self, node: ast.AST) -> str:
        """Return the text of an expression, in brackets if it needs them inside another one."""
        text = self.of(node)
        return text if isinstance(node, ATOMS) else f"({text})"

    def put(self, *edits: tuple[ast.AST, str]) -> str:
        """Return the whole text with other texts for some parts of the tree."""
        return self.edited([(*self.span(node), new) for node, new in edits])

    def edited(self, edits: Iterable[Edit]) -> str:
        """Return the whole text with some edits, which do not overlap."""
        text = self.text
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    @cached_property
    def functions(self) -> list[ast.FunctionDef]:
        """Return the functions of this file's algorithm; the others are the same in all files."""
        found = [one for one in self.tree.body if isinstance(one, ast.FunctionDef)]
        return [one for one in found if not one.name.startswith("dt_")]

    @cached_property
    def kernels(self) -> list[ast.FunctionDef]:
        """Return the functions that Triton compiles."""
        return [one for one in self.functions if one.decorator_list]

    @cached_property
    def plans(self) -> list[ast.Assign]:
        """Return the literals of which functions are made."""
        found = [one for one in self._assigned if isinstance(one.value, ast.Dict)]
        return [one for one in found if not self.of(one).startswith("dt_")]

    @cached_property
    def made(self) -> list[ast.Assign]:
        """Return where functions are made of plans."""
        return [one for one in self._assigned if called(one.value, "dt_function") is not None]

    @cached_property
    def _assigned(self) -> list[ast.Assign]:
        return [one for one in self.tree.body if isinstance(one, ast.Assign)]

    @cached_property
    def kernel_nodes(self) -> list[ast.AST]:
        """Return all parts of the kernels."""
        return [node for one in self.kernels for part in one.body for node in ast.walk(part)]

    @cached_property
    def plan_nodes(self) -> list[ast.AST]:
        """Return all parts of the plans."""
        return [node for one in self.plans for node in ast.walk(one.value)]

    @cached_property
    def names(self) -> list[str]:
        """Return the names of the kernels' parameters and variables."""
        found = {arg.arg for one in self.kernels for arg in one.args.args}
        found |= {
            node.id
            for node in self.kernel_nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        return sorted(found)


ATOMS = ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript | ast.Tuple | ast.List


def _python_lines(text: str) -> list[str]:
    """Split a text into lines as Python does, at fewer characters than `str.splitlines`."""
    found: list[str] = [""]
    for at, one in enumerate(text):
        found[-1] += one
        if one == "\n" or (one == "\r" and text[at + 1 : at + 2] != "\n"):
            found.append("")
    return found if found[-1] else found[:-1]


def pick(random: Random, options: Sequence[T]) -> T | None:
    """Return one of the options, or None if there are none."""
    return random.choice(options) if options else None


def in_kernels(variants: Variants) -> Change:
    """Return a change of one part of a kernel."""

    def change(source: Source, random: Random) -> str | None:
        return _changed(source, source.kernel_nodes, variants, random)

    return change


def anywhere(variants: Variants) -> Change:
    """Return a change of one part of a kernel or a plan."""

    def change(source: Source, random: Random) -> str | None:
        nodes = [*source.kernel_nodes, *source.plan_nodes]
        return _changed(source, nodes, variants, random)

    return change


def _changed(
    source: Source, nodes: Sequence[ast.AST], variants: Variants, random: Random
) -> str | None:
    for node in random.sample(nodes, len(nodes)):
        if not isinstance(node, ast.expr | ast.stmt | ast.keyword | ast.arg):
            continue
        new = pick(random, list(variants(source, node, random)))
        if new is not None and new != source.of(node):
            return source.put((node, new))
    return None


def called(node: ast.AST, *names: str) -> ast.Call | None:
    """Return the node if it is a call of a function with one of these names."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in names:
        return node
    return None


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """Return the argument of that name."""
    return next((one.value for one in call.keywords if one.arg == name), None)


def blocks(function: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    """Yield every list of statements inside."""
    for node in ast.walk(function):
        if isinstance(node, ast.FunctionDef | ast.For | ast.While | ast.If | ast.With):
            yield node.body
        if isinstance(node, ast.For | ast.While | ast.If) and node.orelse:
            yield node.orelse


def whole_lines(source: Source, node: ast.stmt) -> tuple[int, int]:
    """Return the range of whole lines of a statement, with the end of the last line."""
    return source.starts[node.lineno - 1], source.starts[node.end_lineno or node.lineno]


def margin(source: Source, node: ast.stmt) -> str:
    """Return the whitespace before a statement."""
    line = source.lines[node.lineno - 1]
    return line[: len(line) - len(line.lstrip())]


def deeper(text: str, by: str = "    ") -> str:
    """Indent lines further."""
    return "".join(f"{by}{line}" if line.strip() else line for line in text.splitlines(True))
