"""Makes edits of a text from nodes of its Python syntax."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Splice:
    """A range of bytes of a text, and the text that replaces it."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """One mistake: its line, what is done, and how."""

    line: int
    what: str
    splices: tuple[Splice, ...]


class Text:
    """A text with the starts of its lines, because columns of nodes are counted in bytes."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.starts = [0]
        for line in self.data.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def start(self, node: ast.stmt | ast.expr) -> int:
        """Return where a node begins."""
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.stmt | ast.expr) -> int:
        """Return where a node ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.stmt | ast.expr) -> str:
        """Return the text of a node."""
        return self.data[self.start(node) : self.end(node)].decode()

    def edited(self, edit: Edit) -> str:
        """Return the text with a mistake in it."""
        data = self.data
        for one in sorted(edit.splices, key=lambda splice: -splice.start):
            data = data[: one.start] + one.text.encode() + data[one.end :]
        return data.decode()

    def splice(self, node: ast.stmt | ast.expr, new: str) -> Splice:
        """Return an edit that replaces a node by another text."""
        return Splice(self.start(node), self.end(node), new)

    def put(self, node: ast.stmt | ast.expr, new: str) -> Edit:
        """Return the mistake that replaces one node by another text."""
        what = f"'{short(self.of(node))}' becomes '{short(new)}'"
        return Edit(node.lineno, what, (self.splice(node, new),))

    def drop(self, node: ast.stmt) -> Edit:
        """Return the mistake that leaves out a statement."""
        return Edit(
            node.lineno, f"'{short(self.of(node))}' is left out", (self.splice(node, "pass"),)
        )

    def swap(self, one: ast.stmt | ast.expr, other: ast.stmt | ast.expr) -> Edit:
        """Return the mistake that exchanges two nodes."""
        texts = self.of(one), self.of(other)
        what = f"'{short(texts[0])}' and '{short(texts[1])}' change places"
        return Edit(one.lineno, what, (self.splice(one, texts[1]), self.splice(other, texts[0])))

    def around(self, node: ast.expr) -> str:
        """Return the text of an expression, such that it can be an operand."""
        return f"({self.of(node)})"


Edits = Callable[[Text, ast.FunctionDef], Iterator[Edit]]


def short(text: str) -> str:
    """Return the text of a node as one line."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


def called(node: ast.AST, *names: str) -> ast.Call | None:
    """Return the node if it is a call of one of these, such as `tl.load` or `min`."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in names:
        return node
    return None


def calls(function: ast.AST, *names: str) -> Iterator[ast.Call]:
    """Return every call of one of these, in order."""
    return (one for node in nodes(function) if (one := called(node, *names)))


def nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Return every node of a function's body, in the order of the text."""
    for child in ast.iter_child_nodes(function):
        yield child
        yield from nodes(child)


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """Return the value of a keyword argument."""
    return next((one.value for one in call.keywords if one.arg == name), None)


def blocks(function: ast.AST) -> Iterator[list[ast.stmt]]:
    """Return every list of statements."""
    for node in (function, *nodes(function)):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def rebuilt(text: Text, call: ast.Call, without: tuple[str, ...], positional: int = -1) -> str:
    """Return the call without some keyword arguments, or without one that has a position."""
    given = [text.of(one) for at, one in enumerate(call.args) if at != positional]
    given += [f"{one.arg}={text.of(one.value)}" for one in call.keywords if one.arg not in without]
    return f"{text.of(call.func)}({', '.join(given)})"
