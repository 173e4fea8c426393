# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Computes the formulas and dtypes of plans."""

import ast
import functools
import operator
import re
from typing import Any

from dtpoly.carried.libraries import tl, torch, triton

dt_interpreted = triton.knobs.runtime.interpret  # kernels run on the CPU: TRITON_INTERPRET=1
dt_triton = {
    torch.float8_e4m3fn: tl.float8e4nv,
    torch.float8_e5m2: tl.float8e5,
    torch.float16: tl.float16,
    torch.bfloat16: tl.bfloat16,
    torch.float32: tl.float32,
    torch.float64: tl.float64,
}
dt_torch = {kind: dtype for dtype, kind in dt_triton.items()}
dt_dtypes = dict(zip(("f8e4m3", "f8e5m2", "f16", "bf16", "f32", "f64"), dt_triton, strict=True)) | {
    "bool": torch.bool,
    "u8": torch.uint8,
    **{f"i{bits}": getattr(torch, f"int{bits}") for bits in (8, 16, 32, 64)},
}


def dt_up(a: int, b: int) -> int:
    """Divide, and round up."""
    return -(-a // b)


def dt_lanes(size: int) -> int:
    """Find the power of two that holds a size; a matrix unit wants 16 at least."""
    return 1 << max(size - 1, 15).bit_length()


def dt_fit(extent: int, low: int, high: int, factor: int) -> int:
    """Find the largest size of a label for which an index stays inside of an axis.

    If that label is 0, the index is between low and high.
    """
    if low < 0 or high >= extent:
        return 0
    return (extent - 1 - high) // factor + 1 if factor > 0 else low // -factor + 1


dt_functions = dict[str, Any](min=min, max=max, cdiv=dt_up, lanes=dt_lanes, fit=dt_fit)
dt_python = ("Add", "Sub", "Mult", "FloorDiv", "Mod", "Eq", "NotEq", "Lt", "LtE", "Gt", "GtE")
dt_words = ("add", "sub", "mul", "floordiv", "mod", "eq", "ne", "lt", "le", "gt", "ge")
dt_operations = dict[str, str](zip(dt_python, dt_words, strict=True))


@functools.cache
def dt_formula(text: str) -> Any:
    """Return a function that computes a formula, or a truth, from the values of a call."""
    return dt_computed(ast.parse(text, mode="eval").body)


def dt_computed(node: Any) -> Any:
    """Return a function that computes a part of a formula, of which this is Python's tree."""
    match node:
        case ast.Constant(value=value):
            return lambda _: value
        case ast.Name(id=name):
            return operator.itemgetter(name)
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=name)), slice=ast.Constant(value=axis)
        ):
            return lambda known: known[name].shape[axis]
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=[ast.Constant(value=axis)]):
            return lambda known: known[name].stride(axis)
        case ast.Call(func=ast.Name(id=name), args=args):
            function, parts = dt_functions[name], [*map(dt_computed, args)]
            return lambda known: function(*[part(known) for part in parts])
        case ast.UnaryOp(operand=operand):
            part = dt_computed(operand)
            return lambda known: -part(known)
        case ast.BoolOp(values=[first, *others]):
            is_first, is_rest = dt_computed(first), [*map(dt_computed, others)]
            return lambda known: is_first(known) and all(part(known) for part in is_rest)
        case ast.BinOp(left=a, op=op, right=b) | ast.Compare(left=a, ops=[op], comparators=[b]):
            how: Any = getattr(operator, dt_operations[type(op).__name__])
            left, right = dt_computed(a), dt_computed(b)
            if isinstance(b, ast.Constant):
                constant = b.value
                return lambda known: how(left(known), constant)
            return lambda known: how(left(known), right(known))
        case _:
            raise ValueError(f"no formula: {ast.unparse(node)}")


def dt_value(text: str, known: dict[str, Any]) -> Any:
    """Compute a formula."""
    return dt_formula(text)(known)


def dt_terms(text: str) -> list[str]:
    """Find the names in a text such as `promoted(A, B, f32)`."""
    return re.findall(r"\w+\b(?!\()", text)


def dt_dtype(plan: Any, text: str, found: dict[str, Any], types: Any = None) -> Any:
    """Compute a dtype: of an input, by its name, or one that holds the values of several."""
    terms = dt_terms(text)
    if text.startswith("type("):
        return dt_torch[types[terms[0]]]
    total, *others = (found[one] if one in found else dt_dtypes[one] for one in terms)
    for dtype in others:
        if dtype != total and 1 in (dtype.itemsize, total.itemsize):
            *names, last = (dt_source(plan, one) for one in terms)
            words = f"{total} and {dtype}, of {', '.join(names)} and {last}"
            raise TypeError(f"no dtype holds both {words}: convert one")
        total = torch.promote_types(total, dtype)
    return total


def dt_types(plan: Any, found: dict[str, Any]) -> dict[str, Any]:
    """Compute the types that kernels are compiled with. Refuse inputs for which there are none.

    GPUs do not convert floats of 8 bits to 64 bits. An f16 holds every value of 8 bits.
    """
    types = dict[str, Any]()
    for terms in plan.get("meet", ()):
        dt_dtype(plan, ", ".join(terms), found)
    for name, text in plan.get("types", {}).items():
        kind = text.split("(")[0]
        if kind == "real":
            types[name] = dt_real([found[one] for one in dt_terms(text)])
        else:
            dtype = dt_dtype(plan, text, found)
            is_little = kind == "operand" and dtype.itemsize == 1
            is_wide = kind == "operand" and types["real"] is tl.float64
            types[name] = tl.float64 if is_wide else tl.float16 if is_little else dt_triton[dtype]
    for name, operation, text in plan.get("adds", ()):
        dtype = dt_dtype(plan, text, found)
        if dtype.itemsize < (2 if operation == "rsum" else 4):
            raise TypeError(
                f"'{name}' would be {dtype}, and '{operation}' has no atomic form in that: "
                f"declare Func {name}: f32, or take the atomic out, and generate this file again"
            )
    return types


def dt_real(dtypes: Any) -> Any:
    """Find the type in which floats are computed."""
    for dtype in dtypes if torch.float64 in dtypes else ():
        if dtype.itemsize == 1:
            raise TypeError(f"{dtype} and {torch.float64} have no common type: convert an input")
    return tl.float64 if torch.float64 in dtypes else tl.float32


def dt_into(plan: Any) -> list[tuple[str, int]]:
    """List the inputs that results go into, each with its place among the inputs."""
    names = [*plan.get("inputs", ())]
    into = [what["into"] for what in plan["results"].values() if "into" in what]
    return [(one, names.index(one)) for one in into]


def dt_places(plan: Any, names: list[str]) -> list[int]:
    """List the places of results: behind all arguments, or where the input is that one replaces."""
    new = iter(range(len(names), len(names) + len(plan["results"])))
    into = [what.get("into") for what in plan["results"].values()]
    return [names.index(one) if one else next(new) for one in into]


def dt_source(plan: Any, name: str) -> Any:
    """Find what the source calls an input or a label, for messages."""
    return plan.get("names", {}).get(name, name)
