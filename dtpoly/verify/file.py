"""The text of a file in, its functions out; nothing is run."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Sequence, Set
from dataclasses import field, replace

from dtpoly.frozen import dataclass
from dtpoly.verify.said import Said, said_in
from dtpoly.verify.values import Unread

IMPORTS = (
    *("import hashlib", "import linecache", "import sys", "import threading"),
    *("import torch", "import triton"),
    *("import triton.language as tl", "import triton.tools.tensor_descriptor"),
)
# These are read as what Python and Triton mean by them. A tensor called so is called otherwise in a
# wrapper, which says them with a dot.
MODULES = frozenset({"hashlib", "linecache", "sys", "threading", "torch", "triton", "tl"})
FIXED = frozenset(dir(builtins)) | MODULES
# What in the first two lines says in which encoding Python reads a file.
ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
# What Python takes for the end of a line; `str.splitlines` has more.
LINE_END = re.compile(r"\r\n|\r|\n")
MAIN = ast.unparse(ast.parse("__name__ == '__main__'"))
# A value made of these alone does nothing when the file is loaded.
PLAIN = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.expr_context),
    *(ast.Dict, ast.Set, ast.Tuple, ast.List, ast.UnaryOp, ast.unaryop),
)
LOCAL = "threading.local()"
CALLED = ("dt_operator", "dt_operator_with_numbers", "dt_launcher")


@dataclass(frozen=True)
class File:
    """The kernels and functions of Triton, the wrappers and functions of Python, by name."""

    text: str
    jitted: dict[str, ast.FunctionDef]
    plain: dict[str, ast.FunctionDef]
    # Of each function and constant its text; how far a line is set in says what it means.
    texts: dict[str, str]
    # What each constant is.
    values: dict[str, ast.expr]
    # The functions that are called when the file is loaded.
    called: set[str]
    # Modules, by the names that the file has for them.
    imported: set[str] = field(default_factory=set[str])
    # What it says of its kernels by `# verify:` and `# assume:`.
    said: tuple[Said, ...] = ()
    # The wrappers that do again what they did for a like call.
    again: frozenset[str] = frozenset()


def read_file(text: str) -> File:
    """The functions of an emitted file. Raises Unread."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        raise Unread(line or 1, f"this is not Python: {error}") from error
    lines = LINE_END.split(text)
    _check_encoding(lines)
    file, again = File(text, {}, {}, {}, {}, set(), said=said_in(text)), set[str]()
    for node in module.body:
        match node:
            case ast.FunctionDef(name=one, decorator_list=decorators):
                is_jitted = [ast.unparse(decorator) for decorator in decorators] == ["triton.jit"]
                if decorators and not is_jitted:
                    raise Unread(node.lineno, f"the decorators of '{one}'")
                _check_signature(node)
                (file.jitted if is_jitted else file.plain)[one] = node
            case ast.Assign(
                targets=[ast.Name(id=one)],
                value=ast.Call(func=ast.Name(id="dt_again"), args=[ast.Name(id=same)], keywords=[]),
            ) if one == same and {one, "dt_again"} <= file.plain.keys() - again:
                file.called.add("dt_again")
                again.add(one)
                continue
            case ast.Assign(targets=[ast.Name(id=one)], value=value):
                _check_value(file, value)
                file.values[one] = value
            case ast.Import(names=names) if ast.unparse(node) in IMPORTS and not file.texts:
                file.imported.update(one.asname or one.name for one in names)
                continue
            case ast.Expr(value=ast.Constant(value=str())):
                continue
            case ast.If(test=test, orelse=[]) if ast.unparse(test) == MAIN:
                # It does not run where the file is imported.
                continue
            case _:
                raise Unread(node.lineno, f"'{ast.unparse(node).splitlines()[0]}'")
        if one in file.texts:
            raise Unread(node.lineno, f"'{one}' is defined twice")
        if one in FIXED:
            raise Unread(node.lineno, f"'{one}' is defined, which has a meaning of its own")
        file.texts[one] = "\n".join(map(str.rstrip, lines[node.lineno - 1 : node.end_lineno]))
    fixed = FIXED | file.jitted.keys() | {one for one in file.texts if one.startswith("dt_")}
    for function in file.jitted.values():
        _check_names(function, fixed)
    for function in file.plain.values():
        _check_names(function, fixed | file.values.keys())
    return replace(file, again=frozenset(again))


def _check_encoding(lines: Sequence[str]) -> None:
    """Python must read the characters that are read here. Raises Unread."""
    for number, line in enumerate(lines[:2], start=1):
        said = ENCODING.match(line)
        if said is not None and said[1].lower().replace("_", "-") not in ("utf-8", "utf8"):
            raise Unread(number, f"the encoding '{said[1]}'")


def _check_names(function: ast.FunctionDef, fixed: Set[str]) -> None:
    """Inside, nothing may hide what is read as Python's, Triton's, or the file's. Raises Unread."""
    inside = (part for statement in function.body for part in ast.walk(statement))
    for part in (*ast.walk(function.args), *inside):
        match part:
            case (
                ast.FunctionDef(name=one, lineno=line)
                | ast.arg(arg=one, lineno=line)
                | ast.Name(id=one, ctx=ast.Store(), lineno=line)
                | ast.ExceptHandler(name=str() as one, lineno=line)
            ) if one in fixed:
                raise Unread(line, f"'{one}' is defined, which has a meaning of its own")
            case ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
                raise Unread(part.lineno, f"'{ast.unparse(part)}'")
            case _:
                pass


def _check_signature(node: ast.FunctionDef) -> None:
    """Defaults and annotations are evaluated when the file is loaded. Raises Unread."""
    given = node.args
    annotations = [one.annotation for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    for part in (*given.defaults, *given.kw_defaults, *annotations, node.returns):
        if part is not None and not _is_plain(part):
            raise Unread(part.lineno, f"'{ast.unparse(part)}' in the signature of '{node.name}'")


def _check_value(file: File, value: ast.expr) -> None:
    """What a constant is given must do nothing else. Raises Unread."""
    match value:
        case ast.Call(func=ast.Name(id=one), args=args, keywords=[]) if one in CALLED:
            parts: list[ast.expr] = args
            file.called.add(one)
        case ast.Call() if ast.unparse(value) == LOCAL:
            parts = []
        case _:
            parts = [value]
    for part in parts:
        if not _is_plain(part):
            raise Unread(part.lineno, f"'{ast.unparse(part)}'")


def _is_plain(value: ast.expr) -> bool:
    return all(isinstance(one, PLAIN) for one in ast.walk(value))
