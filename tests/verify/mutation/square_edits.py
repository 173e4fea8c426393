"""Makes mistakes that no shape gives away, where tiles are square, from the syntax of kernels."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from dtpoly.plan.runtime_text import FIRST
from tests.verify.mutation.edits import Edit, Splice, Text, blocks, nodes

OF_AXES = (
    *("sum", "max", "min", "reduce", "expand_dims", "associative_scan"),
    *("cumsum", "cumprod", "argmax", "argmin"),
)
OTHER_ORDER: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
SIGNS: dict[type[ast.operator], str] = {ast.Mult: "*", ast.Div: "/", ast.Sub: "-"}
MOST_OTHERS = 3  # names that are tried in the place of one


def square_mutants(text: str) -> Iterator[tuple[str, Edit, str]]:
    """Yield all mistakes in the kernels of a file: the class, the mistake, and the whole text."""
    head, found, rest = text.partition(FIRST)
    where = head.find("_plan = {")
    if where >= 0:
        head, rest = head[:where], head[where:] + found + rest
    else:
        rest = found + rest
    made = Text(head)
    for function in _kernels(head):
        for word, edits in CLASSES.items():
            for edit in edits(made, function):
                changed = made.edited(edit)
                if changed != head and _is_python(changed):
                    yield word, edit, changed + rest


def _kernels(text: str) -> Iterator[ast.FunctionDef]:
    for one in ast.parse(text).body:
        if isinstance(one, ast.FunctionDef) and one.name.endswith("_kernel"):
            yield one


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def axes(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Exchange the axes of reductions, of new axes, and of products of transposed tiles."""
    for node in nodes(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in OF_AXES and len(node.args) > 1:
                axis = node.args[1]
                if isinstance(axis, ast.Constant) and axis.value in (0, 1):
                    yield text.put(axis, str(1 - axis.value))
            if node.func.attr == "trans":
                yield text.put(node, text.of(node.args[0]))
            if node.func.attr == "dot":
                yield text.put(node.args[0], f"tl.trans({text.of(node.args[0])})")
                yield text.put(node.args[1], f"tl.trans({text.of(node.args[1])})")
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            turned = [text.of(one) for one in reversed(node.slice.elts)]
            new = f"{text.of(node.value)}[{', '.join(turned)}]"
            if new != text.of(node):
                yield text.put(node, new)


def _families(function: ast.FunctionDef) -> dict[str, list[str]]:
    """Return names that are assigned, by what their last word says that they are."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for node in nodes(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            for word in ("mask", "max", "sum", "acc", "tile", "before", "exact", "start", "block"):
                if word in node.id.split("_"):
                    found[word][node.id] = None
            if any(word in node.id for word in ("max", "sum", "acc", "tile", "before", "exact")):
                found["value"][node.id] = None
            if len(node.id) == 1:
                found["label"][node.id] = None
    return {word: [*names] for word, names in found.items()}


def names(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Use another variable that is likely to have the same shape and type."""
    families = _families(function)
    for node in nodes(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            others: dict[str, None] = {}
            for members in families.values():
                if node.id in members:
                    at = members.index(node.id)
                    near = sorted(members, key=lambda one: abs(members.index(one) - at))
                    others |= dict.fromkeys(near[1 : 1 + MOST_OTHERS])
            for other in others:
                yield text.put(node, other)


def order(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Exchange two statements, one after the other or with one between them."""
    for block in blocks(function):
        for one, other in [*pairwise(block), *zip(block, block[2:], strict=False)]:
            simple = (ast.Assign, ast.AugAssign, ast.Expr)
            if isinstance(one, simple) and isinstance(other, simple):
                yield text.swap(one, other)


def places(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Move the first or last statement out of a loop or a branch, or the neighbour into it."""
    for block in blocks(function):
        for at, outer in enumerate(block):
            if not isinstance(outer, ast.For | ast.If):
                continue
            simple = (ast.Assign, ast.AugAssign, ast.Expr)
            first, last = outer.body[0], outer.body[-1]
            inside, outside = " " * first.col_offset, " " * outer.col_offset
            if len(outer.body) > 1 and isinstance(first, simple):
                moved = Splice(text.start(outer), text.start(outer), f"{text.of(first)}\n{outside}")
                yield _moved(outer, "comes before", (moved, text.splice(first, "pass")))
            if len(outer.body) > 1 and isinstance(last, simple) and not outer.orelse:
                moved = Splice(text.end(outer), text.end(outer), f"\n{outside}{text.of(last)}")
                drop = Splice(text.start(last), text.end(last), "pass")
                yield _moved(last, "comes after", (drop, moved))
            if at and isinstance(block[at - 1], simple):
                before = block[at - 1]
                moved = Splice(text.start(first), text.start(first), f"{text.of(before)}\n{inside}")
                yield _moved(before, "goes in", (text.splice(before, "pass"), moved))
            if at + 1 < len(block) and isinstance(block[at + 1], simple) and not outer.orelse:
                after = block[at + 1]
                moved = Splice(text.end(last), text.end(last), f"\n{inside}{text.of(after)}")
                yield _moved(after, "goes in from below", (moved, text.splice(after, "pass")))


def _moved(node: ast.stmt, what: str, splices: tuple[Splice, ...]) -> Edit:
    return Edit(node.lineno, what, splices)


def bounds(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Change bounds of loops and numbers in them, comparisons, and conjunctions of masks."""
    for node in nodes(function):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER_ORDER:
            sides = text.of(node.left), text.of(node.comparators[0])
            yield text.put(node, f"{sides[0]} {OTHER_ORDER[type(node.ops[0])]} {sides[1]}")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
            yield text.put(node, text.around(node.left))
            yield text.put(node, text.around(node.right))
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
            step = text.of(node.iter.args[2]) if len(node.iter.args) > 2 else "1"
            for bound in node.iter.args[:2]:
                yield text.put(bound, f"{text.around(bound)} + {step}")
                yield text.put(bound, f"{text.around(bound)} - {step}")


def corrections(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Drop or double a factor, a summand or what is subtracted; double a statement."""
    for node in nodes(function):
        if (
            isinstance(node, ast.BinOp)
            and type(node.op) in SIGNS
            and any(word in text.of(node) for word in ("exp", "max", "sum"))
        ):
            yield text.put(node, text.around(node.left))
            sign = SIGNS[type(node.op)]
            yield text.put(node, f"({text.of(node)}) {sign} {text.around(node.right)}")
            yield text.put(node, text.around(node.right))
        if isinstance(node, ast.AugAssign):
            yield text.drop(node)
            yield text.put(node, f"{text.of(node)}\n{' ' * node.col_offset}{text.of(node)}")
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("dt_max", "tl.maximum"):
            yield text.put(node, text.of(node.args[0]))
            yield text.put(node, text.of(node.args[1]))


CLASSES = {
    "axes": axes,
    "names": names,
    "order": order,
    "places": places,
    "bounds": bounds,
    "corrections": corrections,
}
