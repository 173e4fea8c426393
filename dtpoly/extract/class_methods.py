"""Finds the methods of classes that are functions of Triton, as in `Class.method[grid](...)`.

`Class.method` is what the body of the class binds, if nothing else gives the class or the method
another meaning: a second binding, a decorator of the class, a metaclass, or a statement anywhere
that sets a part of something with that name. A class that only inherits the method is not read: its
bases may be another project's.
"""

import ast
from collections.abc import Iterator

from dtpoly.extract.module_names import Binding, BindingChange, bindings_of
from dtpoly.extract.python_modules import Module

STATIC = "staticmethod"
# Decorators that give a method another first argument, or none at all.
OTHERS = ("classmethod", "property", "cached_property")
PRIVATE = "__"


def method_of(
    module: Module, of: Binding, name: str, method: str
) -> tuple[ast.FunctionDef, tuple[ast.expr, ...]] | tuple[int, str]:
    """Return a method of a class and its decorators; or a line, and why it is not understood."""
    node = of.node
    if not isinstance(node, ast.ClassDef):
        return of.line, f"'{name}' is no class of which methods are known"
    if not of.is_sure:
        return of.line, f"the class '{name}' may not be there"
    if node.decorator_list:
        return of.line, f"'@{ast.unparse(node.decorator_list[0])}' may change '{name}'"
    if node.keywords:
        return of.line, f"'{ast.unparse(node.keywords[0].value)}' may change '{name}'"
    inner = bindings_of(ast.Module(node.body, []))
    found = inner.get(method, ())
    if len(found) != 1 or not found[0].is_sure:
        lines = ", ".join(str(one.line) for one in found)
        why = f"it binds '{method}' in lines {lines}" if found else f"it does not bind '{method}'"
        return of.line, f"{why}, so what '{name}.{method}' is is not known"
    function = found[0].node
    if not isinstance(function, ast.FunctionDef):
        return found[0].line, f"'{name}.{method}' is no function"
    # Default values, annotations and decorators are looked up in the class first.
    heads = (*function.decorator_list, function.args, function.returns)
    for one in (word for head in heads if head is not None for word in _names(head)):
        if one.id in inner:
            return one.lineno, f"'{one.id}' is bound by the class '{name}'"
    for private in _private(function):
        return function.lineno, f"'{private}' has another name in a class"
    kept = [one for one in function.decorator_list if not _is_static(module, one)]
    for said in function.decorator_list:
        word = said.id if isinstance(said, ast.Name) else ""
        if word in OTHERS or (word == STATIC and said in kept):
            return said.lineno, f"'@{word}' may give '{name}.{method}' another argument"
    if len(kept) < len(function.decorator_list) and function.decorator_list[0] in kept:
        return function.lineno, f"'@{STATIC}' is not the first decorator"
    return function, tuple(kept)


def bases_of(of: Binding) -> tuple[str, ...]:
    """Return the bases of a class, whose metaclass may do something with what it binds."""
    assert isinstance(of.node, ast.ClassDef)
    shown = map(ast.unparse, of.node.bases)
    return tuple(one for one in shown if one != "object")


def changes_of_method(module: Module, name: str, method: str) -> Iterator[BindingChange]:
    """Yield the places that set a part of something, which may be this method.

    `cls.method = other` sets a method of a class by another name. Where it is not seen which part
    is set, it counts if it is one of the class.
    """
    for root, changes in module.changes.items():
        for one in changes:
            if method in one.words or (root == name and not one.words):
                yield one


def _names(node: ast.AST) -> Iterator[ast.Name]:
    yield from (one for one in ast.walk(node) if isinstance(one, ast.Name))


def _private(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the names that Python writes in another way inside of a class."""
    for one in ast.walk(function):
        word = one.id if isinstance(one, ast.Name) else ""
        word = one.attr if isinstance(one, ast.Attribute) else word
        word = one.arg if isinstance(one, ast.arg) else word
        if word.startswith(PRIVATE) and not word.endswith(PRIVATE):
            yield word


def _is_static(module: Module, decorator: ast.expr) -> bool:
    """Return whether a decorator is Python's `staticmethod`, which leaves a function as it is."""
    is_bound = STATIC in module.names or "*" in module.names
    return isinstance(decorator, ast.Name) and decorator.id == STATIC and not is_bound
