"""Finds what a name of a module is: a word of Triton, a function of Triton, or a constant."""

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from dtpoly.extract.class_methods import changes_of_method, method_of
from dtpoly.extract.module_names import UNNAMED, Binding, BindingChange
from dtpoly.extract.python_modules import Module, imported_module
from dtpoly.extract.version_tests import by_version
from dtpoly.extract.words_of_triton import meaning_of, written
from dtpoly.frozen import dataclass

# How many imports may stand between a name and what it is.
DEPTH = 8
BUILTINS = frozenset(dir(builtins))
# Modules of Triton, as the verifier writes them: None in their place has none of their words.
MODULES = ("triton", "tl", "tl.math")
# What the value of a constant may be made of.
NUMBERS = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)


@dataclass(frozen=True, slots=True)
class TritonWord:
    """A word of Triton, as the verifier writes it, and what is assumed if it is not quite sure."""

    text: str
    assumed: str = ""


@dataclass(frozen=True, slots=True)
class Helper:
    """A function of Triton, and the decorators or calls that the module puts around it."""

    module: Module
    name: str
    function: ast.FunctionDef
    around: tuple[ast.expr, ...]
    assumed: str = ""


@dataclass(frozen=True, slots=True)
class Constant:
    """A number; Triton may take it as a constant by itself, or because the module says so.

    If it is an object of Triton that holds the number, as `tl.constexpr(2)` is, it may be changed.
    """

    text: str
    is_constexpr: bool
    is_object: bool = False


@dataclass(frozen=True, slots=True)
class Imported:
    """A module of the project."""

    module: Module


@dataclass(frozen=True, slots=True)
class Unclear:
    """A name that is not understood, and why."""

    why: str
    line: int = 0


Meaning = TritonWord | Helper | Constant | Imported | Unclear


def meaning(module: Module, name: str, depth: int = DEPTH) -> Meaning:
    """Return what a name of a module is; `Class.method` is a name, too."""
    if "." in name:
        return _in_class(module, name, depth)
    found = module.names.get(name, ())
    stars = module.names.get("*", ())
    if not found and (of := _by_star(module, name)) is not None and depth:
        return meaning(of, name, depth - 1)
    if not found:
        line = stars[0].line if stars else 0
        return Unclear(f"'{module.path.name}' does not bind '{name}'", line)
    binding, *others = found
    if name in BUILTINS and not any(one.is_sure for one in found):
        why = f"it may be Python's '{name}' if the block in line {binding.line} does not run"
        return Unclear(why, binding.line)
    if (other := _other_by_star(module, name)) is not None:
        return other
    word = meaning_of(found) or _assigned_word(module, found)
    if word is not None:
        return changed(module, word) or TritonWord(word)
    root = with_stand_ins(module, name)
    if root is not None:
        return changed(module, root.text) or root
    only = _only_function(module, name, found, depth) if others else None
    if only is not None:
        return only
    wrapped = _wrapped(module, name, found) if others else None
    chosen = by_version(module, found) if others and wrapped is None else None
    if chosen is not None:
        what = _bound_once(module, name, chosen.binding, depth)
        if isinstance(what, Helper) and name not in module.changes:
            return replace(what, assumed=chosen.assumed)
        return _twice(found)
    if others and wrapped is None:
        return _twice(found)
    what = wrapped or _bound_once(module, name, binding, depth)
    if not isinstance(what, Imported):
        for change in module.changes.get(name, ()):
            return Unclear(f"line {change.line} changes a part of it", change.line)
    return what


def meaning_of_kernel(module: Module, name: str) -> Meaning:
    """Return what a name is that somebody asks to verify: a kernel, also if it is bound again.

    A module may put its kernel into something that launches it, such as a dictionary of tuned
    kernels, and call that by the name of the kernel: `k = {n: tuned(k, n) for n in (16, 32)}`. The
    kernel is the function all the same. Another function that uses the name is not read.
    """
    found = meaning(module, name)
    if not isinstance(found, Unclear) or name in module.changes or "*" in module.names:
        return found
    first, *others = sorted(module.names.get(name, ()), key=lambda one: one.line) or (None,)
    is_again = others and all(one.is_sure and _is_made_of(one, name) for one in others)
    if first is None or not is_again or not isinstance(first.node, ast.FunctionDef):
        return found
    what = _bound_once(module, name, first, DEPTH)
    lines = ", ".join(str(one.line) for one in others)
    said = f"'{name}' of '{module.path.name}' is bound again in line {lines}"
    assumed = f"{said}, and launches the function there"
    return replace(what, assumed=assumed) if isinstance(what, Helper) and first.is_sure else found


def _is_made_of(binding: Binding, name: str) -> bool:
    """Return whether a line sets a name to something that is made of what it was before."""
    match binding.node:
        case ast.Assign(value=value):
            nodes = ast.walk(value)
            return any(isinstance(node, ast.Name) and node.id == name for node in nodes)
        case _:
            return False


def meaning_of_path(module: Module, path: str) -> Meaning:
    """Return what a word behind modules of the project is, such as `layers.Norm.forward`."""
    root, _, rest = path.partition(".")
    of = meaning(module, root)
    if rest and isinstance(of, Imported):
        return changed(module, path) or meaning_of_path(of.module, rest)
    return of if not rest else meaning(module, path)


def _only_function(
    module: Module, name: str, found: Sequence[Binding], depth: int
) -> Helper | None:
    """Return the function that a name is, where all other places set it to None.

    All of these must stand in blocks, as of a test whether Triton is there.
    """
    functions = [one for one in found if isinstance(one.node, ast.FunctionDef)]
    rest = [one for one in found if one not in functions]
    is_in_blocks = not any(one.is_sure for one in found)
    if (
        len(functions) != 1
        or not is_in_blocks
        or name in module.changes
        or not all(map(_is_none, rest))
    ):
        return None
    what = _bound_once(module, name, functions[0], depth)
    lines = ", ".join(str(one.line) for one in rest)
    assumed = f"'{name}' of '{module.path.name}' is its function, not None as in line {lines}"
    return replace(what, assumed=assumed) if isinstance(what, Helper) else None


def _is_none(binding: Binding) -> bool:
    match binding.node:
        case ast.Assign(targets=[ast.Name()], value=ast.Constant(value=None)):
            return True
        case _:
            return False


def _twice(found: Sequence[Binding]) -> Unclear:
    lines = ", ".join(str(one.line) for one in found)
    return Unclear(f"it is bound in lines {lines}, and which of these holds is not known")


def _other_by_star(module: Module, name: str) -> Unclear | None:
    """Return why a name that a module binds is not clear, if `*` may import it, too."""
    for star in module.names.get("*", ()):
        of = imported_module(module, star.module or "")
        is_triton = (star.module or "").partition(".")[0] == "triton"
        if is_triton or (of is not None and name in of.names):
            return Unclear(f"line {star.line} may import another '{name}'", star.line)
    return None


def _by_star(module: Module, name: str) -> Module | None:
    """Return the module from which `*` imports a name, if all these modules are known.

    Just one of them may bind the name, as the order of imports does not count then.
    """
    found: list[Module] = []
    for star in module.names.get("*", ()):
        of = imported_module(module, star.module or "")
        if of is None or not star.is_sure or "__all__" in of.names or "*" in of.names:
            return None
        found += [of] if name in of.names and not name.startswith("_") else []
    return found[0] if len(found) == 1 else None


def _in_class(module: Module, dotted: str, depth: int) -> Meaning:
    """Return what `Class.method` is, also if the class is imported from the same project."""
    name, _, method = dotted.partition(".")
    found = module.names.get(name, ())
    for change in changes_of_method(module, name, method):
        return Unclear(f"line {change.line} may change '{dotted}'", change.line)
    if not found and (of := _by_star(module, name)) is not None and depth:
        return meaning(of, dotted, depth - 1)
    if len(found) != 1 or not method.isidentifier():
        return Unclear(f"'{module.path.name}' does not bind '{name}' once")
    if (other := _other_by_star(module, name)) is not None:
        return other
    (binding,) = found
    if binding.module is not None:
        of = imported_module(module, binding.module)
        if of is None or not binding.word or not depth:
            why = f"line {binding.line} imports '{name}' from '{binding.module}'"
            return Unclear(why, binding.line)
        return meaning(of, f"{binding.word}.{method}", depth - 1)
    method_found = method_of(module, binding, name, method)
    match method_found:
        case (int() as line, str() as why):
            return Unclear(why, line)
        case (ast.FunctionDef() as function, around):
            return _jitted(module, dotted, function, around)
        case _:
            raise AssertionError(method_found)


def _jitted(
    module: Module, name: str, function: ast.FunctionDef, around: tuple[ast.expr, ...]
) -> Helper | Unclear:
    """Return a function whose decorators make it one of Triton, the last one of them first."""
    line = function.lineno
    if not any(is_jit(module, one) for one in around):
        return Unclear("only functions with '@triton.jit' are kernels", line)
    if not is_jit(module, around[-1]):
        word = ast.unparse(around[-1])
        return Unclear(f"'@{word}' below '@triton.jit' may give Triton another text", line)
    return Helper(module, name, function, around)


def _assigned_word(module: Module, bindings: Sequence[Binding]) -> str | None:
    """Return the word of Triton that a name stands for, if all places that bind it agree.

    Some of them may import it, and others set it, as in `tanh = libdevice.tanh`.
    """
    found = {_word_of(module, one) for one in bindings}
    word = found.pop() if len(found) == 1 else None
    is_plain = word is not None and word.count(".") == 1
    return None if len(bindings) == 1 and is_plain else word  # it may be a constant


def _word_of(module: Module, binding: Binding) -> str | None:
    match binding.node:
        case ast.Assign(targets=[ast.Name()], value=ast.Attribute() as value):
            text = ast.unparse(value)
        case _:
            return meaning_of((binding,))
    root, _, words = text.partition(".")
    of = meaning_of(module.names.get(root, ()))
    return None if of is None else written(f"{of}.{words}")


def _bound_once(module: Module, name: str, binding: Binding, depth: int) -> Meaning:
    """Return what a name is that one place of a module binds."""
    if binding.module is not None:
        return _imported(module, binding, depth)
    node = binding.node
    if not isinstance(node, ast.FunctionDef):
        return _constant(module, binding)
    return _jitted(module, name, node, tuple(node.decorator_list))


def _wrapped(module: Module, name: str, bindings: Sequence[Binding]) -> Helper | None:
    """Return a function that statements after it make one of Triton; None if it is none.

    These are `name = triton.jit(name)`, and calls such as `name = triton.heuristics(...)(name)`.
    """
    first, *others = sorted(bindings, key=lambda one: one.line)
    function = first.node
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return None
    around: list[ast.expr] = []
    for one in others:
        match one.node:
            case ast.Assign(
                targets=[ast.Name()],
                value=ast.Call(func=wrapper, args=[ast.Name(id=of)], keywords=[]),
            ) if of == name and one.is_sure and (is_jit(module, wrapper) != bool(around)):
                around.append(wrapper)
            case _:
                return None
    return Helper(module, name, function, tuple(around)) if first.is_sure else None


def is_builtin(module: Module, name: str) -> bool:
    """Return whether a name of a module is surely that of Python."""
    is_bound = name in module.names or "*" in module.names
    return name in BUILTINS and not is_bound and changed(module, name) is None


def imported_from(module: Module, name: str) -> Module | None:
    """Return the module of the project from which a name is imported, if it is."""
    found = module.names.get(name, ())
    of = found[0].module if found and meaning_of(found) is None else None
    return None if of is None else imported_module(module, of)


def _changes_of_others(
    module: Module, is_of_others: Callable[[str], bool]
) -> Iterator[tuple[str, BindingChange]]:
    """Yield what a module sets in things that are not its own, and the name of each.

    What has no name there may be anything.
    """
    for root, changes in module.changes.items():
        if root == UNNAMED or is_of_others(root):
            yield from ((root, one) for one in changes)


def changed(module: Module, text: str) -> Unclear | None:
    """Return why a word of other modules is not clear, if this module sets words of theirs."""

    def is_imported(root: str) -> bool:
        return any(one.module is not None for one in module.names.get(root, ()))

    for root, change in _changes_of_others(module, is_imported):
        of = "what has no name" if root == UNNAMED else f"'{root}'"
        if not change.words or change.words & set(text.split(".")):
            return Unclear(f"line {change.line} changes what is in {of}", change.line)
    return None


def is_jit(module: Module, decorator: ast.expr) -> bool:
    """Return whether a decorator is `triton.jit`, with or without options."""
    if changed(module, "triton.jit") is not None:
        return False
    match decorator.func if isinstance(decorator, ast.Call) else decorator:
        case ast.Name(id=name):
            return _text_of(module, name) == "triton.jit"
        case ast.Attribute(value=ast.Name(id=name), attr="jit"):
            return _text_of(module, name) == "triton"
        case _:
            return False


def root_of_triton(module: Module, name: str, depth: int = DEPTH) -> TritonWord | None:
    """Return what a name is if it is Triton, or a word of it, also if the project hands it on.

    None if it is something else, or if a module that hands it on changes a part of it.
    """
    found = module.names.get(name, ())
    text = meaning_of(found)
    if text is not None:
        return TritonWord(text)
    if len(found) != 1 or found[0].module is None or not found[0].word or not depth:
        return with_stand_ins(module, name)
    of = imported_module(module, found[0].module)
    if of is None or "*" in of.names or _changes_triton(of, depth):
        return None
    return root_of_triton(of, found[0].word, depth - 1)


def _changes_triton(module: Module, depth: int) -> bool:
    """Return whether a module sets words of Triton, or of something that has no name there."""

    def is_of_triton(root: str) -> bool:
        return root_of_triton(module, root, depth - 1) is not None

    return any(True for _ in _changes_of_others(module, is_of_triton))


def with_stand_ins(module: Module, name: str) -> TritonWord | None:
    """Return the module of Triton that a name is, although other lines bind it where it is missing.

    These are `except ImportError: triton = None`, and `else: tl = Placeholder()`. None has no words
    that a kernel could use. Something else may have them, so that is an assumption.
    """
    found = module.names.get(name, ())
    imports = [one for one in found if one.module is not None]
    others = [one for one in found if one.module is None]
    text = meaning_of(imports)
    if text not in MODULES or not others or any(one.is_sure for one in found):
        return None
    doubtful: list[Binding] = []
    for one in others:
        match one.node:
            case ast.Assign(targets=[ast.Name()], value=ast.Constant(value=None)):
                pass
            case ast.Assign(targets=[ast.Name()], value=ast.Call()):
                doubtful.append(one)
            case _:
                return None
    if not doubtful:
        return TritonWord(text)
    lines = ", ".join(str(one.line) for one in doubtful)
    of = f"'{name}' of '{module.path.name}'"
    said = f"{of} is '{text}', as line {imports[0].line} says, and not what line {lines} gives it"
    return TritonWord(text, said)


def _text_of(module: Module, name: str) -> str | None:
    found = root_of_triton(module, name)
    return None if found is None else found.text


def _imported(module: Module, binding: Binding, depth: int) -> Meaning:
    """Return what an import binds, if it is of the same project."""
    assert binding.module is not None
    why = Unclear(f"line {binding.line} imports it from '{binding.module}'", binding.line)
    if not depth:
        return why
    of = imported_module(module, binding.module)
    # A package that imports a module of its own binds the name itself.
    is_own = of is not None and of.path.absolute() == module.path.absolute()
    if binding.word and of is not None and binding.word in of.names and not is_own:
        return meaning(of, binding.word, depth - 1)
    if binding.word:
        dots = binding.module if binding.module.endswith(".") else f"{binding.module}."
        of = imported_module(module, dots + binding.word)
    return why if of is None else Imported(of)


def _constant(module: Module, binding: Binding) -> Constant | Unclear:
    """Return the text of a constant, and whether Triton takes it as one by itself."""
    unclear = Unclear(f"line {binding.line} gives it a value that is no constant", binding.line)
    annotation: ast.expr | None = None
    match binding.node:
        case ast.Assign(targets=[ast.Name()], value=value):
            pass
        case ast.AnnAssign(target=ast.Name(), value=ast.expr() as value, annotation=annotation):
            pass
        case _:
            return unclear
    is_constexpr = annotation is not None and _is_constexpr(module, annotation)
    is_object = False
    match value:
        case ast.Call(func=func, args=[inner], keywords=[]) if _is_constexpr(module, func):
            value, is_constexpr, is_object = inner, True, True
        case _:
            pass
    match value:
        case ast.Attribute(value=ast.Name(id=of), attr=word) if _text_of(module, of) == "tl":
            return changed(module, f"tl.{word}") or Constant(f"tl.{word}", is_constexpr)
        case _ if not all(isinstance(one, NUMBERS) for one in ast.walk(value)):
            return unclear
        case _:
            plain = ast.unparse(value)
            text = plain if isinstance(value, ast.Constant) else f"({plain})"
            return Constant(text, is_constexpr, is_object)


def _is_constexpr(module: Module, node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr="constexpr"):
            return _text_of(module, name) == "tl"
        case ast.Name(id=name):
            return _text_of(module, name) == "tl.constexpr"
        case _:
            return False
