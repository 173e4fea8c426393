"""Read the text of a kernel file, and give its functions and parameters the names of the Program.

The compiler adds an underscore to a name that Python needs for itself: a label `lambda` becomes the
parameter `lambda_`, and a Func `class` is computed by the function `class_`. This module takes that
back, so that the rest of the verifier can compare names directly.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from dataclasses import replace

from dtpoly.algorithm.program import Program
from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.triton.unit.allowed import check_unit
from dtpoly.verify.triton.unit.unit import Unit, read_unit
from dtpoly.verify.triton.unit.words import MODULES

# The names of operators end so. A wrapper passes its sizes to an operator by name, so the keywords
# of such calls are renamed too.
OPERATOR = "_operator"


def file_of(program: Program, text: str) -> Unit:
    """Read a file, check its forms, and return it with the Program's names. Raises Unread."""
    try:
        file = read_unit(text)
        check_unit(file)
    except RecursionError as error:
        raise Unread(1, "the file is nested too deeply") from error
    return file if file.said else as_declared(file, program)


def as_declared(file: Unit, program: Program) -> Unit:
    """Rename the wrappers of a file, and their parameters, to what the Program calls them."""
    declared = {one.name for one in (*program.inputs, *program.funcs, *program.labels)}
    names = {f"{one}_": one for one in declared - MODULES if f"{one}_" not in declared}
    plain = dict(file.plain)
    for func in program.funcs:
        written = f"{func.name}_" if func.name not in file.plain else func.name
        found = plain.get(written)
        if found is not None and (written == func.name or written in names):
            own = {one: name for one, name in names.items() if _is_there(one, name, found)}
            plain[func.name] = _renamed(found, own | {written: func.name})
    return replace(file, plain=plain)


def _is_there(one: str, name: str, wrapper: ast.FunctionDef) -> bool:
    """True if a wrapper has a parameter `one`, and none with the Program's own name `name`."""
    parameters = {arg.arg for arg in (*wrapper.args.args, *wrapper.args.kwonlyargs)}
    return one in parameters and name not in parameters


def _renamed(wrapper: ast.FunctionDef, names: Mapping[str, str]) -> ast.FunctionDef:
    if all(one == name for one, name in names.items()):
        return wrapper
    made = copy.deepcopy(wrapper)
    for node in ast.walk(made):
        match node:
            case ast.Name(id=one) if one in names:
                node.id = names[one]
            case ast.arg(arg=one) if one in names:
                node.arg = names[one]
            case ast.Call(func=ast.Name(id=one)) if one in (
                *names,
                *names.values(),
            ) or one.endswith(OPERATOR):
                for keyword in node.keywords:
                    keyword.arg = names.get(keyword.arg or "", keyword.arg)
            case _:
                pass
    return made
