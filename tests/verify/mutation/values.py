"""Mistakes in what is computed: operations, constants, casts, products, reductions."""

import ast
from collections.abc import Iterator

from tests.verify.mutation.accesses import STRIDE
from tests.verify.mutation.edits import Edit, Text, calls, keyword, nodes

FUNCTIONS = {
    "tl.exp": "tl.exp2",
    "tl.exp2": "tl.exp",
    "tl.log": "tl.log2",
    "tl.log2": "tl.log",
    "tl.sqrt": "tl.exp",
    "tl.rsqrt": "tl.sqrt",
    "tl.sigmoid": "tl.exp",
    "tl.sin": "tl.cos",
    "tl.cos": "tl.sin",
    "tl.abs": "tl.exp",
    "tl.floor": "tl.ceil",
    "tl.ceil": "tl.floor",
    "tl.maximum": "tl.minimum",
    "tl.minimum": "tl.maximum",
    "dt_max": "tl.minimum",
    "dt_min": "tl.maximum",
    "dt_tanh": "tl.exp",
    "dt_round": "tl.floor",
    "dt_trunc": "tl.floor",
    "dt_quotient": "tl.maximum",
    "dt_shl": "tl.maximum",
    "dt_shr": "tl.minimum",
    "dt_random_bits": "tl.where",
    "dt_random_float": "tl.where",
}
REDUCTIONS = {"tl.sum": "tl.max", "tl.max": "tl.min", "tl.min": "tl.max"}


def where_dropped(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Lanes that do not count do."""
    for call in calls(function, "tl.where"):
        yield text.put(call, text.around(call.args[1]))


def where_exchanged(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Lanes count that should not, and only they."""
    for call in calls(function, "tl.where"):
        yield text.swap(call.args[1], call.args[2])


def operand_transposed(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """An operand of a product is transposed."""
    for call in calls(function, "tl.dot"):
        for operand in call.args[:2]:
            yield text.put(operand, f"tl.trans({text.of(operand)})")


def operands_exchanged(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A product of matrices in the other order."""
    for call in calls(function, "tl.dot"):
        yield text.swap(call.args[0], call.args[1])


def wrong_axis(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A reduction along another axis."""
    for call in calls(function, *REDUCTIONS):
        match call.args:
            case [_, ast.Constant(value=int(axis)) as given] if axis in (0, 1):
                yield text.put(given, str(1 - axis))
            case _:
                pass


def other_reduction(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A maximum for a sum."""
    for call in calls(function, *REDUCTIONS):
        yield text.put(call.func, REDUCTIONS[ast.unparse(call.func)])


def other_function(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Another function of the same arguments."""
    for call in calls(function, *FUNCTIONS):
        yield text.put(call.func, FUNCTIONS[ast.unparse(call.func)])


def factor_missing(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Something is not scaled."""
    for node in nodes(function):
        match node:
            case ast.BinOp(op=ast.Mult() | ast.Div(), left=left, right=right) if not _is_stride(
                right
            ):
                yield text.put(node, text.around(left))
                if isinstance(node.op, ast.Mult):
                    yield text.put(node, text.around(right))
            case _:
                pass


def _is_stride(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and STRIDE.match(node.id) is not None


def addend_missing(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Something is not added."""
    for node in nodes(function):
        match node:
            case ast.BinOp(op=ast.Add() | ast.Sub(), left=left):
                yield text.put(node, text.around(left))
            case _:
                pass


def operands_swapped(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """`b - a` for `a - b`, `b / a` for `a / b`."""
    for node in nodes(function):
        match node:
            case ast.BinOp(op=ast.Sub() | ast.Div() as op, left=left, right=right):
                sign = "-" if isinstance(op, ast.Sub) else "/"
                yield text.put(node, f"({text.around(right)} {sign} {text.around(left)})")
            case _:
                pass


def other_operation(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """`-` for `+`, `*` for `/`."""
    other: dict[type[ast.operator], str] = {
        ast.Add: "-",
        ast.Sub: "+",
        ast.Mult: "+",
        ast.Div: "*",
        ast.LShift: ">>",
        ast.RShift: "<<",
        ast.BitXor: "|",
    }
    for node in nodes(function):
        match node:
            case ast.BinOp(op=op, left=left, right=right) if (
                type(op) in other and not _is_stride(right) and "_ptr" not in text.of(left)
            ):
                sign = other[type(op)]
                yield text.put(node, f"({text.around(left)} {sign} {text.around(right)})")
            case ast.AugAssign(target=target, op=op, value=value) if type(op) in other:
                sign = other[type(op)]
                yield text.put(node, f"{text.of(target)} {sign}= {text.of(value)}")
            case _:
                pass


def wrong_constant(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Another number."""
    for node in _numbers(function):
        match node.value:
            case bool():
                pass
            case int(value):
                yield text.put(node, str(value + 1))
            case float(value):
                yield text.put(node, repr(value * 2 + 0.5))
            case _:
                pass


def halved_constant(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A tile, a block or a group of half the size in one place."""
    for node in _numbers(function):
        match node.value:
            case bool():
                pass
            case int(value) if value >= 2 and value % 2 == 0:
                yield text.put(node, str(value // 2))
            case _:
                pass


def _numbers(node: ast.AST) -> Iterator[ast.Constant]:
    """Numbers that are no axes, shapes or options."""
    match node:
        case ast.Constant():
            yield node
        case ast.Call(func=func, args=args):
            name = ast.unparse(func)
            if name in ("tl.arange", "tl.program_id"):
                return
            skipped = {"tl.full": (0, 1), "tl.sum": (1,), "tl.max": (1,), "tl.min": (1,)}
            for at, one in enumerate(args):
                if at not in skipped.get(name, ()):
                    yield from _numbers(one)
        case ast.Subscript() | ast.arguments():
            return
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _numbers(child)


def cast_missing(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A value that is loaded stays in its own type."""
    for node in _casts(function):
        assert isinstance(node.func, ast.Attribute)
        if ast.unparse(node.args[0]) != "offset":
            yield text.put(node, text.around(node.func.value))


def index_cast_missing(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """An index stays in 32 bits."""
    for node in _casts(function):
        assert isinstance(node.func, ast.Attribute)
        if ast.unparse(node.args[0]) == "offset":
            yield text.put(node, text.around(node.func.value))
    for call in calls(function, "tl.cast"):
        if ast.unparse(call.args[1]) == "offset":
            yield text.put(call, text.around(call.args[0]))


def rounded(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Something is rounded on the way."""
    for node in _casts(function):
        if ast.unparse(node.args[0]) != "offset":
            yield text.put(node, f"{text.of(node)}.to(tl.float8e5).to({text.of(node.args[0])})")


def _casts(function: ast.FunctionDef) -> Iterator[ast.Call]:
    for node in nodes(function):
        match node:
            case ast.Call(func=ast.Attribute(attr="to"), args=[_]):
                yield node
            case _:
                pass


def fewer_bits(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A product is computed in fewer bits."""
    for call in calls(function, "tl.dot"):
        precision = keyword(call, "input_precision")
        if precision is not None and "ieee" in text.of(precision):
            yield text.put(precision, '"tf32"')
