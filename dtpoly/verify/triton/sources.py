"""Says from which parameters of a kernel the numbers in a line of its text are computed."""

import ast
from collections.abc import Iterator, Mapping

Names = frozenset[str]


def sources_of(
    definition: ast.FunctionDef, others: Mapping[str, ast.FunctionDef]
) -> Mapping[int, Names]:
    """Return, for lines of a kernel, all names from which a number there may be computed.

    A name counts with all that is assigned to it anywhere, so no source is missing; there may be
    too many. There is nothing if lines of another function have the same numbers as those of the
    kernel: then nobody knows whose line it is.
    """
    own = range(definition.lineno, _end(definition) + 1)
    for other in others.values():
        theirs = range(other.lineno, _end(other) + 1)
        if other is not definition and own.start < theirs.stop and theirs.start < own.stop:
            return {}
    before = _assigned(definition)
    found: dict[int, Names] = {}
    for first, last, names in _lines(definition.body):
        every = _closure(names, before)
        for line in range(first, last + 1):
            found[line] = found.get(line, frozenset[str]()) | every
    return found


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _lines(body: list[ast.stmt]) -> Iterator[tuple[int, int, Names]]:
    """Yield first and last line of each statement, or of its head, and all names in it.

    Of a loop or a branch, the head has the names of what is inside of it, too: what a loop carries
    is looked at there.
    """
    for one in body:
        blocks = [*_blocks(one)]
        first_inside = (statement.lineno for block in blocks for statement in block)
        yield one.lineno, min([_end(one), *first_inside]), _names(one)
        for block in blocks:
            yield from _lines(block)


def _blocks(one: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of statements inside of a statement."""
    for _, value in ast.iter_fields(one):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield value


def _names(one: ast.AST) -> Names:
    return frozenset(node.id for node in ast.walk(one) if isinstance(node, ast.Name))


def _assigned(definition: ast.FunctionDef) -> Mapping[str, set[str]]:
    """Return for each name those of which anything is made that is assigned to it."""
    found: dict[str, set[str]] = {}

    def note(target: ast.expr, value: ast.expr) -> None:
        for one in _names(target):
            found.setdefault(one, set()).update(_names(value))

    for node in ast.walk(definition):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    note(target, value)
            case (
                ast.AugAssign(target=target, value=value)
                | ast.NamedExpr(target=target, value=value)
            ):
                note(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                note(target, value)
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                note(target, value)
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                note(target, value)
            case _:
                pass
    return found


def _closure(names: Names, before: Mapping[str, set[str]]) -> Names:
    """Return the names with all that they are made of."""
    found, waiting = set[str](), [*names]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(before.get(one, ()))
    return frozenset(found)
