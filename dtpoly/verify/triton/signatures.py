"""Say how a call of Triton may be written, with its arguments by place and by name.

Python binds the arguments, and Triton looks at some of them only while it compiles. An argument
that neither looks at must be a word or a number as written, since any other text could do more.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Unread


@dataclass(frozen=True, slots=True)
class WrittenForm:
    """The form that an argument must have in the text: its name in messages, and a test of it."""

    name: str
    is_it: Callable[[ast.expr], bool]


@dataclass(frozen=True, slots=True)
class Signature:
    """The ways to write a call of an operation. A call with another option is not understood."""

    # The arguments that are given by place, where they may be given by name instead.
    placed: tuple[str, ...] = ()
    # The arguments that may be given by name.
    options: tuple[str, ...] = ()
    # The most arguments that may be given by place, and how many there may be; None where whoever
    # reads them looks at that.
    most: int | None = None
    counts: tuple[int, ...] | None = None
    # Options about the cache, or about the order of other memory, change no value. Each must be one
    # of these words as written, since nothing else looks at it.
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    # What each argument after the first must be as written; None if it may be anything.
    written: WrittenForm | None = None

    def by_name(self, args: list[ast.expr], named: Mapping[str, ast.expr]) -> dict[str, ast.expr]:
        """Return the arguments by their names, whether they are given by place or by name."""
        return {**dict(zip(self.placed, args, strict=False)), **named}

    def check(self, args: list[ast.expr], named: Mapping[str, ast.expr], node: ast.Call) -> None:
        """Refuse a call whose arguments Triton does not take. Raises Unread."""
        text = f"'{ast.unparse(node)}'"
        if set(named) - {*self.options, *self.words}:
            raise Unread(node.lineno, text)
        if self.most is not None and len(args) > self.most:
            raise Unread(node.lineno, text)
        twice = sorted(set(self.placed[: len(args)]) & set(named))
        if twice:
            raise Unread(node.lineno, f"{text}: '{twice[0]}' is given twice")
        for option, words in self.words.items():
            if option in named and not _is_one_of(named[option], words):
                raise Unread(node.lineno, f"{option}={ast.unparse(named[option])}")
        if self.written is not None and not all(map(self.written.is_it, args[1:])):
            raise Unread(node.lineno, f"{text}: what is no {self.written.name} as written")


def by_place(*placed: str, named: tuple[str, ...] = ()) -> Signature:
    """Return the signature of arguments by place, of which some may be given by name."""
    return Signature(placed, named, len(placed))


def of_count(*counts: int) -> Signature:
    """Return the signature of so many arguments by place, and none by name."""
    return Signature(counts=counts)


def _is_text(node: ast.expr) -> bool:
    """True for a text of Python as written."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_number(node: ast.expr) -> bool:
    """True for a constant of the kernel: a written whole number, a name, or a list of these."""
    match node:
        case ast.Constant(value=int()) | ast.Name():
            return True
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return all(map(_is_number, parts))
        case _:
            return False


def _is_one_of(node: ast.expr, words: tuple[str, ...]) -> bool:
    return isinstance(node, ast.Constant) and node.value in words


TEXT = WrittenForm("text", _is_text)
NUMBER = WrittenForm("number", _is_number)
