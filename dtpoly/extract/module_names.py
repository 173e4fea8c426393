"""Finds what binds each name of a Python module, without running it."""

import ast
from collections.abc import Iterator, Mapping

from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Binding:
    """A place that binds a name of a module.

    For an import, `module` is where the name comes from, and `word` what it is called there: it is
    empty if the name is the module itself.
    """

    node: ast.stmt
    line: int
    module: str | None = None
    word: str = ""


def bindings_of(module: ast.Module) -> Mapping[str, tuple[Binding, ...]]:
    """Return all places that bind each name of a module."""
    found: dict[str, list[Binding]] = {}
    for name, binding in _bound(module.body):
        found.setdefault(name, []).append(binding)
    for node in ast.walk(module):
        if isinstance(node, ast.Global):
            for name in node.names:
                found.setdefault(name, []).append(Binding(node, node.lineno))
    return {name: tuple(bindings) for name, bindings in found.items()}


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


def _stored(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement itself sets, such as the targets of an assignment."""
    waiting: list[ast.AST] = [node]
    while waiting:
        one = waiting.pop()
        match one:
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
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
            yield from (body, *(one.body for one in handlers), orelse, final)
        case ast.If(body=body, orelse=orelse) | ast.For(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.While(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.With(body=body):
            yield body
        case _:
            pass
