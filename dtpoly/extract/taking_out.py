"""Takes a kernel out of a module: a text that has the kernel, and what it uses, and nothing else.

The text has each function on the lines on which it stands in the module, so that messages about one
are right for the other. What a kernel uses of the module must be understood: its functions of
Triton are taken along, imported words of Triton are written as the verifier knows them, and
constants stand where they are used. What cannot be seen in the text is an assumption.
"""

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence

from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity
from dtpoly.extract.module_names import Binding, bindings_of
from dtpoly.extract.words_of_triton import SAME, meaning_of
from dtpoly.frozen import dataclass
from dtpoly.source import Source, Span

JIT = "@triton.jit"
IMPORTS = ("import triton", "import triton.language as tl")
# What these decorators do is done at a launch, which its `# verify:` line describes.
AT_LAUNCH = ("autotune", "heuristics")
BUILTINS = frozenset(dir(builtins))
# What the value of a constant may be made of.
NUMBERS = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)


@dataclass(frozen=True, slots=True)
class TakenOut:
    """A text with one kernel, and what must be true of the module besides."""

    text: str
    functions: tuple[str, ...]
    assumed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """A place in a line of the module that is written in another way."""

    line: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Module:
    """A module as it was read."""

    source: Source
    lines: tuple[str, ...]
    names: Mapping[str, tuple[Binding, ...]]


def read_module(source: Source) -> Module:
    """Read a module of Python; nothing of it is run. Raises DtpolyError."""
    text = source.text.replace("\r\n", "\n")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) and error.lineno else 1
        raise _refused(source, line, "this is not Python", str(error)) from error
    return Module(source, tuple(text.split("\n")), bindings_of(tree))


def take_out(module: Module, kernel: str) -> TakenOut:
    """Return the text of a kernel, and of what it uses. Raises DtpolyError if that is not clear."""
    functions: dict[str, ast.FunctionDef] = {}
    edits: list[Edit] = []
    assumed: list[str] = []
    waiting, by = [kernel], {kernel: 1}
    while waiting:
        name = waiting.pop()
        if name in functions:
            continue
        found = _function(module, name, by[name])
        functions[name] = found
        assumed += _of_decorators(module, found)
        for node in _free(found):
            if _is_jitted_name(module, node.id):
                waiting.append(node.id)
                by.setdefault(node.id, node.lineno)
                continue
            text, told = _written(module, found, node)
            assumed += told
            if text != node.id:
                assert node.end_col_offset is not None
                edits.append(Edit(node.lineno, node.col_offset, node.end_col_offset, text))
    names = ", ".join(f"'{one}'" for one in sorted(functions))
    only = f"nothing outside of '{module.source.name}' gives {names} another meaning"
    text = _text(module, tuple(functions.values()), edits)
    return TakenOut(text, tuple(functions), (only, *dict.fromkeys(assumed)))


def _refused(source: Source, line: int, title: str, label: str, way: str = "") -> DtpolyError:
    start = source.line_starts[line - 1]
    end = start + len(source.line(line).rstrip())
    span = Span(source, start, max(end, start + 1))
    return DtpolyError((Diagnostic("DT313", Severity.ERROR, title, span, label, hint=way),))


def _function(module: Module, name: str, line: int) -> ast.FunctionDef:
    """Return the one function of Triton with a name."""
    found = module.names.get(name, ())
    if not found:
        why = f"no function of the module is called '{name}'"
        raise _refused(module.source, line, f"there is no kernel '{name}'", why)
    node = found[0].node
    if len(found) > 1:
        lines = ", ".join(str(one.line) for one in found)
        why = f"it is bound in lines {lines}, and which of these holds is not known"
        raise _refused(module.source, found[-1].line, f"'{name}' has several meanings", why)
    if not isinstance(node, ast.FunctionDef) or not any(map(_is_jit, node.decorator_list)):
        why = "only functions with '@triton.jit' are kernels"
        raise _refused(module.source, found[0].line, f"'{name}' is no function of Triton", why)
    return node


def _is_jit(decorator: ast.expr) -> bool:
    """Return whether a decorator is `triton.jit`, with or without options."""
    plain = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(plain) in ("triton.jit", "jit")


def _is_jitted_name(module: Module, name: str) -> bool:
    found = module.names.get(name, ())
    nodes = [one.node for one in found if isinstance(one.node, ast.FunctionDef)]
    return any(_is_jit(one) for node in nodes for one in node.decorator_list)


def _of_decorators(module: Module, function: ast.FunctionDef) -> Iterator[str]:
    """Yield what is assumed of the decorators that are left out."""
    for one in function.decorator_list:
        if _is_jit(one):
            continue
        called = one.func if isinstance(one, ast.Call) else one
        word = ast.unparse(called)
        if word.rpartition(".")[2] in AT_LAUNCH:
            yield f"'@{word}' of '{function.name}' passes what the '# verify:' line says"
        else:
            yield f"'@{word}' of '{function.name}' launches the kernel as it is called"


def _free(function: ast.FunctionDef) -> Iterator[ast.Name]:
    """Yield the names of a function that it does not bind itself, where it reads them."""
    parts: list[ast.AST] = [function.args, *function.body]
    nodes = [node for part in parts for node in ast.walk(part)]
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in bound:
            yield node


def _written(
    module: Module, function: ast.FunctionDef, node: ast.Name
) -> tuple[str, tuple[str, ...]]:
    """Return how a name of the module is written in the text, and what is assumed for that."""
    found = module.names.get(node.id, ())
    title = f"'{node.id}' in '{function.name}' is not understood"
    if not found:
        if node.id in BUILTINS:
            return node.id, ()
        why = "the module does not bind it"
        raise _refused(module.source, node.lineno, title, why)
    meaning = meaning_of(found)
    if meaning is not None:
        if meaning == "tl.math":
            _check_words(module, function, node.id)
        from_elsewhere = meaning.startswith("tl.math")
        told = (f"'{node.id}' of '{found[0].module}' is '{meaning}'",) if from_elsewhere else ()
        return meaning, told
    if len(found) > 1:
        lines = ", ".join(str(one.line) for one in found)
        raise _refused(module.source, node.lineno, title, f"it is bound in lines {lines}")
    (binding,) = found
    if binding.module is not None:
        why = f"line {binding.line} imports it from '{binding.module}'"
        way = "copy what it is into this module, or into a file with the kernel"
        raise _refused(module.source, node.lineno, title, why, way)
    text, is_constant = _constant(module, binding)
    if text is None:
        why = f"line {binding.line} gives it a value that is no constant"
        raise _refused(module.source, node.lineno, title, why)
    told = () if is_constant else (f"'{node.id}' of the module stays {text}",)
    return text, told


def _check_words(module: Module, function: ast.FunctionDef, name: str) -> None:
    """Refuse a word of a library that may mean something else than in `tl.math`."""
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id=one), attr=word) if (
                one == name and word not in SAME
            ):
                title = f"'{name}.{word}' in '{function.name}' is not understood"
                raise _refused(module.source, node.lineno, title, "the verifier has no law for it")
            case _:
                pass


def _constant(module: Module, binding: Binding) -> tuple[str | None, bool]:
    """Return the text of a constant, and whether Triton takes it as one by itself."""
    match binding.node:
        case ast.Assign(targets=[ast.Name()], value=value):
            annotation = None
        case ast.AnnAssign(target=ast.Name(), value=ast.expr() as value, annotation=annotation):
            pass
        case _:
            return None, False
    is_constant = annotation is not None and _is_constexpr(module, annotation)
    match value:
        case ast.Call(func=func, args=[inner], keywords=[]) if _is_constexpr(module, func):
            value, is_constant = inner, True
        case _:
            pass
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        of = meaning_of(module.names.get(value.value.id, ()))
        return (f"tl.{value.attr}", is_constant) if of == "tl" else (None, False)
    if not all(isinstance(one, NUMBERS) for one in ast.walk(value)):
        return None, False
    plain = ast.unparse(value)
    return (plain if isinstance(value, ast.Constant) else f"({plain})"), is_constant


def _is_constexpr(module: Module, node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr="constexpr"):
            return meaning_of(module.names.get(name, ())) == "tl"
        case ast.Name(id=name):
            return meaning_of(module.names.get(name, ())) == "tl.constexpr"
        case _:
            return False


def _text(module: Module, functions: Sequence[ast.FunctionDef], edits: Sequence[Edit]) -> str:
    """Return the text: the functions on their lines, the edits made, and empty lines elsewhere."""
    lines = list(module.lines)
    # From the end of a line to its start, so that places stay true.
    for edit in sorted(edits, key=lambda one: (one.line, one.start), reverse=True):
        # Places of Python's trees are in bytes.
        old = lines[edit.line - 1].encode()
        lines[edit.line - 1] = (old[: edit.start] + edit.text.encode() + old[edit.end :]).decode()
    text = [""] * len(lines)
    for function in functions:
        assert function.end_lineno is not None
        body = lines[function.lineno - 1 : function.end_lineno]
        depth = function.col_offset
        text[function.lineno - 1 : function.end_lineno] = [
            one[depth:] if not one[:depth].strip() else one.lstrip() for one in body
        ]
        text[function.lineno - 2] = JIT
    for at, line in enumerate(IMPORTS):
        if text[at]:
            first = min(function.lineno for function in functions)
            why = f"the first lines are needed for '{'; '.join(IMPORTS)}'"
            raise _refused(module.source, first, "the kernel begins too early", why)
        text[at] = line
    return "\n".join(text)
