"""Changes of ranges, lanes, sizes and addresses, and of constants."""

import ast
from collections.abc import Iterator
from random import Random

from tests.attack.mutants.source import (
    Operator,
    Source,
    anywhere,
    called,
    in_kernels,
    pick,
)

RANGES = ("range", "tl.range", "tl.static_range")


def _range(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Change the first number, the last one or the step, or count in another way."""
    call = called(node, *RANGES)
    if call is None or not call.args:
        return
    args = [source.inside(one) for one in call.args]
    first, last, step = [*(["0"] * (len(args) < 2)), *args, *(["1"] * (len(args) < 3))][:3]
    name = source.of(call.func)
    more = random.choice((-1, 1, 2))
    yield f"{name}({first} + {more}, {last}, {step})"
    yield f"{name}({first}, {last} + {more}, {step})"
    yield f"{name}({first}, {last} + {step}, {step})"
    yield f"{name}({first}, {last} - {step}, {step})"
    yield f"{name}({first}, {last}, {step} * 2)"
    yield f"{name}({first}, {last}, {step} // 2)"
    yield f"{name}({first} - {step}, {last}, {step})"
    yield f"{name}({last} - {step}, {first} - 1, -{step})"
    yield f"{name}({last}, {first}, {step})"
    yield f"reversed({name}({first}, {last}, {step}))"


def _counted_otherwise(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    call = called(node, *RANGES)
    if call is not None:
        args = ", ".join(source.of(one) for one in call.args)
        yield from (f"{name}({args})" for name in RANGES)
        more = random.choice(
            (
                *("num_stages=3", "num_stages=0", "loop_unroll_factor=4", "flatten=True"),
                *("disallow_acc_multi_buffer=True", "warp_specialize=True"),
                "disable_licm=True",
            )
        )
        yield f"tl.range({args}, {more})"


def _lanes(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    call = called(node, "tl.arange")
    if call is None or len(call.args) != 2:
        return
    first, last = (source.inside(one) for one in call.args)
    yield f"tl.arange({first}, {last} * 2)"
    yield f"tl.arange({first}, {last} // 2)"
    yield f"tl.arange({last}, {last} * 2)"
    yield f"(tl.arange({first}, {last}) ^ 1)"
    yield f"(tl.arange({first}, {last}) // 2)"
    yield f"(tl.arange({first}, {last}) % {last})"
    yield f"tl.flip(tl.arange({first}, {last}))"
    yield f"(tl.arange({first}, {last}) & ({last} - 1))"
    yield f"(tl.arange({first}, {last}) + tl.program_id(0) * 0)"
    yield f"tl.arange({first}, {last})[::-1]"


def _index(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Put a little arithmetic around an index or a size."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        one, size = node.id, pick(random, [n for n in source.names if "size" in n or n.isupper()])
        yield from (f"({one} + 1)", f"({one} - 1)", f"({one} + 0)", f"(-{one})", f"({one} * 1)")
        yield from (f"({one} // 4 * 4)", f"({one} // 2)", f"({one} | 1)", f"({one} & ~1)")
        yield from (f"({one} << 1 >> 1)", f"({one} ^ 0)", f"(- -{one})", f"({one} % 4)")
        if size is not None:
            yield from (f"({one} % {size})", f"min({one}, {size})", f"tl.minimum({one}, {size})")
            yield from (f"max({one}, {size})", f"({one} % -{size})", f"({one} * {size} // {size})")


def _arithmetic(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Take another operation, or put operands in another order or grouping."""
    if isinstance(node, ast.BinOp):
        left, right = source.inside(node.left), source.inside(node.right)
        signs = ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "**")
        yield f"({left} {random.choice(signs)} {right})"
        sign = source.text[source.span(node.left)[1] : source.span(node.right)[0]].strip(" ()\n")
        yield f"({right} {sign} {left})"
        yield f"-(-{left} {sign} {right})"
        yield f"({left} {sign} {right} {sign} {right})"
        yield from (left, right)
        if isinstance(node.left, ast.BinOp):
            inner = node.left
            a, b = source.inside(inner.left), source.inside(inner.right)
            start, end = source.span(inner.left)[1], source.span(inner.right)[0]
            other = source.text[start:end].strip(" ()\n")
            yield f"({a} {other} ({b} {sign} {right}))"
            yield f"(({a} {sign} {right}) {other} {b})"


def _padded(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Replace a part of an address by a size or a stride of another one."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for ending in ("_size", "_start", "_blocks", "_ptr", "_0", "_1", "_mask", "_tile"):
            if node.id.endswith(ending):
                yield from (one for one in source.names if one.endswith(ending))


def _number(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() as value):
            near = (value + 1, value - 1, value * 2, value // 2, -value, 0, 1, value + 2**31)
            yield from (str(one) if one >= 0 else f"({one})" for one in near)
            yield f"{value + 2**64}"
        case ast.Constant(value=float() as value):
            close = (value + 1.0, value * 1.0001, value / 2, -value, -0.0, value + 1e-3, 1e300)
            yield from (str(one) if one >= 0 else f"({one})" for one in close)
            yield "1e999"
        case _:
            pass


def _number_spelled(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Write the same number in another way."""
    match node:
        case ast.Constant(value=bool() as value):
            yield f"(not {not value})"
        case ast.Constant(value=int() as value) if type(value) is int:
            yield from (hex(value), oct(value), bin(value), f"({value - 1} + 1)", f"({value} | 0)")
            yield from (
                f"({value * 2} // 2)",
                f"(~{-value - 1})",
                f"int({value})",
                f"({value} ** 1)",
            )
            yield f"len({'x' * min(value, 9)!r})"
            if value >= 10:
                yield "_".join(str(value))
        case ast.Constant(value=float() as value):
            yield from (f"{value:e}", f"({value} + 0.0)", f"{value * 10}e-1", f"float({value})")
            yield f'float("{value}")'
        case _:
            pass


def _all_of_one_number(source: Source, random: Random) -> str | None:
    """A number is another everywhere."""
    nodes = [*source.kernel_nodes, *source.plan_nodes]
    found = [
        node
        for node in nodes
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 1
    ]
    one = pick(random, sorted({source.of(node) for node in found}))
    if one is None:
        return None
    new = str(random.choice((2, 4, 8, 16, 32, 64, 128, 3, 5)))
    return source.put(*((node, new) for node in found if source.of(node) == one))


FUNCTIONS = {
    "tl.exp": ("tl.exp2", "tl.math.exp", "tl.math.exp2", "tl.log", "1.0 + tl.exp"),
    "tl.sqrt": ("tl.rsqrt", "tl.math.sqrt", "tl.sqrt_rn", "tl.math.sqrt_rn", "tl.abs"),
    "tl.maximum": ("tl.minimum", "tl.math.max", "max"),
    "tl.minimum": ("tl.maximum", "min"),
    "tl.sigmoid": ("tl.exp", "tl.erf", "tl.math.sigmoid"),
    "tl.log": ("tl.log2", "tl.math.log", "tl.exp"),
    "tl.abs": ("tl.sqrt", "tl.math.abs", "abs"),
    "min": ("max", "tl.minimum"),
    "max": ("min", "tl.maximum"),
}


def _function(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Replace a function by a similar one, or leave it out."""
    if isinstance(node, ast.Call):
        name, args = source.of(node.func), ", ".join(source.of(one) for one in node.args)
        yield from (f"{one}({args})" for one in FUNCTIONS.get(name, ()))
        if name in FUNCTIONS and name not in ("min", "max"):
            yield f"({args},)[0]"
            yield f"{source.inside(node.args[0])}.{name.removeprefix('tl.')}()"
        if name in ("tl.maximum", "tl.minimum"):
            yield f"{name}({args}, propagate_nan=tl.PropagateNan.ALL)"
            yield f"{name}({args}, tl.PropagateNan.NONE)"


def _shape(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Give a value another shape."""
    if isinstance(node, ast.Name | ast.Subscript) and isinstance(node.ctx, ast.Load):
        one = source.of(node)
        yield from (f"tl.trans({one})", f"{one}.T", f"tl.ravel({one})", f"{one}[None]")
        yield from (f"tl.expand_dims({one}, 0)", f"{one}[:]", f"{one}[:, None]", f"{one}[None, :]")
        yield f"tl.reshape({one}, {one}.shape)"
        yield f"tl.permute({one}, (1, 0))"
    call = called(node, "tl.sum", "tl.reduce", "tl.max", "tl.min")
    if call is not None and len(call.args) > 1:
        first, axis = source.of(call.args[0]), source.of(call.args[1])
        rest = "".join(f", {source.of(one)}" for one in call.args[2:])
        name = source.of(call.func)
        yield from (f"{name}({first}, {at}{rest})" for at in ("0", "1", "-1", "None"))
        yield f"{name}({first}, {axis}{rest}, keep_dims=True)"


def _hint(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Tell Triton something about numbers that may not be true."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        one = node.id
        yield from (f"tl.multiple_of({one}, 16)", f"tl.max_contiguous({one}, 8)")
        yield from (f"tl.max_constancy({one}, 4)", f"tl.multiple_of({one}, (8,))")
    if isinstance(node, ast.Assign) and node.col_offset:
        before, name = " " * node.col_offset, pick(random, source.names)
        yield f"{source.of(node)}\n{before}tl.assume({name} > 0)"
        yield f"tl.static_assert({name} > 0)\n{before}{source.of(node)}"
        yield f"tl.device_assert({name} > 0)\n{before}{source.of(node)}"


OPERATORS = (
    Operator("bounds", "another range", in_kernels(_range)),
    Operator("bounds", "counted otherwise", in_kernels(_counted_otherwise)),
    Operator("bounds", "other lanes", in_kernels(_lanes)),
    Operator("bounds", "arithmetic around a name", anywhere(_index)),
    Operator("bounds", "another operation or grouping", anywhere(_arithmetic)),
    Operator("bounds", "a name of the same kind", anywhere(_padded)),
    Operator("bounds", "another shape or axis", in_kernels(_shape)),
    Operator("bounds", "a hint that may not be so", in_kernels(_hint)),
    Operator("constants", "another number", anywhere(_number)),
    Operator("constants", "a number spelled otherwise", anywhere(_number_spelled)),
    Operator("constants", "a number is another everywhere", _all_of_one_number),
    Operator("constants", "a function like it", in_kernels(_function)),
)
