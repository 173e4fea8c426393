"""Finds what binds each name of a Python module, without running it."""

import ast
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from dtpoly.extract.stand_ins import parts_of_stand_ins
from dtpoly.frozen import dataclass

# Some assignments change a part of something that has no name, such as `found()[0].exp = other`.
# They are listed under this name.
UNNAMED = ""


@dataclass(frozen=True, slots=True)
class Binding:
    """A place that binds a name of a module.

    For an import, `module` is where the name comes from, and `word` what it is called there: it is
    empty if the name is the module itself. A binding is sure if it is in no block of a statement.
    """

    node: ast.stmt | ast.expr
    line: int
    module: str | None = None
    word: str = ""
    is_sure: bool = False


@dataclass(frozen=True, slots=True)
class BindingChange:
    """A line that changes a part of what a name stands for, such as `tl.exp = other`.

    `words` are the names of the part, here `exp`. They are empty if the text does not show which
    part it is.
    """

    line: int
    words: frozenset[str]


def bindings_of(module: ast.Module) -> Mapping[str, tuple[Binding, ...]]:
    """Return all places that bind each name of a module."""
    found: dict[str, list[Binding]] = {}
    sure = {id(node) for node in module.body}
    for name, binding in _bound(module.body):
        binding = replace(binding, is_sure=id(binding.node) in sure)
        found.setdefault(name, []).append(binding)
    for node in ast.walk(module):
        match node:
            case ast.Global(names=names):
                for name in names:
                    found.setdefault(name, []).append(Binding(node, node.lineno))
            # Default values and decorators of a function run in the module. So `:=` inside of a
            # function is taken as if it bound a name of the module.
            case ast.NamedExpr(target=ast.Name(id=name)):
                found.setdefault(name, []).append(Binding(node, node.lineno))
            case ast.expr():
                for name in _by_its_text(node):
                    found.setdefault(name, []).append(Binding(node, node.lineno))
            case _:
                pass
    return {name: tuple(bindings) for name, bindings in found.items()}


def changes_of(module: ast.Module) -> Mapping[str, tuple[BindingChange, ...]]:
    """Return for each name the lines that change a part of what the name stands for."""
    found: dict[str, list[BindingChange]] = {}
    # The parts of an imported module are found in the text of that module, and not here.
    imported, of_triton = _imported(module)
    of_stand_ins = set(map(id, parts_of_stand_ins(module)))
    for node in ast.walk(module):
        if id(node) in of_stand_ins:
            continue
        words, is_any = set[str](), False
        match node:
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                of: ast.expr = node
            case ast.Subscript(value=of, ctx=ast.Store() | ast.Del()):
                pass
            case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[of, said, *_]):
                is_any = not isinstance(said, ast.Constant)
                words |= {str(said.value)} if isinstance(said, ast.Constant) else set[str]()
            case (
                ast.Call(func=ast.Attribute(attr="__setattr__"), args=[of, _, _])
                | ast.Call(func=ast.Attribute(attr="__delattr__"), args=[of, _])
                | ast.Call(func=ast.Attribute(value=of, attr="__setattr__" | "__delattr__"))
            ):
                is_any = True
            case ast.Call(func=ast.Attribute() as of) if _is_inner(of) and not _is_of(of, imported):
                is_any = True
            case _:
                continue
        while isinstance(of, ast.Attribute):
            words.add(of.attr)
            of = of.value
        root = of.id if isinstance(of, ast.Name) else UNNAMED
        is_any = is_any or (root in of_triton and _is_deep(words, of_triton[root]))
        # If it may change anything, no words are noted. Of what has no name, only words are known.
        noted = frozenset[str]() if is_any else frozenset(words)
        if root != UNNAMED or noted:
            found.setdefault(root, []).append(BindingChange(node.lineno, noted))
    return {name: tuple(changes) for name, changes in found.items()}


def _imported(module: ast.Module) -> tuple[set[str], dict[str, bool]]:
    """Return the names that imports bind, and whether those from Triton are parts of a module."""
    found, of_triton = set[str](), dict[str, bool]()
    for node in ast.walk(module):
        match node:
            case ast.Import(names=names):
                rooms = [(one, one.name, False) for one in names]
            case ast.ImportFrom(module=room, names=names):
                rooms = [(one, room or "", room != "triton") for one in names]
            case _:
                continue
        for one, of, is_part in rooms:
            name = (one.asname or one.name).partition(".")[0]
            found.add(name)
            if of.partition(".")[0] == "triton":
                of_triton[name] = is_part
    return found, of_triton


def _is_deep(words: Set[str], is_part: bool) -> bool:
    """Return whether a change of Triton may change kernels that do not contain the changed word.

    `tl.exp = other` changes only kernels that write `tl.exp`. But `tl.tensor.__mul__ = other`
    changes what `*` does, and kernels write `*` without that word.
    """
    own = words - {"language", "math"}
    return is_part or len(own) > 1 or any(one.startswith("__") for one in own)


def _is_inner(called: ast.Attribute) -> bool:
    """Return whether a method is called that is not for users, and so may change anything.

    That is `kernel._update(...)` or `kernel.__dict__.update(...)`.
    """
    inner = called.value
    of_dict = isinstance(inner, ast.Attribute) and inner.attr == "__dict__"
    return called.attr.startswith("_") or of_dict


def _is_of(of: ast.Attribute, imported: Set[str]) -> bool:
    """Return whether something is a part of what was imported, or of no name."""
    root = _root(of)
    return not root or root in imported


def _root(of: ast.expr) -> str:
    """Return the first name of `tl.math.exp`, which is `tl`; an empty text if there is no name."""
    while isinstance(of, ast.Attribute):
        of = of.value
    return of.id if isinstance(of, ast.Name) else ""


def _bound(body: list[ast.stmt]) -> Iterator[tuple[str, Binding]]:
    """Yield what statements of a module bind; functions and classes keep their names inside."""
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, Binding(node, node.lineno)
            case ast.ClassDef(name=name):
                yield name, Binding(node, node.lineno)
            case ast.Import(names=names):
                for one in names:
                    # `import a.b` binds `a`.
                    of = one.name if one.asname else one.name.partition(".")[0]
                    yield one.asname or of, Binding(node, node.lineno, of)
            case ast.ImportFrom(names=names, module=module, level=level):
                of = "." * level + (module or "")
                for one in names:
                    yield one.asname or one.name, Binding(node, node.lineno, of, one.name)
            case _:
                yield from ((name, Binding(node, node.lineno)) for name in _stored(node))
                for inner in _bodies(node):
                    yield from _bound(inner)


def _by_its_text(node: ast.expr) -> Iterator[str]:
    """Yield a name that is set in a dictionary or in an object that some expression gives.

    That may be the module: `globals()["x"] = 1`, or `sys.modules[__name__].x = 1`.
    """
    match node:
        case (
            ast.Attribute(value=ast.Call() | ast.Subscript(), attr=name, ctx=ast.Store())
            | ast.Subscript(
                value=ast.Call(), slice=ast.Constant(value=str() as name), ctx=ast.Store()
            )
            | ast.Call(
                func=ast.Name(id="setattr"),
                args=[ast.Call() | ast.Subscript(), ast.Constant(value=str() as name), _],
            )
        ):
            yield name
        case _:
            pass


def _stored(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement itself sets, such as the targets of an assignment."""
    waiting: list[ast.AST] = [node]
    while waiting:
        one = waiting.pop()
        match one:
            case ast.NamedExpr(value=value):
                # `bindings_of` finds the targets of all `:=` itself.
                waiting.append(value)
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.ExceptHandler(name=str() as name):
                yield name
            case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
                yield name
            case ast.MatchMapping(rest=str() as name):
                yield name
            case ast.Lambda():
                continue
            case _:
                pass
        waiting += [
            inner
            for inner in ast.iter_child_nodes(one)
            if not isinstance(inner, ast.stmt) or inner is node
        ]


def _bodies(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a statement, which bind names of the module, too."""
    match node:
        case ast.Match(cases=cases):
            yield from (one.body for one in cases)
        case (
            ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final)
            | ast.TryStar(body=body, handlers=handlers, orelse=orelse, finalbody=final)
        ):
            yield from (body, *(one.body for one in handlers), orelse, final)
        case ast.If(body=body, orelse=orelse) | ast.For(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.While(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.With(body=body):
            yield body
        case _:
            pass
