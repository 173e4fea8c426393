"""Check that Triton finds the same kernel in a file that dtpoly reads there.

Python runs a file, but Triton compiles a text: it asks `inspect` for the lines of a kernel, and
`inspect` asks `tokenize` where they end. From these lines Triton's compiler takes everything from
the first line on that begins with `def`, and Triton's interpreter everything from the last one on.
This module does both again, and each must give the tree that Python has.

It finds the end of a block as `inspect.BlockFinder` of Python 3.11, 3.12 and 3.13 does. These
differ only in what they do after a mistake of `tokenize`, which is refused here. What the versions
of `tokenize` make of a text differs for continued lines, form feeds, letters that are not ASCII,
and f-strings (which kernels may not have): `characters` and `forms` let none of these through.
"""

from __future__ import annotations

import ast
import copy
import re
import textwrap
import tokenize
from collections.abc import Sequence
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Unread

DECORATOR = "@triton.jit"
DEFINITION = re.compile(r"^def\s+\w+\s*\(", re.MULTILINE)
OTHER = "Triton would compile another text than is read here"
ASIDE = (tokenize.COMMENT, tokenize.NL)


def check_extracted(lines: Sequence[str], kernel: ast.FunctionDef) -> None:
    """Refuse a kernel if Triton finds another text in the file than Python runs. Raises Unread."""
    first = kernel.decorator_list[0].lineno
    if kernel.lineno != first + 1 or lines[first - 1].rstrip() != DECORATOR:
        raise Unread(first, f"'{DECORATOR}' must have the line above 'def' for itself")
    block = block_of(lines[first - 1 :], kernel.lineno)
    texts = dict.fromkeys((compiled_text(block), interpreted_text(block)))  # mostly the same text
    wanted = _shown(kernel, kernel.lineno)
    for text in texts:
        try:
            body = ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Unread(kernel.lineno, f"'{kernel.name}': {OTHER}") from error
        match body:
            case [ast.FunctionDef() as found] if _shown(found, 1) == wanted:
                continue
            case _:
                raise Unread(kernel.lineno, f"'{kernel.name}': {OTHER}")


def compiled_text(block: Sequence[str]) -> str:
    """Return the text of a kernel that Triton compiles, cut out as `JITFunction` does it."""
    text = textwrap.dedent("".join(block))
    found = DEFINITION.search(text)
    return "" if found is None else text[found.start() :]


def interpreted_text(block: Sequence[str]) -> str:
    """Return the text that Triton's interpreter runs: from the last line that begins with `def`."""
    starts = [at for at, line in enumerate(block) if line.strip().startswith("def ")]
    return textwrap.dedent("".join(block[starts[-1] :])) if starts else ""


def _shown(function: ast.FunctionDef, first: int) -> list[str]:
    """Return the tree of a function without its decorator, and where each part of it stands."""
    bare = copy.copy(function)
    bare.decorator_list = []
    return [ast.dump(bare), *(_place(node, first) for node in ast.walk(bare))]


def _place(node: ast.AST, first: int) -> str:
    match node:
        case ast.stmt() | ast.expr() | ast.arg() | ast.keyword():
            rows = node.lineno - first, (node.end_lineno or 0) - first
            return f"{rows} {node.col_offset} {node.end_col_offset}"
        case _:
            return ""


@dataclass(frozen=True)
class BlockSearch:
    """The state of the search for the end of a function, as `inspect.BlockFinder` keeps it."""

    is_started: bool = False
    is_decorator: bool = False
    is_skipping: bool = False
    depth: int = 0
    column: int | None = None
    last: int = 1
    is_over: bool = False


def block_of(lines: Sequence[str], line: int = 1) -> list[str]:
    """Return the lines of a function, as `inspect.getblock` cuts them.

    `lines` begins with the first line of the function.
    """
    # The tokens are read one by one, since most of a file stands below the block.
    ended = (f"{one}\n" for one in lines)
    block = BlockSearch()
    try:
        for token in tokenize.generate_tokens(ended.__next__):
            block = _after(block, token)
            if block.is_over:
                break
    except (tokenize.TokenError, SyntaxError) as error:
        raise Unread(line, f"where this function ends: {error}") from error
    return [f"{one}\n" for one in lines[: block.last]]


def _after(block: BlockSearch, token: tokenize.TokenInfo) -> BlockSearch:
    """Return the state of the search after one more token."""
    row, column = token.start
    match token.type:
        case _ if not block.is_started and not block.is_decorator:
            is_started = token.string in ("def", "class", "lambda")
            is_decorator = token.string == "@"
            return replace(
                block, is_started=is_started, is_decorator=is_decorator, is_skipping=True
            )
        case tokenize.NEWLINE:
            return replace(block, is_skipping=False, last=row, is_decorator=False)
        case _ if block.is_skipping:
            return block
        case tokenize.INDENT:
            start = token.end[1] if block.column is None and block.is_started else block.column
            return replace(block, column=start, depth=block.depth + 1, is_skipping=True)
        case tokenize.DEDENT:
            return replace(block, depth=block.depth - 1, is_over=block.depth <= 1)
        case tokenize.COMMENT if block.column is not None and column >= block.column:
            return replace(block, last=row)
        case _:
            return replace(block, is_over=block.depth == 0 and token.type not in ASIDE)
