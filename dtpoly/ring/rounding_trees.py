"""Runs kernels on trees of operations: a float is a mark of how it was computed.

Two floats are equal only if the same operations made them, in the same grouping. So the results of
two calls can be compared without knowing how a device rounds. A tile that is summed is one
operation of all its lanes, in their order, and of its shape. What adds 0 leaves its operand as it
is, since a device does so, too (except for the sign of a 0).

This shares nothing with the proof that bits are the same: it runs the text in Triton's interpreter.
It imports torch and triton.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.ring.interpreter import OPERATIONS, in_ring, ring
from dtpoly.ring.ring_execution import wide
from dtpoly.runtime.load import load_module

# Triton has no types.
tl: Any = import_module("triton.language")
interpreter: Any = import_module("triton.runtime.interpreter")

Marks = NDArray[np.float64]
# The bits of the numbers from 1 to 2: all marks are such numbers.
ONE, FRACTION = np.uint64(0x3FF << 52), np.uint64((1 << 52) - 1)
FIRST, SECOND, STEP = (
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
    np.uint64(0x9E3779B97F4A7C15),
)


class NoTrees(Exception):
    """Raised where two calls have no row in common."""


@dataclass(frozen=True, slots=True)
class RowCall:
    """A call, and the index of the row that is looked at."""

    sizes: Mapping[str, int]
    row: int


def _mixed(bits: Any) -> Any:
    bits = (bits ^ (bits >> np.uint64(30))) * FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * SECOND
    return bits ^ (bits >> np.uint64(31))


def mark(word: str, *operands: Any) -> Marks:
    """Return the mark of an operation of operands, in this order."""
    total = np.uint64(sum(ord(one) << (7 * at % 50) for at, one in enumerate(word)) % 2**63)
    with np.errstate(all="ignore"):
        bits: Any = _mixed(np.asarray(total) + STEP)
        for one in operands:
            mine = np.asarray(one, np.float64).view(np.uint64)
            bits = _mixed((bits + STEP) ^ _mixed(mine + STEP))
        made: Marks = np.asarray((bits & FRACTION) | ONE).view(np.float64)
    return made


def add(a: Marks, b: Marks) -> Marks:
    """Return the mark of a sum; the order of two operands does not matter."""
    a, b = np.broadcast_arrays(np.asarray(a), np.asarray(b))
    found = mark("add", np.minimum(a, b), np.maximum(a, b))
    return np.where(a == 0, b, np.where(b == 0, a, found))


def subtract(a: Marks, b: Marks) -> Marks:
    """Return the mark of a difference."""
    a, b = np.broadcast_arrays(np.asarray(a), np.asarray(b))
    return np.where(b == 0, a, mark("sub", a, b))


def multiply(a: Marks, b: Marks) -> Marks:
    """Return the mark of a product; 0 times a number is 0."""
    a, b = np.broadcast_arrays(np.asarray(a), np.asarray(b))
    found = mark("mul", np.minimum(a, b), np.maximum(a, b))
    return np.where((a == 0) | (b == 0), 0.0, found)


def exponential(word: str) -> Callable[[Marks], Marks]:
    """Return the function that gives the marks of exp or exp2, of which -inf gives 0."""
    return lambda a: np.where(np.asarray(a) == -np.inf, 0.0, mark(word, a))


def number(value: float) -> float:
    """Return the mark of a written number: 0 and infinities are themselves."""
    return value if value == 0 or abs(value) == np.inf else float(mark("number", value))


def summed(data: Marks, axis: int, shape: tuple[int, ...]) -> Marks:
    """Return the mark of the sum of a tile along an axis: of all lanes, and of the shape."""
    lanes = np.moveaxis(np.asarray(data), axis, 0)
    found = mark(f"sum {shape} {axis}", *lanes)
    return np.where((lanes == 0).all(axis=0), 0.0, found)


def product(a: Marks, b: Marks, onto: Marks) -> Marks:
    """Return the mark of a product of matrices that is added to a tile."""
    columns = a.shape[-1]
    pairs = [(a[..., :, at, None], b[..., None, at, :]) for at in range(columns)]
    parts = [multiply(*pair) for pair in pairs]
    found = mark(f"dot {a.shape} {b.shape}", onto, *parts)
    nothing = np.logical_and.reduce([part == 0 for part in parts])
    return np.where(nothing, onto, found)


def _made(data: Any, like: Any) -> Any:
    return interpreter.TensorHandle(np.asarray(data), like.dtype.scalar)


def _is_float(handle: Any) -> bool:
    return bool(handle.dtype.scalar.is_floating())


def _two(operation: Callable[[Marks, Marks], Marks]) -> Callable[..., Any]:
    def made(a: Any, b: Any) -> Any:
        return _made(operation(a.data, b.data), a)

    return made


def _one(operation: Callable[[Marks], Marks]) -> Callable[..., Any]:
    def made(a: Any) -> Any:
        return _made(operation(a.data), a)

    return made


def _literal(kind: Any) -> Callable[[float], Any]:
    def literal(value: float) -> Any:
        return interpreter.TensorHandle(np.array([number(float(value))], np.float64), kind)

    return literal


def _as_float(source: Any, target: Any, *_: object) -> Any:
    data = np.asarray(source.data)
    if data.dtype != np.float64:
        values = data.astype(np.float64)
        data = np.where(values == 0, 0.0, mark("whole", values))
    return interpreter.TensorHandle(data, target.scalar)


def _dot(a: Any, b: Any, d: Any, *_: object) -> Any:
    if not _is_float(d):
        return _made(np.matmul(a.data, b.data, dtype=d.data.dtype) + d.data, d)
    return _made(product(a.data, b.data, d.data), d)


def _fma(a: Any, b: Any, c: Any) -> Any:
    if not _is_float(c):
        return _made(a.data * b.data + c.data, c)
    return _made(mark("fma", a.data, b.data, c.data), c)


def _total(self: Any, given: Any) -> Any:
    data = given.handle.data
    if not given.dtype.is_floating():
        total = np.sum(data, axis=self.axis, keepdims=self.keep_dims, dtype=data.dtype)
        return self.to_tensor(total, given.dtype)
    axes = [*range(data.ndim)] if self.axis is None else [self.axis]
    shape, found = data.shape, data
    for axis in reversed(axes):
        found = summed(found, axis, shape)
    if self.keep_dims:
        found = np.reshape(found, [1 if at in axes else n for at, n in enumerate(shape)])
    return self.to_tensor(found, given.dtype)


TREES: Mapping[str, Callable[..., Any]] = {
    **OPERATIONS,
    "create_fadd": _two(add),
    "create_fsub": _two(subtract),
    "create_fmul": _two(multiply),
    **{
        f"create_{word}": _two(lambda a, b, word=word: mark(word, a, b))  # type: ignore[misc]
        for word in ("fdiv", "precise_divf", "approx_divf", "frem")
    },
    "create_fneg": _one(lambda a: np.where(np.asarray(a) == 0, a, mark("neg", a))),
    "create_fma": _fma,
    "create_exp": _one(exponential("exp")),
    "create_exp2": _one(exponential("exp2")),
    **{
        f"create_{word}": _one(lambda a, word=word: mark(word, a))  # type: ignore[misc]
        for word in (
            *("log", "log2", "sqrt", "rsqrt", "sin", "cos", "erf", "floor", "ceil", "fabs"),
            "precise_sqrt",
        )
    },
    "create_dot": _dot,
    **dict.fromkeys(
        ("create_si_to_fp", "create_ui_to_fp", "create_fp_ext", "create_fp_trunc"), _as_float
    ),
    "create_fp_to_fp": _as_float,
    "get_fp16": _literal(tl.float16),
    "get_bf16": _literal(tl.bfloat16),
    "get_fp32": _literal(tl.float32),
    "get_fp64": _literal(tl.float64),
}


def rows_of(
    program: Program, text: str, func: str, label: str, calls: tuple[RowCall, RowCall], seed: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the marks of one row of a result, in two calls with the same row.

    Raises NoTrees if the calls cannot have a row in common.
    """
    module = load_module(in_ring(text), "trees")
    dtypes = {one.name: DType.F64 for one in wide(program).inputs}
    first, second = (
        _marked(random_inputs(wide(program), call.sizes, seed + at, dtypes), seed + at)
        for at, call in enumerate(calls)
    )
    share(first, second, calls)
    axis = program.func(func).labels.index(label)
    with ring(TREES, _total):
        found = [getattr(module, func)(**given) for given in (first, second)]
    one, other = (row_in(result, axis, call.row) for result, call in zip(found, calls, strict=True))
    return one, other


def row_in(result: Any, axis: int, row: int) -> torch.Tensor:
    """Return a row of the result that a function is named after."""
    tensor: torch.Tensor = result if isinstance(result, torch.Tensor) else result[0]
    return tensor.select(axis, row).clone()


def _marked(given: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return inputs whose floats are marks of their own."""
    random = np.random.default_rng(seed)
    found = dict[str, Any](given)
    for one, value in given.items():
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            bits = random.integers(0, 2**52, tuple(value.shape), dtype=np.uint64) | ONE
            marks: Any = np.asarray(bits).view(np.float64)
            found[one] = torch.tensor(marks.tolist(), dtype=torch.float64).reshape(value.shape)
    return found


def share(first: dict[str, Any], second: dict[str, Any], calls: tuple[RowCall, RowCall]) -> None:
    """Give the second call the row of the first one, and all that has no such row."""
    for one, value in first.items():
        other = second[one]
        if not isinstance(value, torch.Tensor) or value.shape == other.shape:
            second[one] = value
            continue
        axes = [
            at for at, (a, b) in enumerate(zip(value.shape, other.shape, strict=True)) if a != b
        ]
        if len(axes) != 1:
            raise NoTrees(one)
        other.select(axes[0], calls[1].row).copy_(value.select(axes[0], calls[0].row))


def first_unlike(one: torch.Tensor, other: torch.Tensor) -> tuple[int, ...] | None:
    """Return the first index at which two rows are other numbers; None if there is none."""
    if one.shape != other.shape:
        return ()
    apart = torch.nonzero(one != other)
    return tuple(int(at) for at in apart[0]) if len(apart) else None
