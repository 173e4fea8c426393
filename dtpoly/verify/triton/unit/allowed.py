"""Refuse a unit that has anything in it that is not of a known form.

The functions that dtpoly writes into each file are known by their text, to the letter. All other
functions are checked node by node and name by name, also if nothing calls them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.triton.helpers import HELPERS
from dtpoly.verify.triton.unit.depth import check_depth
from dtpoly.verify.triton.unit.extraction import check_extracted
from dtpoly.verify.triton.unit.forms import KERNEL, PYTHON, check_forms, is_constant, is_known_word
from dtpoly.verify.triton.unit.scopes import Scope, check_names, check_new
from dtpoly.verify.triton.unit.texts import fingerprint, needed_by
from dtpoly.verify.triton.unit.unit import AGAIN, Unit
from dtpoly.verify.triton.unit.words import BUILTINS, BUILTINS_OF_KERNELS, INTERPRETER, MODULES

DESCRIPTORS = "triton.tools.tensor_descriptor"
# The functions that are called while a file is loaded. Those that make operators are listed with
# the number of texts that say which types the operator takes.
OPERATORS = {"dt_operator": 1, "dt_operator_with_numbers": 2}
LAUNCHER = "dt_launcher"


def check_unit(unit: Unit) -> None:
    """Check that a unit has known forms only, and names that mean what is read. Raises Unread."""
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
            check_names(function, _scope_of_functions(unit))
            check_forms(function, PYTHON)
        elif not is_own(unit, one):
            raise Unread(function.lineno, f"'{one}' is not the function that is known by that name")
    for one, value in unit.values.items():
        check_new(one, value.lineno, INTERPRETER)
        _check_value(unit, one, value)
    if unit.again and not is_own(unit, AGAIN):
        raise Unread(1, f"the text of '{AGAIN}', which is called when the file is loaded")
    if unit.again and (late := sorted({*needed_by(unit.texts, AGAIN)} - unit.ready)):
        raise Unread(1, f"'{AGAIN}' needs '{late[0]}', which is not there yet where it is called")
    _check_operators(unit)
    _check_launches(unit)
    _check_imports(unit)
    _check_order(unit)


def is_own(unit: Unit, one: str) -> bool:
    """True if a function or constant of Python, and all that it uses, has its known text."""
    # The known text of a function leaves out its decorators. So we also look that none of them is
    # a function of Triton.
    is_python = not any(found in unit.jitted for found in needed_by(unit.texts, one))
    return is_python and fingerprint(unit.texts, one) == HELPERS.get(one)


def _own(unit: Unit) -> frozenset[str]:
    return frozenset(HELPERS.keys() & unit.texts.keys())


def _scope_of_kernels(unit: Unit) -> Scope:
    given = frozenset(unit.jitted)
    fixed = given | _own(unit) | unit.values.keys() | INTERPRETER
    return Scope(BUILTINS_OF_KERNELS, given, fixed)


def _scope_of_functions(unit: Unit) -> Scope:
    fixed = frozenset(unit.jitted) | _own(unit) | unit.values.keys()
    return Scope(BUILTINS, frozenset(unit.texts), fixed)


def _check_value(unit: Unit, one: str, value: ast.expr) -> None:
    """Refuse a constant whose expression does more than make a value. Raises Unread."""
    match value:
        case ast.Call(func=ast.Name(id=maker), keywords=[]) if maker in (*OPERATORS, LAUNCHER):
            if not is_own(unit, maker):
                what = f"the text of '{maker}', which is called when the file is loaded"
                raise Unread(value.lineno, what)
            if not _is_made_as_known(unit, maker, value.args):
                raise Unread(value.lineno, f"'{ast.unparse(value)}'")
        case _ if one in HELPERS:
            if not is_own(unit, one):
                what = f"'{one}' is not the constant that is known by that name"
                raise Unread(value.lineno, what)
        case _ if not all(is_constant(part) or is_known_word(part) for part in _parts(value)):
            raise Unread(value.lineno, f"'{ast.unparse(value)}', which '{one}' is given")
        case _:
            pass


def _is_made_as_known(unit: Unit, maker: str, given: Sequence[ast.expr]) -> bool:
    """True for the arguments of an operator, or of a kernel's launcher.

    An operator is made of two functions and some texts.
    """
    match given:
        case [ast.Constant(value=str()), ast.Name(id=run), ast.Name(id=like), *more]:
            count = OPERATORS.get(maker, 0)
            is_text = all(isinstance(part, ast.Constant) for part in more)
            return is_text and len(more) == count and {run, like} <= unit.plain.keys()
        case [ast.Name(id=kernel), ast.List(elts=places), *more] if maker == LAUNCHER:
            parts = [part for one in more for part in _parts(one)]
            are_texts = all(isinstance(part, ast.Constant) for part in places)
            known = all(isinstance(part, ast.Constant) or _is_own_name(part) for part in parts)
            return kernel in unit.jitted and are_texts and known
        case _:
            return False


def _is_own_name(part: ast.expr) -> bool:
    return isinstance(part, ast.Name) and part.id in HELPERS


def _check_operators(unit: Unit) -> None:
    """Refuse an operator whose name torch does not take, or another one has. Raises Unread.

    Of two operators with one name, torch would run the first for both.
    """
    names = set[str]()
    for value in unit.values.values():
        match value:
            case ast.Call(func=ast.Name(id=maker), args=[ast.Constant(value=str() as one), *_]) if (
                maker in OPERATORS
            ):
                if not one.isidentifier():
                    raise Unread(value.lineno, f"an operator '{one}', which torch cannot name so")
                if one in names:
                    raise Unread(value.lineno, f"a second operator '{one}'")
                names.add(one)
            case _:
                pass


def _check_launches(unit: Unit) -> None:
    """Refuse calls of a launcher with other constants than the calls before. Raises Unread.

    A launcher keeps what it ran for a similar call, and tells the values of constants apart by
    their order. So all calls must have constants of the same names in the same order.
    """
    known = dict[str, list[str | None]]()
    for function in unit.plain.values():
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Name(id=one), keywords=keywords) if one in unit.values:
                    names = [keyword.arg for keyword in keywords]
                    if known.setdefault(one, names) != names:
                        raise Unread(node.lineno, f"'{one}' with other constants than before")
                case _:
                    pass


def _parts(value: ast.expr) -> list[ast.expr]:
    """Return the elements of a list or a tuple; of anything else, the value itself."""
    match value:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return elements
        case _:
            return [value]


def _check_order(unit: Unit) -> None:
    """Refuse a call at load time that stands above something that it needs. Raises Unread."""
    places = {one: at for at, one in enumerate(unit.texts)}
    for one, value in unit.values.items():
        names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        names -= MODULES
        called = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
        needed = sorted({*needed_by(unit.texts, called), *names})
        late = [found for found in needed if places.get(found, -1) > places[one]]
        missing = [found for found in needed if found not in places]
        if late or missing:
            what = (late or missing)[0]
            raise Unread(value.lineno, f"'{one}' needs '{what}', which is not there yet")


def _check_imports(unit: Unit) -> None:
    """Refuse modules that are named and not imported. Raises Unread."""
    parts = (*unit.plain.values(), *unit.jitted.values(), *unit.values.values())
    nodes = [node for part in parts for node in ast.walk(part)]
    named = {node.id for node in nodes if isinstance(node, ast.Name)} & MODULES
    named |= {"sys"} if unit.test is not None else set[str]()
    dotted = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
    for one in sorted((named | (dotted & {DESCRIPTORS})) - unit.imported):
        raise Unread(1, f"'{one}' is not imported")
