"""Read the text of a file into a unit, which has its functions and constants. Nothing is run.

`allowed` then checks what these definitions hold.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.triton.said import Said, said_in
from dtpoly.verify.triton.unit.ambiguous_characters import check_tokens, lines_of
from dtpoly.verify.triton.unit.forms import is_docstring
from dtpoly.verify.triton.unit.unit_scopes import MEANING
from dtpoly.verify.triton.unit.words import FIXED, IMPORTS

JITTED = ["triton.jit"]
# The text with which a generated file runs a test when it is run, but not when it is imported. It
# binds no name.
MAIN = """\
if __name__ == '__main__':
    {test}(**{{name: int(size) for name, size in (one.split('=') for one in sys.argv[1:])}})"""


@dataclass(frozen=True)
class Planned:
    """A function that a file makes of a plan and its kernels: the literal, and where it stands."""

    function: str
    literal: ast.expr
    kernels: tuple[str, ...]
    line: int
    # How the runtime is known that carries the plan out (see helpers).
    runtime: str


@dataclass(frozen=True)
class Unit:
    """The definitions of a file, by name.

    `jitted` has the kernels and functions of Triton, and `plain` has the functions of Python, such
    as a test.
    """

    text: str
    lines: tuple[str, ...]
    jitted: dict[str, ast.FunctionDef]
    plain: dict[str, ast.FunctionDef]
    # The text of each function and constant. Indentation is kept, since it is part of the
    # meaning.
    texts: dict[str, str]
    # The expression of each constant.
    values: dict[str, ast.expr]
    # The imported modules, by the names that the file gives them.
    imported: frozenset[str] = frozenset()
    # The `# verify:` and `# assume:` lines of the file.
    said: tuple[Said, ...] = ()
    # The function that the file runs when it is run itself.
    test: str | None = None
    # The functions that are made of plans, by the name of the Func that they compute.
    plans: Mapping[str, Planned] = field(default_factory=dict[str, Planned])


@dataclass
class _UnitReading:
    """The part of a unit that has been read so far."""

    lines: list[str]
    jitted: dict[str, ast.FunctionDef] = field(default_factory=dict[str, ast.FunctionDef])
    plain: dict[str, ast.FunctionDef] = field(default_factory=dict[str, ast.FunctionDef])
    texts: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, ast.expr] = field(default_factory=dict[str, ast.expr])
    imported: set[str] = field(default_factory=set[str])
    test: str | None = None
    # The last line that has been read.
    last: int = 0


def read_unit(text: str) -> Unit:
    """Read a whole file as one unit, without a look into its functions. Raises Unread."""
    lines = lines_of(text)
    try:
        module = ast.parse("\n".join(lines))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # This runs nothing. It refuses what a tree may hold but Python does not
            # accept, such as a parameter that is there twice.
            compile("\n".join(lines), "unit", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        raise Unread(line or 1, f"this is not Python: {error}") from error
    check_tokens(lines)
    reading = _UnitReading(lines)
    for node in module.body:
        _read(reading, node)
    return Unit(
        text,
        lines=tuple(lines),
        jitted=reading.jitted,
        plain=reading.plain,
        texts=reading.texts,
        values=reading.values,
        imported=frozenset(reading.imported),
        said=said_in("\n".join(lines)),
        test=reading.test,
    )


def _read(reading: _UnitReading, node: ast.stmt) -> None:
    """Read one statement of a module.

    Each statement must begin at the start of a line, and no two may share a line. Raises Unread.
    """
    first = min((node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))))
    if node.col_offset != 0 or first <= reading.last or reading.test is not None:
        raise Unread(first, f"{_first_line(node)} at this place")
    reading.last = node.end_lineno or node.lineno
    match node:
        case ast.FunctionDef(name=one, decorator_list=decorators):
            words = [ast.unparse(decorator) for decorator in decorators]
            if decorators and words != JITTED:
                raise Unread(node.lineno, f"the decorators of '{one}'")
            if node.body[0].lineno <= node.lineno:
                raise Unread(node.lineno, f"the body of '{one}' in the line of its 'def'")
            (reading.jitted if decorators else reading.plain)[one] = node
        case ast.Assign(targets=[ast.Name(id=one)], value=value):
            reading.values[one] = value
        case ast.Import(names=names) if ast.unparse(node) in IMPORTS and not reading.texts:
            reading.imported.update(one.asname or one.name for one in names)
            return
        case ast.Expr() if is_docstring(node):
            return
        case ast.If() if (test := _test_of(node)) in reading.plain:
            reading.test = test
            return
        case _:
            what = f"{_first_line(node)}: nothing of that kind may stand outside of functions"
            raise Unread(node.lineno, what)
    if one in reading.texts:
        raise Unread(node.lineno, f"'{one}' is defined twice")
    if one in FIXED:
        raise Unread(node.lineno, f"'{one}' {MEANING}")
    own = reading.lines[node.lineno - 1 : node.end_lineno]
    reading.texts[one] = "\n".join(map(str.rstrip, own))


def _first_line(node: ast.stmt) -> str:
    return f"'{ast.unparse(node).strip().splitlines()[0]}'"


def _test_of(node: ast.If) -> str | None:
    """Return the function that a file runs if it is run itself, in the form of generated files."""
    match node.body:
        case [ast.Expr(value=ast.Call(func=ast.Name(id=one)))]:
            return one if ast.unparse(node) == MAIN.format(test=one) else None
        case _:
            return None
