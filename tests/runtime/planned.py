"""Files with kernels and plans that are written by hand, for tests of what carries plans out."""

from collections.abc import Mapping
from typing import Any

from dtpoly.plan.runtime_text import IMPORTS, runtime_text
from tests.codegen.running import imported

Plan = dict[str, Any]

SCALE = """
@triton.jit
def scale_kernel(
    A_ptr, A_stride_0, A_stride_1,
    f_ptr, f_stride_0, f_stride_1,
    a: tl.float64, n, x_size, y_size,
    y_lanes: tl.constexpr, even: tl.constexpr, real: tl.constexpr, fours: tl.constexpr,
    offset: tl.constexpr,
):
    x = tl.program_id(0).to(offset)
    y = tl.arange(0, y_lanes).to(offset)
    mask = (y < y_size) | even
    a = tl.full((), a, real)
    tile = tl.load(A_ptr + x * A_stride_0 + y * A_stride_1, mask=mask, other=0.0).to(real)
    tl.store(f_ptr + x * f_stride_0 + y * f_stride_1, tile * a + n, mask=mask)
"""
SCALE_PLAN: Plan = {
    "function": "f",
    "inputs": {"A": ("float", 2), "a": "float", "n": ("int", -128, 127)},
    "sizes": {"x": "A.shape[0]", "y": "A.shape[1]"},
    "types": {"real": "real(A)"},
    "results": {"f": {"shape": ("x", "y"), "dtype": "A"}},
    "indices": ("x", "y"),
    "launches": [
        {
            "kernel": "scale_kernel",
            "func": "f",
            "programs": ("x",),
            "tensors": {"A": "x_size y_size", "f": "x_size y_size"},
            "numbers": {"a": "a", "n": "n", "x_size": "x", "y_size": "y"},
            "lanes": {"y_lanes": "lanes(y)"},
            "flags": {"even": "lanes(y) == y"},
            "types": ("real",),
            "fours": ("A.stride(0)", "f.stride(0)", "y"),
            "tiles": [("f", "lanes(y)", "f.tensorize(y:1024)")],
            "num_warps": 4,
        },
    ],
}
# Adds 1-D tensors; with it, sums of rows are made by several kernels.
ADD = """
@triton.jit
def add_kernel(
    A_ptr, A_stride_0, B_ptr, B_stride_0, f_ptr, f_stride_0, x_size,
    real: tl.constexpr, offset: tl.constexpr,
):
    x = (tl.program_id(0) * 16 + tl.arange(0, 16)).to(offset)
    a = tl.load(A_ptr + x * A_stride_0, mask=x < x_size, other=0.0).to(real)
    b = tl.load(B_ptr + x * B_stride_0, mask=x < x_size, other=0.0).to(real)
    tl.store(f_ptr + x * f_stride_0, a + b, mask=x < x_size)
"""
ADD_PLAN: Plan = {
    "function": "f",
    "inputs": {"A": ("float", 1), "B": ("float", 1)},
    "sizes": {"x": "A.shape[0]"},
    "demands": [{"shape": "B", "is": ("x",)}],
    "types": {"real": "real(A, B)"},
    "results": {"f": {"shape": ("x",), "dtype": "promoted(A, B)"}},
    "indices": ("x",),
    "launches": [
        {
            "kernel": "add_kernel",
            "func": "f",
            "programs": ("cdiv(x, 16)",),
            "tensors": {"A": "x_size", "B": "x_size", "f": "x_size"},
            "numbers": {"x_size": "x"},
            "types": ("real",),
        },
    ],
}
# Fills a 1-D tensor with a number and an index, and reads nothing.
FILL = """
@triton.jit
def fill_kernel(f_ptr, f_stride_0, a: tl.float64, x_size, offset: tl.constexpr):
    x = (tl.program_id(0) * 16 + tl.arange(0, 16)).to(offset)
    tl.store(f_ptr + x * f_stride_0, x + tl.full((), a, tl.float32), mask=x < x_size)
"""
FILL_PLAN: Plan = {
    "function": "f",
    "inputs": {"a": "float"},
    "sizes": {"x": None},
    "passed": {"x": ()},
    "results": {"f": {"shape": ("x",), "dtype": "f32"}},
    "indices": ("x",),
    "launches": [
        {
            "kernel": "fill_kernel",
            "func": "f",
            "programs": ("cdiv(x, 16)",),
            "tensors": {"f": "x_size"},
            "numbers": {"a": "a", "x_size": "x"},
        },
    ],
}


def file_of(kernels: str, *plans: Plan, runtime: str = "") -> str:
    """Return a file with these kernels and plans, and the text of the runtime if no other."""
    parts = [IMPORTS, kernels]
    parts += [f"{plan['function']}_plan = {plan!r}\n" for plan in plans]
    parts.append(runtime or runtime_text())
    for plan in plans:
        name = plan["function"]
        launched = ", ".join(dict.fromkeys(one["kernel"] for one in plan["launches"]))
        parts.append(f"{name} = dt_function({name}_plan, {launched})\n")
    return "\n\n".join(parts)


def module_of(kernels: str, *plans: Plan) -> Any:
    """That file, loaded."""
    return imported(file_of(kernels, *plans))


def changed(plan: Plan, *, launch: Mapping[str, Any] | None = None, **keys: Any) -> Plan:
    """A plan with other keys, and with other keys of its first launch; None takes one away."""
    first, *others = plan["launches"]
    first = _without(first | dict(launch or {}))
    return _without(plan | {"launches": [first, *others]} | keys)


def _without(made: Plan) -> Plan:
    return {key: value for key, value in made.items() if value is not None}
