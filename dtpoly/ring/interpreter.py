"""Triton's interpreter with each float an element of the ring, and the text of a file for it."""

import ast
import ctypes
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtpoly.plan.runtime_text import FIRST, LAST
from dtpoly.ring import ring_elements as field
from dtpoly.ring.ring_elements import Elements

# Where it interprets, triton can only be imported after torch.
import_module("torch")
# Triton has no types.
tl: Any = import_module("triton.language")
semantics: Any = import_module("triton.language.semantic").TritonSemantic
interpreter: Any = import_module("triton.runtime.interpreter")

# Functions of the file that compute by a series, on which the ring has no hold: here they are tags.
# A remainder is put together from its binary digits, which elements do not have.
# Small whole powers are products, however they are written.
TAGS = {
    "dt_tanh": "def dt_tanh(a):\n    return tl.sin(tl.erf(a))\n",
    "dt_pow": """def dt_pow(a, b):
    found, product = tl.sin(tl.erf(a) * 3.0 + b), a
    for exponent in range(1, 17):
        found = tl.where(b == exponent, product, found)
        product = product * a
    return found
""",
    "dt_round": "def dt_round(a):\n    return tl.sin(tl.floor(a))\n",
    "dt_trunc": "def dt_trunc(a):\n    return tl.cos(tl.floor(a))\n",
    "dt_mod": """def dt_mod(a, b):
    rest = a % b
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
""",
}
FLOAT = re.compile(r"\b(tl|torch)\.(?:float(?:16|32|8\w+)|bfloat16)\b")
# A dtype as a plan says it.
WORD = re.compile(r"\b(?:f8e4m3|f8e5m2|f16|bf16|f32)\b")
PLAN = re.compile(r"^\w+_plan = \{$.*?^\}", re.MULTILINE | re.DOTALL)


def in_ring(text: str) -> str:
    """Return the text of a generated file with all its floats of 64 bits: the carriers of elements.

    Each line stays where it is, so that what is said of it is right.
    """
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name in TAGS and node.end_lineno is not None:
            new = TAGS[node.name].splitlines()
            room = node.end_lineno - node.lineno + 1 - len(new)
            lines[node.lineno - 1 : node.end_lineno] = new + [""] * room
    before, *runtime, after = _around_runtime("\n".join(lines))
    planned = PLAN.sub(lambda found: WORD.sub("f64", found[0]), before)
    parts = (FLOAT.sub(r"\1.float64", planned), *runtime, FLOAT.sub(r"\1.float64", after))
    return "".join(parts) + "\n"


def _around_runtime(text: str) -> tuple[str, ...]:
    """Cut out the runtime, which knows all types, if the file carries it."""
    before, first, rest = text.partition(FIRST)
    runtime, last, after = rest.partition(LAST)
    return (before, first + runtime + last, after) if last else (text, "")


def tanh(a: Elements) -> Elements:
    """Compute the hyperbolic tangent as `TAGS` defines it."""
    return field.tag("sin", field.tag("erf", a))


def power(a: Elements, b: Elements) -> Elements:
    """Compute a power as `TAGS` defines it."""
    three = np.asarray(field.number(3))
    found = field.tag("sin", field.add(field.multiply(field.tag("erf", a), three), b))
    product = a
    for exponent in range(1, 17):
        found = np.where(b == field.number(exponent), product, found)
        product = field.multiply(product, a)
    return found


Handle = Any  # interpreter.TensorHandle


def _is_float(handle: Handle) -> bool:
    return bool(handle.dtype.scalar.is_floating())


def _made(data: NDArray[Any], like: Handle) -> Handle:
    return interpreter.TensorHandle(np.asarray(data), like.dtype.scalar)


def _two(operation: Callable[[Elements, Elements], Elements]) -> Callable[[Handle, Handle], Handle]:
    return lambda a, b: _made(operation(a.data, b.data), a)


def _one(operation: Callable[[Elements], Elements]) -> Callable[[Handle], Handle]:
    return lambda a: _made(operation(a.data), a)


def _tagged(name: str) -> Callable[[Handle], Handle]:
    return lambda a: _made(field.tag(name, a.data), a)


def _as_float(source: Handle, target: Any) -> Handle:
    # What a comparison gives is bools, and is said to be floats.
    data = np.asarray(source.data)
    elements = data if data.dtype == np.float64 else field.whole(data)
    return interpreter.TensorHandle(elements, target.scalar)


def _rounded(source: Handle, target: Any, _: object) -> Handle:
    return _as_float(source, target)


def _as_whole(source: Handle, target: Any) -> Handle:
    return interpreter.TensorHandle(whole_of(source.data).astype(_type(target)), target.scalar)


def whole_of(elements: Elements) -> NDArray[np.int64]:
    """Compute a cast to a whole number: the whole part of a number; else a small tag."""
    tags = np.asarray(field.tag("whole", elements)).view(np.uint64) % np.uint64(97)
    numbers, known = field.wholes_of(elements)
    return np.where(known, numbers, tags.astype(np.int64))


def _type(of: Any) -> Any:
    scalar = of.scalar
    # A type and not its class: the interpreter of Triton 3.6 takes nothing else for a load.
    return np.dtype(np.float64) if scalar.is_floating() else ORIGINAL_TYPE(of)


ORIGINAL_TYPE = interpreter._get_np_dtype
ORIGINAL_ATOMIC = interpreter.InterpreterBuilder.create_atomic_rmw
ORIGINAL_DOT = semantics.dot


def _literal(kind: Any) -> Callable[[float], Handle]:
    def literal(value: float) -> Handle:
        return interpreter.TensorHandle(np.array([field.number(float(value))], np.float64), kind)

    return literal


def _all_ones(kind: Any) -> Handle:
    # Triton 3.6 writes -1, which numpy takes for no unsigned number.
    return interpreter.TensorHandle(np.array([-1]).astype(_type(kind)), kind.scalar)


def _dot(a: Handle, b: Handle, d: Handle, *_: object) -> Handle:
    if not _is_float(d):
        return _made(np.matmul(a.data, b.data, dtype=d.data.dtype) + d.data, d)
    return _made(field.add(field.product_of_matrices(a.data, b.data), d.data), d)


def _call_of_dot(self: Any, a: Any, b: Any, start: Any, *options: Any) -> Any:
    # Triton 3.6 takes a product for one of 32 bits unless the call says otherwise, and refuses to
    # add it to a tensor of another type. In the ring, each float has 64.
    return ORIGINAL_DOT(
        self, a, b, start, *options[:-1], options[-1] if start is None else start.dtype
    )


def _fma(a: Handle, b: Handle, c: Handle) -> Handle:
    if not _is_float(c):
        return _made(a.data * b.data + c.data, c)
    return _made(field.add(field.multiply(a.data, b.data), c.data), c)


def _atomic(operation: Any, pointer: Handle, value: Handle, mask: Handle, *rest: Any) -> Handle:
    if not _is_float(value) or "ADD" not in str(operation):
        return ORIGINAL_ATOMIC(
            interpreter.interpreter_builder, operation, pointer, value, mask, *rest
        )
    old = np.zeros(np.shape(pointer.data), np.float64)
    given = np.broadcast_to(value.data, np.shape(pointer.data))
    for at in np.ndindex(*np.shape(pointer.data)):
        if np.broadcast_to(mask.data, np.shape(pointer.data))[at]:
            cell = ctypes.c_double.from_address(int(pointer.data[at]))
            old[at] = cell.value
            cell.value = float(field.add(np.asarray(old[at]), np.asarray(given[at])))
    return _made(old, value)


def _sum(self: Any, given: Any) -> Any:
    data = given.handle.data
    if given.dtype.is_floating():
        summed = field.total(data, self.axis)
        summed = np.expand_dims(summed, self.axis) if self.keep_dims else summed
    else:
        summed = np.sum(data, axis=self.axis, keepdims=self.keep_dims, dtype=data.dtype)
    return self.to_tensor(summed, given.dtype)


OPERATIONS: dict[str, Callable[..., Handle]] = {
    "create_fadd": _two(field.add),
    "create_fsub": _two(field.subtract),
    "create_fmul": _two(field.multiply),
    "create_fdiv": _two(field.divide),
    "create_precise_divf": _two(field.divide),
    "create_approx_divf": _two(field.divide),
    "create_frem": _two(lambda a, b: field.tag("rem", a, b)),
    "create_fneg": _one(field.negative),
    "create_fma": _fma,
    "get_all_ones_value": _all_ones,
    "create_exp": _one(field.exp),
    "create_exp2": _one(field.exp2),
    "create_log": _one(field.log),
    "create_log2": _one(field.log2),
    "create_dot": _dot,
    "create_atomic_rmw": _atomic,
    **{
        f"create_{name}": _tagged(name)
        for name in ("sqrt", "rsqrt", "sin", "cos", "erf", "floor", "ceil")
    },
    "create_precise_sqrt": _tagged("sqrt"),
    "create_fabs": _tagged("abs"),
    **dict.fromkeys(
        ("create_si_to_fp", "create_ui_to_fp", "create_fp_ext", "create_fp_trunc"), _as_float
    ),
    "create_fp_to_fp": _rounded,
    **dict.fromkeys(("create_fp_to_si", "create_fp_to_ui"), _as_whole),
    "get_fp16": _literal(tl.float16),
    "get_bf16": _literal(tl.bfloat16),
    "get_fp32": _literal(tl.float32),
    "get_fp64": _literal(tl.float64),
}


def _any_size(data: object, kind: object) -> bool:
    return True


@contextmanager
def ring(
    operations: Mapping[str, Callable[..., Any]] = OPERATIONS, total: Callable[..., Any] = _sum
) -> Generator[None]:
    """Let kernels compute in the ring meanwhile; whole numbers wrap, as on a GPU.

    With other `operations`, and another sum of a tile, they compute in something else.
    """
    builder = interpreter.interpreter_builder
    kept = interpreter.ReduceOps.sum, interpreter._validate_np_data_size
    options = builder.options
    builder.options = replace(options, sanitize_overflow=False)
    for name, operation in operations.items():
        setattr(builder, name, operation)
    semantics.dot = _call_of_dot
    interpreter.ReduceOps.sum = total
    interpreter._validate_np_data_size = _any_size
    interpreter._get_np_dtype = _type
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        builder.options = options
        for name in operations:
            delattr(builder, name)
        semantics.dot = ORIGINAL_DOT
        interpreter.ReduceOps.sum, interpreter._validate_np_data_size = kept
        interpreter._get_np_dtype = ORIGINAL_TYPE
