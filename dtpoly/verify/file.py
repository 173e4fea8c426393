"""The text of a file in, its functions out; nothing is run."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from dtpoly.verify.values import Unread

IMPORTS = ("import torch", "import triton", "import triton.language as tl")


@dataclass(frozen=True)
class File:
    """The kernels and functions of Triton, the wrappers and functions of Python, by name."""

    text: str
    jitted: dict[str, ast.FunctionDef]
    plain: dict[str, ast.FunctionDef]
    # Of each function and constant its text, with one space between words.
    texts: dict[str, str]


def read_file(text: str) -> File:
    """The functions of an emitted file. Raises Unread."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        raise Unread(line or 1, f"this is not Python: {error}") from error
    lines = text.splitlines()
    file = File(text, {}, {}, {})
    for node in module.body:
        match node:
            case ast.FunctionDef(name=one, decorator_list=decorators):
                is_jitted = [ast.unparse(decorator) for decorator in decorators] == ["triton.jit"]
                if decorators and not is_jitted:
                    raise Unread(node.lineno, f"the decorators of '{one}'")
                (file.jitted if is_jitted else file.plain)[one] = node
            case ast.Assign(targets=[ast.Name(id=one)]):
                pass
            case ast.Import() if ast.unparse(node) in IMPORTS:
                continue
            case ast.Expr(value=ast.Constant(value=str())):
                continue
            case _:
                raise Unread(node.lineno, f"'{ast.unparse(node).splitlines()[0]}'")
        if one in file.texts:
            raise Unread(node.lineno, f"'{one}' is defined twice")
        file.texts[one] = " ".join("\n".join(lines[node.lineno - 1 : node.end_lineno]).split())
    return file
