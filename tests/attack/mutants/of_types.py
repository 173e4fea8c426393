"""Changes types: of casts, constants, accumulators, and operations with types of their own."""

import ast
from collections.abc import Iterator
from random import Random

from tests.attack.mutants.source import (
    Operator,
    Source,
    called,
    in_kernels,
    keyword,
    pick,
)

TYPES = (
    *("tl.float32", "tl.float16", "tl.bfloat16", "tl.float64", "tl.float8e5", "tl.int1"),
    *("tl.int8", "tl.uint8", "tl.int16", "tl.int32", "tl.uint32", "tl.int64", "tl.uint64"),
    *("real", "offset"),
)
TORCH_TYPES = ("torch.float16", "torch.bfloat16", "torch.float32", "torch.float64", "torch.int32")


def _cast(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """Return what is cast, and the type."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="to"), args=[to]):
            return value, to
        case _:
            return None


def _all_casts(source: Source, random: Random) -> str | None:
    """Keep, drop or change each cast."""
    text, changed = source.text, False
    # Inner casts come first, so that a cast inside of a cast keeps its place.
    found = [
        (source.span(node), source.span(value))
        for node in source.kernel_nodes
        if (cast := _cast(node)) is not None
        for value in [cast[0]]
    ]
    random.shuffle(found)
    some = found[: 1 + random.randrange(max(len(found), 1))]
    for (_, end), (_, inner) in sorted(some, reverse=True):
        new = random.choice(["", "", "", f".to({random.choice(TYPES)})"])
        text, changed = text[:inner] + new + text[end:], True
    return text if changed else None


def _same_casts(source: Source, random: Random) -> str | None:
    """Drop all casts to one type, or change them to another type."""
    casts = [(node, cast) for node in source.kernel_nodes if (cast := _cast(node)) is not None]
    to = pick(random, sorted({source.of(cast[1]) for _, cast in casts}))
    if to is None:
        return None
    new = random.choice(["", f".to({random.choice(TYPES)})"])
    return source.edited(
        (source.span(cast[0])[1], source.span(node)[1], new)
        for node, cast in casts
        if source.of(cast[1]) == to
    )


def _cast_added(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    if isinstance(node, ast.BinOp | ast.Call | ast.Name | ast.Subscript) and not isinstance(
        getattr(node, "ctx", None), ast.Store
    ):
        yield f"{source.inside(node)}.to({random.choice(TYPES)})"


def _there_and_back(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    if isinstance(node, ast.BinOp | ast.Call):
        one, other = random.sample(TYPES, 2)
        yield f"{source.inside(node)}.to({one}).to({other})"


def _cast_of_operands(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Cast the operands instead of the result, or the other way round."""
    cast = _cast(node)
    if cast is not None and isinstance(cast[0], ast.BinOp):
        of, to = cast[0], source.of(cast[1])
        sign = source.text[source.span(of.left)[1] : source.span(of.right)[0]]
        if sign.count("(") == sign.count(")") == 0:
            left, right = source.inside(of.left), source.inside(of.right)
            yield f"({left}.to({to}){sign}{right}.to({to}))"
            yield f"({left}.to({to}){sign}{right})"
    if isinstance(node, ast.BinOp):
        side = _cast(node.left)
        if side is not None:
            rest = source.text[source.span(node.left)[1] : source.span(node)[1]]
            yield f"({source.of(side[0])}{rest}).to({source.of(side[1])})"


def _bits(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    cast = _cast(node)
    if cast is not None:
        value, to = source.inside(cast[0]), source.of(cast[1])
        yield f"{value}.to({to}, bitcast=True)"
        yield f'{value}.to({to}, fp_downcast_rounding="rtz")'
        yield f"tl.cast({value}, {to})"
        yield f"{value}.cast({to})"


def _type_renamed(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    if isinstance(node, ast.Attribute | ast.Name) and source.of(node) in TYPES:
        yield random.choice(TYPES)


def _element_type(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    cast = _cast(node)
    pointers = [one for one in source.names if one.endswith("_ptr")]
    if cast is not None and pointers:
        yield f"{source.inside(cast[0])}.to({random.choice(pointers)}.dtype.element_ty)"
        yield f"{source.inside(cast[0])}.to({random.choice(source.names)}.dtype)"


def _division(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv):
        left, right = source.inside(node.left), source.inside(node.right)
        yield f"({left} / {right})"
        yield f"tl.fdiv({left}, {right})"
        yield f"tl.math.div_rn({left}, {right})"
        yield f"({left} * (1 / {right}))"
        yield f"({left} // {right})"
        yield f"-(-{left} // {right})"


def _literal_type(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    match node:
        case ast.Constant(value=bool() as value):
            yield from (str(int(value)), f"{float(value)}")
        case ast.Constant(value=float() as value) if value == value // 1 and abs(value) < 1e9:
            yield from (str(int(value)), f"tl.full((), {value}, tl.float16)", f"{value}j")
        case ast.Constant(value=int() as value):
            yield from (f"{float(value)}", f"tl.full((), {value}, tl.int8)", str(bool(value)))
        case _:
            pass


def _product_type(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    call = called(node, "tl.dot")
    if call is not None:
        inside = source.of(call)[:-1].rstrip().rstrip(",")
        names = {one.arg for one in call.keywords}
        for name, values in {
            "out_dtype": ("tl.float16", "tl.float32", "tl.float64"),
            "input_precision": ('"tf32"', '"ieee"', '"tf32x3"', '"bf16x3"'),
            "allow_tf32": ("True", "False"),
            "max_num_imprecise_acc": ("0", "32"),
        }.items():
            value = random.choice(values)
            given = keyword(call, name)
            if name not in names:
                yield f"{inside}, {name}={value})"
            elif given is not None:
                start, end = source.span(given)
                first, last = source.span(call)
                yield source.text[first:start] + value + source.text[end:last]


def _reduction(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    call = called(node, "tl.reduce", "tl.sum", "tl.max", "tl.min")
    if call is not None and len(call.args) >= 2:
        value, axis = source.of(call.args[0]), source.of(call.args[1])
        for name in ("sum", "max", "min", "xor_sum"):
            yield f"tl.{name}({value}, {axis})"
        yield f"tl.sum({value}, {axis}, dtype={random.choice(TYPES)})"
        yield f"tl.max({value}, {axis}, return_indices_tie_break_left=False)"
        yield f"{source.inside(call.args[0])}.sum({axis})"
        yield f"tl.sum({value}.to({random.choice(TYPES)}), {axis})"


def _accumulator(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    call = called(node, "tl.full", "tl.zeros")
    if call is not None:
        last = call.args[-1] if not call.keywords else call.keywords[-1].value
        start, end = source.span(last)
        first, stop = source.span(call)
        yield source.text[first:start] + random.choice(TYPES) + source.text[end:stop]


OPERATORS = (
    Operator("types", "casts kept, dropped and changed at random", _all_casts),
    Operator("types", "casts to one type dropped or changed", _same_casts),
    Operator("types", "a value cast", in_kernels(_cast_added)),
    Operator("types", "a value cast twice", in_kernels(_there_and_back)),
    Operator("types", "a cast moved over an operation", in_kernels(_cast_of_operands)),
    Operator("types", "bits taken as another type, other rounding", in_kernels(_bits)),
    Operator("types", "a type named otherwise", in_kernels(_type_renamed)),
    Operator("types", "cast to what a pointer points to", in_kernels(_element_type)),
    Operator("types", "another division", in_kernels(_division)),
    Operator("types", "a literal of another type", in_kernels(_literal_type)),
    Operator("types", "options of a product", in_kernels(_product_type)),
    Operator("types", "a reduction of Triton's own", in_kernels(_reduction)),
    Operator("types", "an accumulator of another type", in_kernels(_accumulator)),
)
