"""Read a file of kernels: one in which functions are made of plans, or one that a person wrote.

A file with plans has kernels, a literal for each plan, the runtime (its text, or the import of
it), and `function = dt_function(function_plan, kernel, ...)`. The runtime is known by the hash of
its text. What is left without these is a unit as in any other file, and is checked as such. A file
that a person wrote says in `# verify:` lines how its kernels are launched. No other file is read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace

from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.plan.plan_forms import plan_of
from dtpoly.verify.plan.runtime import MAKER, Found, runtime_in
from dtpoly.verify.triton.said import said_in
from dtpoly.verify.triton.unit.allowed import check_unit
from dtpoly.verify.triton.unit.ambiguous_characters import lines_of
from dtpoly.verify.triton.unit.unit import Planned, Unit, read_unit
from dtpoly.verify.triton.unit.unit_scopes import bindings, check_new

# What shows that a file is of this form. A file in which a name is only mentioned is refused later.
PLAN = re.compile(r"^\w+ = \{", re.MULTILINE)
CALL = re.compile(rf"^\w+ = {MAKER}\(", re.MULTILINE)
# What shows that dtpoly wrote a file before it wrote plans.
OLD = re.compile(r"^def dt_is_current\(device\):", re.MULTILINE)
TOO_DEEP = "the file is nested too deeply"
WAY = (
    "say in a comment how each kernel is launched:"
    " # verify: kernel[(cdiv(len(m), 64),)](A, out, len(m))"
)


def has_plans(text: str) -> bool:
    """Return whether the functions of a file are made of plans."""
    return PLAN.search(text) is not None and CALL.search(text) is not None


def file_of(program: Program, text: str) -> Unit:
    """Read a file with plans or with `# verify:` lines, and check its forms. Raises Unread."""
    if has_plans(text):
        return file_with_plans(program, text)
    _check_form(text)
    try:
        file = read_unit(text)
        check_unit(file)
    except RecursionError as error:
        raise Unread(1, TOO_DEEP) from error
    return file


def _check_form(text: str) -> None:
    """Refuse a file from which nobody learns how kernels are launched. Raises Unread."""
    if found := OLD.search(text):
        line = text.count("\n", 0, found.start()) + 1
        what = "a file of an older dtpoly, whose functions have no plans"
        raise Unread(line, what, "compile this file again")
    lines = lines_of(text)
    if not said_in("\n".join(lines)):
        _syntax_of(lines)
        what = "the file has no plans, and no '# verify:' lines that say how kernels are launched"
        raise Unread(1, what, WAY)


@dataclass(frozen=True, slots=True)
class Parts:
    """The statements of a file that are not of kernels: plans, functions, and the runtime."""

    literals: dict[str, ast.Assign]
    functions: dict[str, Planned]
    statements: tuple[ast.stmt, ...]
    runtime: Found


def file_with_plans(program: Program, text: str) -> Unit:
    """Read a file whose functions are made of plans, and check its forms. Raises Unread."""
    unit, parts = unit_with_plans(text)
    return replace(unit, plans=_by_func(program, unit, parts))


def check_file(text: str) -> None:
    """Refuse a file with anything in it that dtpoly does not write. Raises Unread."""
    _, parts = unit_with_plans(text)
    for planned in parts.functions.values():
        plan_of(planned.literal)


def unit_with_plans(text: str) -> tuple[Unit, Parts]:
    """Read the kernels of a file, and its other parts. Raises Unread."""
    lines = lines_of(text)
    try:
        parts = _parts(_syntax_of(lines).body, lines)
        left = _without(lines, parts)
        # Triton looks for the end of a kernel in the file as it is.
        unit = replace(read_unit("\n".join(left)), text=text, lines=tuple(lines))
        check_unit(unit, parts.runtime.names, frozenset(parts.functions))
    except RecursionError as error:
        raise Unread(1, TOO_DEEP) from error
    _check_names(unit, parts)
    if unit.said:
        raise Unread(unit.said[0].line, "a file with plans, which says itself what it launches")
    return unit, parts


def _syntax_of(lines: Sequence[str]) -> ast.Module:
    """Parse a file, or say that it is not Python. Raises Unread."""
    try:
        return ast.parse("\n".join(lines))
    except RecursionError as error:
        raise Unread(1, TOO_DEEP) from error
    except (SyntaxError, ValueError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        raise Unread(line or 1, f"this is not Python: {error}") from error


def _parts(body: Sequence[ast.stmt], lines: Sequence[str]) -> Parts:
    """Find the statements that are not of kernels. Each has lines of its own. Raises Unread."""
    runtime = runtime_in(body, lines)
    literals, functions = dict[str, ast.Assign](), dict[str, Planned]()
    unused = dict[str, ast.Assign]()
    own, last = list[ast.stmt](), 0
    for node in body:
        is_known = True
        match node:
            case _ if node in runtime.statements:
                pass
            case ast.Assign(targets=[ast.Name(id=one)], value=ast.Dict()):
                if one in literals:
                    raise Unread(node.lineno, f"'{one}' is defined twice")
                literals[one] = unused[one] = node
            case ast.Assign(
                targets=[ast.Name(id=one)], value=ast.Call(func=ast.Name(id=made)) as call
            ) if made == MAKER:
                if one in functions:
                    raise Unread(node.lineno, f"'{one}' is defined twice")
                if not runtime.is_above(node):
                    raise Unread(node.lineno, f"'{MAKER}' is not there yet")
                functions[one] = _planned(one, call, unused, runtime)
            case _:
                is_known = False
        if is_known:
            own.append(node)
            if node.col_offset != 0 or node.lineno <= last:
                raise Unread(node.lineno, "two statements in a line")
        last = node.end_lineno or node.lineno
    if unused:
        one = min(unused)
        raise Unread(literals[one].lineno, f"'{one}', which no function is made of")
    return Parts(literals, functions, tuple(own), runtime)


def _planned(
    function: str, call: ast.Call, unused: dict[str, ast.Assign], runtime: Found
) -> Planned:
    """Return the function that a call makes of a plan, which stands above, and of kernels.

    No other function is made of that plan.
    """
    match call:
        case ast.Call(args=[ast.Name(id=plan), *kernels], keywords=[]) if plan in unused:
            names = [one.id for one in kernels if isinstance(one, ast.Name)]
            if len(names) == len(kernels):
                literal = unused.pop(plan).value
                return Planned(function, literal, tuple(names), call.lineno, runtime.known)
        case _:
            pass
    raise Unread(call.lineno, f"'{ast.unparse(call)}' for '{function}'")


def _without(lines: Sequence[str], parts: Parts) -> list[str]:
    """Return the lines of a file, with nothing in those of some statements."""
    left = [*lines]
    for node in parts.statements:
        end = node.end_lineno or node.lineno
        first = min(node.lineno, *(d.lineno for d in getattr(node, "decorator_list", [])), end)
        behind = lines[end - 1][node.end_col_offset or 0 :].strip()
        if behind and not behind.startswith("#"):
            raise Unread(end, "two statements in a line")
        left[first - 1 : end] = [""] * (end - first + 1)
    return left


def _check_names(unit: Unit, parts: Parts) -> None:
    """Refuse a name that two parts of the file give to two things. Raises Unread."""
    ours = [*parts.literals, *parts.functions, *parts.runtime.names]
    seen = {*unit.texts, *unit.imported}
    for one in ours:
        if one in seen:
            raise Unread(1, f"'{one}' is defined twice")
        check_new(one, 1, frozenset())
        seen.add(one)
    fixed = frozenset(ours)
    for function in unit.jitted.values():
        for one, line in bindings(function):
            if one in parts.runtime.names:
                check_new(one, line, fixed)
    for planned in parts.functions.values():
        for one in planned.kernels:
            if one not in unit.jitted:
                raise Unread(planned.line, f"'{one}' is no kernel")
            if unit.jitted[one].lineno > planned.line:
                raise Unread(planned.line, f"'{one}' is not there yet")


def _by_func(program: Program, unit: Unit, parts: Parts) -> dict[str, Planned]:
    """Return the functions by the Funcs that they compute.

    Where Python needs the name of a Func for itself, the function has an underscore behind it.
    """
    if not parts.functions:
        raise Unread(1, "no function is made of a plan")
    found = dict[str, Planned]()
    for func in program.funcs:
        for one in (func.name, f"{func.name}_"):
            if one in unit.plain:
                raise Unread(unit.plain[one].lineno, f"'{one}', which is not made of a plan")
            if one in parts.functions and func.name not in found:
                found[func.name] = parts.functions[one]
    for planned in parts.functions.values():
        if planned not in found.values():
            what = f"'{planned.function}', which is not the name of a Func"
            raise Unread(planned.line, what)
    return found
