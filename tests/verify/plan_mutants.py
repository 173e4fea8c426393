"""Plans with one mistake: each changes one part of the data of a plan, and says which."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

# What only messages need. A mistake there changes no result.
OF_MESSAGES = ("func", "shown", "seen", "index", "function", "names", "adds", "reduction")
# Keys of a demand that only messages need, besides these.
OF_DEMANDS = ("inside", "axis", "sizes")
FORMULAS = (
    *("sizes", "shape", "is", "low", "high", "extent", "programs", "before", "numbers", "lanes"),
    *("flags", "fours", "counts", "near", "indices", "tiles"),
)
DTYPES = ("f32", "f64", "f16", "i32", "bool")
TYPES = ("real", "operand", "stored")
# What a launch may have besides what it has.
MORE: tuple[tuple[str, Any], ...] = (
    *(("turns", 2), ("early", True), ("panel", "first"), ("panel", "last"), ("before", ("1",))),
    ("fours", ("4",)),
)


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that formulas and dtypes of a plan may use."""

    sizes: tuple[str, ...]
    tensors: tuple[str, ...]
    types: tuple[str, ...]
    numbers: tuple[str, ...]


Mutants = Iterator[tuple[str, Any]]


def mutants(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each plan with one mistake, and what the mistake is."""
    inputs = data.get("inputs", {})
    scope = Scope(
        (*data.get("sizes", {}),),
        tuple(one for one, what in inputs.items() if len(what) == 2),
        (*data.get("types", {}),),
        tuple({one: None for launch in data["launches"] for one in launch.get("numbers", {})}),
    )
    seen = {repr(data)}
    for what, made in _changed(data, (), scope):
        if repr(made) not in seen:
            seen.add(repr(made))
            yield what, made


def _changed(value: Any, path: tuple[Any, ...], scope: Scope) -> Mutants:
    """Return a value with one mistake in it."""
    where = ".".join(map(str, path))
    key = next((one for one in reversed(path) if isinstance(one, str)), "")
    if path and (path[-1] in OF_MESSAGES or (path[0] == "demands" and path[-1] in OF_DEMANDS)):
        return
    match value:
        case dict():
            yield from _changed_dict(cast("dict[str, Any]", value), path, scope)
        case tuple() | list():
            yield from _changed_row(cast("Sequence[Any]", value), path, scope)
        case bool():
            yield f"{where}: {not value}", not value
        case int():
            for less in dict.fromkeys((value + 1, max(value - 1, 0), value * 2, value // 2)):
                yield f"{where}: {less} for {value}", less
        case None:
            yield f"{where}: 1 for nothing", "1"
        case str():
            for other in dict.fromkeys(_texts(value, path, key, scope)):
                yield f"{where}: '{other}' for '{value}'", other
        case _:
            raise AssertionError(value)


def _changed_dict(value: dict[str, Any], path: tuple[Any, ...], scope: Scope) -> Mutants:
    where, keys = ".".join(map(str, path)), [*value]
    for key in keys:
        if key not in OF_MESSAGES:
            yield f"{where}: without '{key}'", {k: v for k, v in value.items() if k != key}
    for one, two in pairwise(keys):
        order = [two if key == one else one if key == two else key for key in keys]
        yield f"{where}: '{two}' before '{one}'", {key: value[key] for key in order}
        swapped = {**value, one: value[two], two: value[one]}
        yield f"{where}: '{one}' and '{two}' for each other", swapped
    for key, part in value.items():
        for what, made in _changed(part, (*path, key), scope):
            yield what, {**value, key: made}
    if "kernel" in value:
        for key, new in MORE:
            if key not in value:
                yield f"{where}: with {key} {new}", {**value, key: new}
    if "dtype" in value and "pitched" not in value:
        yield f"{where}: with pitched", {**value, "pitched": True}
    if "block" in value and "step" not in value:
        yield f"{where}: with step 1", {**value, "step": 1}
    if path == ():
        size = next(iter(value.get("sizes", {"x": ""})))
        for key, new in (("passed", {size: ()}), ("limits", {size: 2})):
            yield f"with {key} {new}", {**value, key: {**value.get(key, {}), **new}}


def _changed_row(value: Sequence[Any], path: tuple[Any, ...], scope: Scope) -> Mutants:
    where = ".".join(map(str, path))

    def kind(parts: Sequence[Any]) -> Sequence[Any]:
        return [*parts] if isinstance(value, list) else (*parts,)

    for at, part in enumerate(value):
        yield f"{where}: without number {at}", kind((*value[:at], *value[at + 1 :]))
        yield f"{where}: number {at} twice", kind((*value[:at], part, *value[at:]))
        for what, made in _changed(part, (*path, at), scope):
            yield what, kind((*value[:at], made, *value[at + 1 :]))
        if at:
            swapped = (*value[: at - 1], part, value[at - 1], *value[at + 1 :])
            yield f"{where}: numbers {at - 1} and {at} for each other", kind(swapped)


def _texts(value: str, path: tuple[Any, ...], key: str, scope: Scope) -> Iterator[str]:
    """Other texts in the place of one."""
    if key == "tensors":
        words = value.split(" ")
        for at in range(len(words)):
            for other in ("_", "-", *scope.numbers[:3]):
                yield " ".join((*words[:at], other, *words[at + 1 :]))
        yield f"{value} _"
    elif path[0] == "types" and len(path) == 2:
        yield from ("f32", "f64")
        inside = value[value.find("(") + 1 : -1] if "(" in value else ", ".join(scope.tensors)
        yield from (f"{kind}({inside})" for kind in TYPES)
        terms = inside.split(", ")
        if len(terms) > 1:
            yield from (f"{value.split('(')[0]}({one})" for one in terms)
    elif path[-1] == "dtype" or path[0] == "meet":
        yield from (*scope.tensors, *DTYPES, *(f"type({one})" for one in scope.types))
    elif path[0] == "inputs":
        yield from ("float", "unread", "bool", *DTYPES)
    elif path[-1] == "of" or path[-2:-1] == ("specialized",):
        yield from scope.tensors
    elif path[0] == "panels" or key in ("where", "over", "size", "passed"):
        yield from scope.sizes
    elif path[0] == "demands" and path[-1] == "shape":
        yield from scope.tensors
    elif path[-2:-1] == ("types",) or path[-1] == "kernel":
        yield from (*scope.types, "other_kernel")
    elif path[-1] == "panel":
        yield from ("first", "last")
    elif key in FORMULAS and not (path[-2:-1] and key == "tiles" and path[-1] != 1):
        yield from formulas(value, scope)


def formulas(text: str, scope: Scope) -> Iterator[str]:
    """Yield a formula with one mistake."""
    tree = ast.parse(text, mode="eval").body
    yield from map(ast.unparse, _others(tree, scope))


def _others(node: ast.expr, scope: Scope) -> Iterator[ast.expr]:
    """Yield the tree of a formula with one mistake in it."""
    match node:
        case ast.Constant(value=int() as value):
            yield from map(_number, (value + 1, value - 1, 2 * value))
        case ast.Name(id=name):
            yield from (ast.Name(one) for one in scope.sizes if one != name)
            yield from _near(node)
            yield ast.BinOp(ast.Constant(2), ast.Mult(), node)
            yield ast.Constant(1)
        case ast.Subscript(value=ast.Attribute(value=tensor) as part, slice=axis):
            yield from (ast.Subscript(part, at) for at in _axes(axis))
            others = (ast.Name(one) for one in scope.tensors if one != ast.unparse(tensor))
            yield from (ast.Subscript(ast.Attribute(one, "shape"), axis) for one in others)
            yield from _near(node)
        case ast.Call(func=ast.Attribute() as stride, args=[axis]):
            yield from (ast.Call(stride, [at], []) for at in _axes(axis))
            yield ast.Constant(4)
        case ast.Call(func=ast.Name(id=word), args=args):
            yield from args
            if word in ("min", "max"):
                yield ast.Call(ast.Name("max" if word == "min" else "min"), args, [])
            if word == "cdiv":
                yield ast.BinOp(args[0], ast.FloorDiv(), args[1])
            for at, argument in enumerate(args):
                for other in _others(argument, scope):
                    yield ast.Call(node.func, [*args[:at], other, *args[at + 1 :]], [])
        case ast.BinOp(left=left, op=op, right=right):
            yield from (left, right)
            for new in (ast.Add(), ast.Sub(), ast.Mult()):
                if not isinstance(op, type(new)):
                    yield ast.BinOp(left, new, right)
            yield from (ast.BinOp(side, op, right) for side in _others(left, scope))
            yield from (ast.BinOp(left, op, side) for side in _others(right, scope))
        case ast.Compare() | ast.BoolOp():
            yield from _other_truths(node, scope)
        case _:
            pass


def _other_truths(node: ast.Compare | ast.BoolOp, scope: Scope) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(left=left, ops=ops, comparators=[right]):
            for comparison in (ast.NotEq(), ast.LtE(), ast.GtE()):
                yield ast.Compare(left, [comparison], [right])
            yield from (ast.Compare(side, ops, [right]) for side in _others(left, scope))
            yield from (ast.Compare(left, ops, [side]) for side in _others(right, scope))
        case ast.BoolOp(op=both, values=parts):
            for at, part in enumerate(parts):
                rest = [*parts[:at], *parts[at + 1 :]]
                yield ast.BoolOp(both, rest) if len(rest) > 1 else rest[0]
                for other in _others(part, scope):
                    yield ast.BoolOp(both, [*parts[:at], other, *parts[at + 1 :]])
        case _:
            raise AssertionError(ast.unparse(node))


def _number(value: int) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _near(node: ast.expr) -> Iterator[ast.expr]:
    yield ast.BinOp(node, ast.Add(), ast.Constant(1))
    yield ast.BinOp(node, ast.Sub(), ast.Constant(1))


def _axes(axis: ast.expr) -> Iterator[ast.expr]:
    at = ast.literal_eval(axis)
    yield from (ast.Constant(one) for one in (at + 1, at - 1) if one >= 0)
