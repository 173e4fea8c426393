"""Changes masks, values of masked lanes, and conditions."""

import ast
from collections.abc import Iterator
from random import Random

from tests.attack.mutants.source import (
    Operator,
    Source,
    anywhere,
    called,
    in_kernels,
    keyword,
    pick,
)

VALUES = (
    *("0.0", "1.0", "-1.0", 'float("inf")', '-float("inf")', 'float("nan")', "1", "True", "1e30"),
    *("-0.0", "65504.0", "None"),
)


def _is_mask(node: ast.AST) -> bool:
    """True if the expression is a boolean for each lane, as its name in such files shows."""
    match node:
        case ast.Name(id=one, ctx=ast.Load()):
            return "mask" in one or one in ("even", "fours")
        case ast.Subscript(value=ast.Name(id=one)):
            return "mask" in one
        case ast.Compare():
            return True
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
            return True
        case _:
            return False


def _joined(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Combine masks in another way."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        left, right = source.inside(node.left), source.inside(node.right)
        yield from (f"({left} {sign} {right})" for sign in ("&", "|", "^", "*", "+", "==", "and"))
        yield f"({left} > {right})"
        yield f"tl.minimum({left}, {right})"


def _turned(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Add an axis in front instead of at the end."""
    match node:
        case ast.Subscript(value=value, slice=ast.Tuple(elts=axes)):
            for _ in range(2):
                mixed = random.sample(axes, len(axes))
                yield f"{source.of(value)}[{', '.join(source.of(one) for one in mixed)}]"
            yield f"{source.of(value)}.expand_dims({random.randrange(2)})"
            yield source.of(value)
        case _:
            pass


def _negated(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    if _is_mask(node):
        one = source.inside(node)
        yield from (f"(~{one})", f"(not {one})", f"({one} == 0)", f"({one} != 1)", f"(1 - {one})")
        yield from (f"({one} == False)", f"({one} < 1)", f"(-{one} < 0)")


def _said_otherwise(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Write the same condition in other words, or almost the same."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            one = source.inside(operand)
            yield from (f"~{one}", f"{one} == 0", f"{one} is False", f"1 - {one}", f"{one} < 1")
            yield from (f"{one} ^ True", f"{one} != True", f"~({one} != 0)", f"{one} == False")
        case ast.BoolOp(op=op, values=[one, *rest]):
            sign = "|" if isinstance(op, ast.And) else "&"
            yield f" {sign} ".join(source.inside(part) for part in (one, *rest))
            yield f" {'or' if sign == '|' else 'and'} ".join(source.inside(p) for p in (one, *rest))
            sign = "&" if sign == "|" else "|"
            yield f" {sign} ".join(source.inside(part) for part in (one, *rest))
            yield source.of(one)
        case _ if _is_mask(node):
            one = source.inside(node)
            yield from (f"({one} != 0)", f"(({one}) & True)", f"~~{one}", f"({one} | False)")
            yield from (f"({one}.to(tl.int8))", f"({one} * 1)", f"(+{one})", f"({one} and True)")
        case _:
            pass


def _compared(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = source.inside(node.left), source.inside(node.comparators[0])
        yield from (f"{left} {sign} {right}" for sign in ("<", "<=", "!=", ">", ">=", "=="))
        yield from (f"({left} - {right}) < 0", f"0 <= {left} < {right}", f"{right} > {left}")
        yield from (f"{left} < {right} + 1", f"{left} + 1 <= {right}", f"not {left} >= {right}")
        yield f"{left} // {right} == 0"
        yield f"{left}.to(tl.uint32) < {right}"


def _other_mask(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Take another condition of the same kernel."""
    if _is_mask(node):
        others = [source.of(one) for one in source.kernel_nodes if _is_mask(one)]
        yield from random.sample(others, min(3, len(others)))
        yield from ("True", "None", "1")


def _argument(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Drop an argument of an access, pass it twice or by position, or add one."""
    call = called(node, "tl.load", "tl.store", "tl.atomic_add")
    if call is None:
        return
    args = [source.of(one) for one in call.args]
    named = [source.of(one) for one in call.keywords]
    function = source.of(call.func)
    for at in range(len(named)):
        yield f"{function}({', '.join((*args, *named[:at], *named[at + 1 :]))})"
    values = [source.of(one.value) for one in call.keywords]
    yield f"{function}({', '.join((*args, *values))})"
    yield f"{function}({', '.join((*args, *reversed(values)))})"
    if function == "tl.load":
        more = random.choice(
            (
                *('cache_modifier=".cg"', 'eviction_policy="evict_first"', "volatile=True"),
                *("boundary_check=(0,)", 'padding_option="nan"', "mask=None", "other=None"),
            )
        )
        yield f"{function}({', '.join((*args, *named, more))})"


def _other(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Take other values in masked lanes."""
    call = called(node, "tl.load")
    other = keyword(call, "other") if call is not None else None
    if call is not None and other is not None:
        start, end = source.span(other)
        first, last = source.span(call)
        new = random.choice((*VALUES, *source.names))
        yield source.text[first:start] + new + source.text[end:last]


def _chosen(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Change what `where` gives where its condition is false, or write it in another way."""
    call = called(node, "tl.where")
    if call is not None and len(call.args) == 3:
        mask, yes, no = (source.inside(one) for one in call.args)
        yield f"tl.where({mask}, {yes}, {random.choice(VALUES)})"
        yield f"({mask} * {yes})"
        yield f"({mask} * {yes} + (1 - {mask}) * {no})"
        yield f"tl.where({yes}, {mask}, {no})"
        yield f"({yes} if {mask} else {no})"
        yield f"tl.where(~{mask}, {no}, {yes})"
        yield f"tl.where({mask}, {yes}, {yes})"


def _where_added(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    masks = [source.of(one) for one in source.kernel_nodes if _is_mask(one)]
    if isinstance(node, ast.BinOp | ast.Call) and masks:
        mask, other = random.choice(masks), random.choice(VALUES)
        yield f"tl.where({mask}, {source.of(node)}, {other})"


def _all_others(source: Source, random: Random) -> str | None:
    """Take one value in the masked lanes of all loads."""
    calls = [one for node in source.kernel_nodes if (one := called(node, "tl.load")) is not None]
    found = [other for one in calls if (other := keyword(one, "other")) is not None]
    new = random.choice(VALUES)
    return source.put(*((one, new) for one in found)) if found else None


def _condition(source: Source, node: ast.AST, random: Random) -> Iterator[str]:
    """Make a condition always or never true."""
    if isinstance(node, ast.Compare | ast.BoolOp):
        yield random.choice(("True", "False", "1", "0", '""', "None", "not True"))
        name = pick(random, source.names)
        yield f"({source.of(node)}) or {name}"
        yield f"({source.of(node)}) and {name}"


OPERATORS = (
    Operator("masks", "masks joined otherwise", in_kernels(_joined)),
    Operator("masks", "axes turned", in_kernels(_turned)),
    Operator("masks", "a mask negated", in_kernels(_negated)),
    Operator("masks", "a truth said otherwise", anywhere(_said_otherwise)),
    Operator("masks", "another comparison", anywhere(_compared)),
    Operator("masks", "another mask", in_kernels(_other_mask)),
    Operator("masks", "arguments of an access", in_kernels(_argument)),
    Operator("masks", "a condition always or never true", anywhere(_condition)),
    Operator("other", "another value in masked lanes", in_kernels(_other)),
    Operator("other", "one value in masked lanes of all loads", _all_others),
    Operator("other", "another choice", in_kernels(_chosen)),
    Operator("other", "a choice added", in_kernels(_where_added)),
)
