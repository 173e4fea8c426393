"""Makes edits of a text from nodes of its Python syntax."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Splice:
    """Bytes of a text, and what stands there instead."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """One mistake: in which line, what is done, and how."""

    line: int
    what: str
    splices: tuple[Splice, ...]


class Text:
    """A text, where its lines begin: columns of nodes are counted in bytes."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.starts = [0]
        for line in self.data.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def start(self, node: ast.stmt | ast.expr) -> int:
        """Where a node begins."""
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.stmt | ast.expr) -> int:
        """Where it ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.stmt | ast.expr) -> str:
        """What stands there."""
        return self.data[self.start(node) : self.end(node)].decode()

    def edited(self, edit: Edit) -> str:
        """The text with a mistake in it."""
        data = self.data
        for one in sorted(edit.splices, key=lambda splice: -splice.start):
            data = data[: one.start] + one.text.encode() + data[one.end :]
        return data.decode()

    def splice(self, node: ast.stmt | ast.expr, new: str) -> Splice:
        """Another text for a node."""
        return Splice(self.start(node), self.end(node), new)

    def put(self, node: ast.stmt | ast.expr, new: str) -> Edit:
        """One node becomes another text."""
        what = f"'{short(self.of(node))}' becomes '{short(new)}'"
        return Edit(node.lineno, what, (self.splice(node, new),))

    def drop(self, node: ast.stmt) -> Edit:
        """A statement is left out."""
        return Edit(
            node.lineno, f"'{short(self.of(node))}' is left out", (self.splice(node, "pass"),)
        )

    def swap(self, one: ast.stmt | ast.expr, other: ast.stmt | ast.expr) -> Edit:
        """Two nodes change places."""
        texts = self.of(one), self.of(other)
        what = f"'{short(texts[0])}' and '{short(texts[1])}' change places"
        return Edit(one.lineno, what, (self.splice(one, texts[1]), self.splice(other, texts[0])))

    def around(self, node: ast.expr) -> str:
        """An expression that may be an operand."""
        return f"({self.of(node)})"


Edits = Callable[[Text, ast.FunctionDef], Iterator[Edit]]


def short(text: str) -> str:
    """One line of it."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


def called(node: ast.AST, *names: str) -> ast.Call | None:
    """The node, if it is a call of one of these: `tl.load`, `min`."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in names:
        return node
    return None


def calls(function: ast.AST, *names: str) -> Iterator[ast.Call]:
    """Every call of one of these, in order."""
    return (one for node in nodes(function) if (one := called(node, *names)))


def nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Every node of a function's body, in the order of the text."""
    for child in ast.iter_child_nodes(function):
        yield child
        yield from nodes(child)


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument."""
    return next((one.value for one in call.keywords if one.arg == name), None)


def blocks(function: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements."""
    for node in (function, *nodes(function)):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def rebuilt(text: Text, call: ast.Call, without: tuple[str, ...], positional: int = -1) -> str:
    """The call without some keyword arguments, or without one that has a place."""
    given = [text.of(one) for at, one in enumerate(call.args) if at != positional]
    given += [f"{one.arg}={text.of(one.value)}" for one in call.keywords if one.arg not in without]
    return f"{text.of(call.func)}({', '.join(given)})"
