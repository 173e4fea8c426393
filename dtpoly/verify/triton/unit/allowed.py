"""Refuse a unit that has anything in it that is not of a known form.

The functions that dtpoly writes for a test are known by their text, to the letter. All other
functions are checked node by node and name by name, also if nothing calls them.
"""

from __future__ import annotations

import ast

from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.triton.helpers import HELPERS
from dtpoly.verify.triton.unit.depth import check_depth
from dtpoly.verify.triton.unit.extraction import check_extracted
from dtpoly.verify.triton.unit.forms import KERNEL, PYTHON, check_forms, is_constant, is_known_word
from dtpoly.verify.triton.unit.texts import fingerprint, needed_by
from dtpoly.verify.triton.unit.unit import Unit
from dtpoly.verify.triton.unit.unit_scopes import UnitScope, check_names, check_new
from dtpoly.verify.triton.unit.words import BUILTINS, BUILTINS_OF_KERNELS, INTERPRETER, MODULES

DESCRIPTORS = "triton.tools.tensor_descriptor"


def check_unit(
    unit: Unit, runtime: frozenset[str] = frozenset(), made: frozenset[str] = frozenset()
) -> None:
    """Check that a unit has known forms only, and names that mean what is read. Raises Unread.

    Functions of Python may also use the names of the runtime, and the functions that are made of
    plans.
    """
    if unit.said and (found := sorted(_own(unit))):
        what = f"the file has '{found[0]}' of a generated file, which says itself what it launches"
        raise Unread(unit.said[0].line, what)
    check_depth(unit)
    for one, function in unit.jitted.items():
        check_new(one, function.lineno, INTERPRETER)
        check_extracted(unit.lines, function)
        check_names(function, _scope_of_kernels(unit))
        check_forms(function, KERNEL)
    for one, function in unit.plain.items():
        check_new(one, function.lineno, INTERPRETER)
        if one not in HELPERS:
            check_names(function, _scope_of_functions(unit, runtime, made))
            check_forms(function, PYTHON)
        elif not is_own(unit, one):
            raise Unread(function.lineno, f"'{one}' is not the function that is known by that name")
    for one, value in unit.values.items():
        check_new(one, value.lineno, INTERPRETER)
        _check_value(one, value)
    _check_imports(unit)


def is_own(unit: Unit, one: str) -> bool:
    """True if a function of Python, and all that it uses, has its known text."""
    # The known text of a function leaves out its decorators. So we also look that none of them is
    # a function of Triton.
    is_python = not any(found in unit.jitted for found in needed_by(unit.texts, one))
    return is_python and fingerprint(unit.texts, one) == HELPERS.get(one)


def _own(unit: Unit) -> frozenset[str]:
    return frozenset(HELPERS.keys() & unit.texts.keys())


def _scope_of_kernels(unit: Unit) -> UnitScope:
    given = frozenset(unit.jitted)
    fixed = given | _own(unit) | unit.values.keys() | INTERPRETER
    return UnitScope(BUILTINS_OF_KERNELS, given, fixed)


def _scope_of_functions(unit: Unit, runtime: frozenset[str], made: frozenset[str]) -> UnitScope:
    fixed = frozenset(unit.jitted) | _own(unit) | unit.values.keys() | runtime
    return UnitScope(BUILTINS, frozenset(unit.texts) | runtime | made, fixed)


def _check_value(one: str, value: ast.expr) -> None:
    """Refuse a constant whose expression does more than make a value. Raises Unread."""
    if one in HELPERS:
        raise Unread(value.lineno, f"'{one}' is not the function that is known by that name")
    if not all(is_constant(part) or is_known_word(part) for part in _parts(value)):
        raise Unread(value.lineno, f"'{ast.unparse(value)}', which '{one}' is given")


def _parts(value: ast.expr) -> list[ast.expr]:
    """Return the elements of a list or a tuple; of anything else, the value itself."""
    match value:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return elements
        case _:
            return [value]


def _check_imports(unit: Unit) -> None:
    """Refuse modules that are named and not imported. Raises Unread."""
    parts = (*unit.plain.values(), *unit.jitted.values(), *unit.values.values())
    nodes = [node for part in parts for node in ast.walk(part)]
    named = {node.id for node in nodes if isinstance(node, ast.Name)} & MODULES
    named |= {"sys"} if unit.test is not None else set[str]()
    dotted = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
    for one in sorted((named | (dotted & {DESCRIPTORS})) - unit.imported):
        raise Unread(1, f"'{one}' is not imported")
