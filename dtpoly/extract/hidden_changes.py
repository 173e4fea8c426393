"""Finds where a module may change what its names mean without a statement that sets them.

A module can reach its names as data: by `globals()`, by the `__dict__` of something, or by a text
that `exec` runs. Whoever does more with such a table than look something up in it may have changed
any name, so a kernel of that module is refused.

An object can also be changed by another name. `patch(kernel)` hands a kernel on, and what becomes
of it there cannot be seen. So each place that does more with a name than to launch, call or compare
it is an assumption, which names its lines.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Set

from dtpoly.extract.module_names import Binding
from dtpoly.frozen import dataclass

# Functions of Python that run a text, and those that give a table of names.
RUNNING = frozenset(("exec", "eval"))
TABLES = frozenset(("globals", "locals", "vars"))
# Words under which an object has such a table, and the name that Python gives to that of builtins.
PARTS = frozenset(("__dict__", "__globals__", "__builtins__", "f_globals", "f_locals"))
OF_BUILTINS = ("builtins", "__builtins__")
# Methods of kernels that launch them, or compile what a launch needs.
LAUNCHES = frozenset(("run", "warmup"))
# Methods that look something up in a table.
LOOKS = frozenset(("get", "keys", "copy"))
# Functions that find a module by its name.
FINDS = frozenset(("import_module", "__import__"))
# A text that is the path of something in Triton.
OF_TRITON = re.compile(r"triton(\.\w+)+")
# Functions for which the name of a module is a word like any other.
NAMES_ONLY = frozenset(("getLogger", "get_logger"))


@dataclass(frozen=True, slots=True)
class HiddenChange:
    """A place of a module: its line, and what stands there."""

    line: int
    text: str


class Parents:
    """The parts of a module, each with the part that it is in."""

    def __init__(self, tree: ast.Module) -> None:
        self.of: dict[ast.AST, ast.AST] = {}
        self.nodes: list[ast.AST] = [*ast.walk(tree)]
        for node in self.nodes:
            self.of.update((child, node) for child in ast.iter_child_nodes(node))

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes that contain a node, the innermost one first."""
        while node in self.of:
            node = self.of[node]
            yield node

    def statement(self, node: ast.AST) -> ast.AST:
        """Return the statement in which a part is."""
        return next(one for one in (node, *self.above(node)) if isinstance(one, ast.stmt))


def hidden_changes(
    tree: ast.Module, names: Mapping[str, tuple[Binding, ...]]
) -> tuple[HiddenChange, ...]:
    """Return the places that may set any name of a module, or of another one."""
    parents = Parents(tree)
    found: list[HiddenChange] = []
    for node in parents.nodes:
        if _is_running(node, names) or (
            _is_table(node, names) and not _is_looked_at(node, parents)
        ):
            assert isinstance(node, ast.expr | ast.stmt)
            found.append(HiddenChange(node.lineno, _shown(parents.statement(node))))
    return tuple(found)


def handed_on(
    tree: ast.Module, objects: Set[str], modules: Set[str], jitted: Set[int]
) -> Mapping[str, tuple[int, ...]]:
    """Return the lines in which names are handed on, so that something else may change them.

    Methods of `objects`, which are kernels, helpers and numbers of Triton, may change these, but
    what `modules` have are functions. `jitted` are functions of Triton, by their identity: what
    they do with a name is compiled.
    """
    parents = Parents(tree)
    found: dict[str, list[int]] = {}
    for node in parents.nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if name in objects or name in modules:
                if not _is_harmless(node, parents, jitted, is_object=name in objects):
                    found.setdefault(name, []).append(node.lineno)
            case _:
                pass
    return {name: tuple(sorted({*lines})) for name, lines in found.items()}


def modules_by_name(tree: ast.Module) -> tuple[HiddenChange, ...]:
    """Return the places that find a module by its name, which may be that of the kernel or Triton.

    These are `sys.modules[...]`, `importlib.import_module(...)`, and a text such as
    "triton.language.exp", or the name of the module itself, that is handed to a function.
    """
    parents = Parents(tree)
    found: list[HiddenChange] = []
    for node in parents.nodes:
        above = parents.of.get(node, node)
        match node:
            case ast.Attribute(attr="modules", value=ast.Name(id="sys")):
                is_one = not isinstance(above, ast.Compare)
            case ast.Name(id=word, ctx=ast.Load()) | ast.Attribute(attr=word) if word in FINDS:
                is_one = True
            case ast.Name(id="__name__"):
                is_one = _is_argument(node, parents)
            case ast.Constant(value=str() as text):
                is_one = OF_TRITON.fullmatch(text) is not None and _is_argument(node, parents)
            case _:
                is_one = False
        if is_one:
            assert isinstance(node, ast.expr)
            found.append(HiddenChange(node.lineno, _shown(parents.statement(node))))
    return tuple(found)


def _shown(node: ast.AST) -> str:
    """Return the first line of what a part says."""
    return ast.unparse(node).partition("\n")[0]


def _is_running(node: ast.AST, names: Mapping[str, tuple[Binding, ...]]) -> bool:
    match node:
        case ast.Name(id=word, ctx=ast.Load()):
            return word in RUNNING and word not in names
        case ast.Attribute(value=ast.Name(id=of), attr=word):
            return word in RUNNING and (of in OF_BUILTINS or _is_builtins(names.get(of, ())))
        case ast.ImportFrom(module="builtins", names=words):
            return any(one.name in (*RUNNING, *TABLES, "*") for one in words)
        case _:
            return False


def _is_builtins(bindings: tuple[Binding, ...]) -> bool:
    return any(one.module == "builtins" for one in bindings)


def _is_table(node: ast.AST, names: Mapping[str, tuple[Binding, ...]]) -> bool:
    """Return whether an expression gives a table of names, or the function that gives one."""
    match node:
        case ast.Name(id=word, ctx=ast.Load()):
            return word in (*TABLES, "__builtins__") and word not in names
        case ast.Attribute(attr=word) if word in PARTS:
            return True
        case ast.Attribute(value=ast.Name(id=of), attr=word):
            return word in TABLES and _is_builtins(names.get(of, ()))
        case _:
            return False


def _is_looked_at(node: ast.AST, parents: Parents) -> bool:
    """Return whether a table of names is only looked at: something is searched or found in it."""
    table, above = node, parents.of.get(node)
    if isinstance(above, ast.Call) and above.func is node:
        table, above = above, parents.of.get(above)
    match above:
        case ast.Subscript(ctx=ast.Load(), slice=ast.Constant()):
            return not isinstance(parents.of.get(above), ast.Attribute | ast.Subscript)
        case ast.Attribute(attr=word):
            return word in LOOKS
        case ast.Compare() | ast.keyword(arg=None):
            return True
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return any(key is None and value is table for key, value in pairs)
        case _:
            return False


def _is_harmless(name: ast.Name, parents: Parents, jitted: Set[int], *, is_object: bool) -> bool:
    """Return whether a name is launched, called, compared, or stands where Triton reads it."""
    if _is_read_by_triton(name, parents, jitted):
        return True
    node: ast.AST = name
    for above in parents.above(name):
        match above:
            case ast.Call(func=func) if func is node:
                is_launch = isinstance(node, ast.Attribute) and node.attr in LAUNCHES
                return node is name or not is_object or is_launch
            case ast.Attribute(attr="value") if is_object and node is name:
                return True
            case ast.Call(args=[one]) if one is name and _is_of_itself(above, name.id, parents):
                return True
            case ast.Attribute():
                # Something is done with a part, so what is done with that counts.
                node = above
            case ast.Subscript(value=of) if of is node:
                return node is name
            case ast.Compare() | ast.FormattedValue():
                return True
            case _:
                return _is_type(node)
    return False


def _is_of_itself(call: ast.Call, name: str, parents: Parents) -> bool:
    """Return whether a call is that of `name = triton.jit(name)`, which is a decorator."""
    match parents.of.get(call):
        case ast.Assign(targets=[ast.Name(id=own)]):
            return own == name
        case _:
            return False


def _is_type(node: ast.AST) -> bool:
    """Return whether something is a type of Triton's numbers, such as `tl.float32`."""
    words = ast.unparse(node).rpartition(".")[2]
    return isinstance(node, ast.Attribute) and words.rstrip("0123456789") != words


def _is_read_by_triton(node: ast.AST, parents: Parents, jitted: Set[int]) -> bool:
    """Return whether a place is in a function of Triton, a decorator or an annotation."""
    inner = node
    for above in parents.above(node):
        match above:
            case ast.arg(annotation=said) | ast.AnnAssign(annotation=said) if said is inner:
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                decorators = above.decorator_list
                if any(inner is one for one in decorators) or getattr(above, "returns", 0) is inner:
                    return True
                if id(above) in jitted and any(inner is one for one in above.body):
                    return True
            case _:
                pass
        inner = above
    return False


def _is_argument(node: ast.AST, parents: Parents) -> bool:
    """Return whether something is handed to a function, for which it is more than a word."""
    inner = node
    for above in parents.above(node):
        match above:
            case ast.Call(func=ast.Attribute(attr=word) | ast.Name(id=word)) if (
                inner is not above.func
            ):
                return word not in NAMES_ONLY
            case ast.stmt():
                return False
            case _:
                inner = above
    return False
