"""Formulas and dtypes of plans."""

import functools
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

    From low to high is what the index is where that label is 0.
    """
    if low < 0 or high >= extent:
        return 0
    return (extent - 1 - high) // factor + 1 if factor > 0 else low // -factor + 1


def dt_promoted(names: str, *dtypes: Any) -> Any:
    """Find the dtype that holds the values of several."""
    total = dtypes[0]
    for dtype in dtypes[1:]:
        if dtype != total:
            if 1 in (dtype.itemsize, total.itemsize):
                raise TypeError(f"no dtype holds both {total} and {dtype}, of {names}: convert one")
            total = torch.promote_types(total, dtype)
    return total


def dt_real(*dtypes: Any) -> Any:
    """Find the type in which floats are computed; a GPU converts none of 8 bits to one of 64."""
    if torch.float64 not in dtypes:
        return tl.float32
    for dtype in dtypes:
        if dtype.itemsize == 1:
            raise TypeError(f"{dtype} and {torch.float64} have no common type: convert an input")
    return tl.float64


def dt_operand(dtype: Any, real: Any) -> Any:
    """Find the type in which sides of a product meet: f16 holds every value of 8 bits."""
    if real is tl.float64:
        return real
    return tl.float16 if dtype.itemsize == 1 else dt_triton[dtype]


def dt_check_atomic(name: str, operation: str, dtype: Any) -> None:
    """Refuse a dtype in which memory cannot combine partial results."""
    if dtype.itemsize < (2 if operation == "rsum" else 4):
        raise TypeError(
            f"'{name}' would be {dtype}, and '{operation}' has no atomic form in that: "
            f"declare Func {name}: f32, or take the atomic out, and generate this file again"
        )


dt_names = dict[str, Any](dt_min=min, dt_max=max, dt_cdiv=dt_up, dt_lanes=dt_lanes, dt_fit=dt_fit)
dt_names.update(dt_triton=dt_triton, dt_dtypes=dt_dtypes, dt_promoted=dt_promoted, dt_real=dt_real)
dt_names.update(dt_operand=dt_operand, dt_atomic=dt_check_atomic)


@functools.cache
def dt_code(text: str) -> Any:
    """Compile formulas, or what was written of a plan. Functions of formulas get `dt_` in front."""
    text = re.sub(r"(?<![.\w])(min|max|cdiv|lanes|fit)\(", r"dt_\1(", text)
    return compile(text, "<plan>", "eval")


def dt_value(text: str, known: dict[str, Any]) -> Any:
    """Compute what a text comes to, from the sizes, numbers and tensors of a call."""
    return eval(dt_code(text), dt_names, known)


def dt_tuple(texts: Any) -> str:
    """Write a tuple."""
    return f"({''.join(f'{one}, ' for one in texts)})"


def dt_terms(text: str) -> list[str]:
    """Find the names in a text such as `promoted(A, B, f32)`."""
    return re.findall(r"\w+\b(?!\()", text)


def dt_dtype(plan: Any, text: str) -> str:
    """Write how a dtype of the plan is computed: of an input, a word, or what holds several."""
    terms, inputs = dt_terms(text), plan.get("inputs", {})
    if text.startswith("type("):
        return f"{{kind: dtype for dtype, kind in dt_triton.items()}}[dt_types[{terms[0]!r}]]"
    parts = [f"{one}.dtype" if one in inputs else f"dt_dtypes[{one!r}]" for one in terms]
    *names, last = (dt_source(plan, one) for one in terms)
    together = f"{', '.join(names)} and {last}"
    return f"dt_promoted({together!r}, {', '.join(parts)})" if names else parts[0]


def dt_types(plan: Any) -> str:
    """Write how the types of kernels are computed, and which dtypes are refused on the way."""
    meet = [dt_dtype(plan, ", ".join(terms)) for terms in plan.get("meet", ())]
    types = dict[str, str]()
    for name, text in plan.get("types", {}).items():
        kind, dtype = text.split("(")[0], dt_dtype(plan, text)
        if kind == "real":
            dtypes = (f"{one}.dtype" for one in dt_terms(text))
            types[name] = f"dt_real({', '.join(dtypes)})"
        else:
            types[name] = f"dt_triton[{dtype}]"
        if kind == "operand":
            types[name] = f"dt_operand({dtype}, {types['real']})"
    kinds = ", ".join(f"{name!r}: {text}" for name, text in types.items())
    adds = [
        f"dt_atomic({o!r}, {how!r}, {dt_dtype(plan, of)})" for o, how, of in plan.get("adds", ())
    ]
    return f"{dt_tuple(meet)}, {{{kinds}}}, {dt_tuple(adds)}"


def dt_source(plan: Any, name: str) -> Any:
    """Find what the source calls an input or a label, for messages."""
    return plan.get("names", {}).get(name, name)
