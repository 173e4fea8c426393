"""Says what the rest of a module may do to the names that a kernel uses, beside setting them.

What surely reaches the names is refused. What hands them on may leave them as they are, and most
often does: it is an assumption, which says where that is.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from dtpoly.extract.hidden_changes import handed_on, hidden_changes, modules_by_name
from dtpoly.extract.meanings import Constant, Helper, Imported, imported_from, is_jit, meaning
from dtpoly.extract.python_modules import Module, imported_module


def check_effects(modules: Sequence[Module], used: Mapping[str, AbstractSet[str]]) -> None:
    """Refuse modules that may set names by a table or a text, or names of each other.

    `used` are the names that are used of each module, by the name of its file. Raises DtpolyError.
    """
    for module in modules:
        for found in hidden_changes(module.tree, module.names):
            title = f"'{found.text}' may give the names of a module other meanings"
            way = "copy the kernel into a file of its own"
            raise module.refused(found.line, title, "which names it sets is not known", way)
        others = {
            name for one in modules if one is not module for name in used.get(one.path.name, ())
        }
        _check_elsewhere(module, others)


def _check_elsewhere(module: Module, names: AbstractSet[str]) -> None:
    """Refuse a module that sets a part of another module of the project that is used."""
    for root, changes in module.changes.items():
        of = next((one.module for one in module.names.get(root, ()) if one.module), None)
        if of is None or (imported_module(module, of) is None and not of.startswith(".")):
            continue
        is_helper = isinstance(meaning_without_changes(module, root), Helper)
        for change in changes:
            words = change.words & names
            if words or not change.words or (is_helper and change.words):
                title = f"line {change.line} changes what is in '{root}'"
                way = "copy what the kernel uses into one module"
                raise module.refused(change.line, title, "which the kernel uses", way)


def meaning_without_changes(module: Module, name: str) -> object:
    """Return what a name is if nothing sets a part of it."""
    return meaning(Module(module.source, module.tree, module.lines, module.names, {}), name)


def assumed_effects(module: Module, used: AbstractSet[str]) -> Iterator[str]:
    """Yield what must be true of the lines of a module that hand on what a kernel uses."""
    modules = {
        name
        for name, bindings in module.names.items()
        if any((one.module or "").partition(".")[0] == "triton" for one in bindings)
    }
    jitted = {
        id(node)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef)
        and any(is_jit(module, one) for one in node.decorator_list)
    }
    modules |= {name for name in used if isinstance(meaning(module, name), Imported)}
    objects = {name for name in used - modules if _may_be_changed(module, name)}
    for name, lines in handed_on(module.tree, objects, modules, jitted).items():
        where = f"{_at(lines)} of '{module.path.name}'"
        yield f"{where} {_hand(lines)} on '{name}', which stays as it is"
    for found in modules_by_name(module.tree):
        text = f"'{found.text}' in line {found.line} of '{module.path.name}'"
        yield f"{text} changes no meaning of a name that the kernel uses"
    for root, changes in module.changes.items():
        if _is_elsewhere(module, root):
            lines = tuple(dict.fromkeys(one.line for one in changes))
            yield (
                f"what {_at(lines)} of '{module.path.name}' {_sets(lines)} in '{root}' is nothing "
                "that the kernel, or Triton, uses"
            )


def _may_be_changed(module: Module, name: str) -> bool:
    """Return whether a name is an object that others may change, and not a number."""
    of = meaning(module, name)
    return not isinstance(of, Constant) or of.is_object


def _is_elsewhere(module: Module, root: str) -> bool:
    """Return whether a name is a part of another library than Triton."""
    found = module.names.get(root, ())
    of = found[0].module if found else None
    if of is None or of.partition(".")[0] == "triton":
        return False
    return imported_from(module, root) is None and imported_module(module, of) is None


def _at(lines: Sequence[int]) -> str:
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"


def _hand(lines: Sequence[int]) -> str:
    return "hand" if len(lines) > 1 else "hands"


def _sets(lines: Sequence[int]) -> str:
    return "set" if len(lines) > 1 else "sets"
