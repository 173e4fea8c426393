"""Runs kernels on trees of operations: a float is a mark of how it was computed.

Two floats are equal only if the same operations made them, in the same grouping. So the results of
two calls can be compared without knowing how a device rounds. A tile that is summed is one
operation of all its lanes, in their order, and of its shape. What adds 0 leaves its operand as it
is, since a device does so, too (except for the sign of a 0).

This shares nothing with the proof that bits are the same: it runs the text in Triton's interpreter.
It imports torch and triton.
"""

import ctypes
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.ring.grouping_texts import name_number, note
from dtpoly.ring.hand_launches import NoLaunch, called_by_hand, is_launched_by_hand
from dtpoly.ring.interpreter import OPERATIONS, ORIGINAL_ATOMIC, in_ring, ring
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


# Whether the programs of a launch run from the last one to the first.
IS_REVERSED = [False]


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
    note(word, made, operands)
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
    if value == 0 or abs(value) == np.inf:
        return value
    made = float(mark("number", value))
    name_number(f"{value:g}", made)
    return made


def summed(data: Marks, axis: int, shape: tuple[int, ...]) -> Marks:
    """Return the mark of the sum of a tile along an axis: of all lanes, and of the shape.

    Two numbers have one sum, whatever zeros stand around them, so the shape does not matter there.
    """
    lanes = np.moveaxis(np.asarray(data), axis, 0)
    found = mark(f"sum {shape} {axis}", *lanes)
    count = (lanes != 0).sum(axis=0)
    # The two lanes that are not 0, where there are no others: all numbers but zeros are positive.
    largest = np.where(lanes == 0, -np.inf, lanes).max(axis=0)
    least = np.where(lanes == 0, np.inf, lanes).min(axis=0)
    pair = add(np.where(count == 2, least, 0.0), np.where(count == 0, 0.0, largest))
    return np.where(count <= 2, pair, found)


def product(a: Marks, b: Marks, onto: Marks) -> Marks:
    """Return the mark of a product of matrices that is added to a tile."""
    columns = a.shape[-1]
    pairs = [(a[..., :, at, None], b[..., None, at, :]) for at in range(columns)]
    parts = [multiply(*pair) for pair in pairs]
    found = mark(f"dot {a.shape} {b.shape}", onto, *parts)
    count = np.add.reduce([(part != 0).astype(np.int64) for part in parts])
    # With one product there is nothing to group, whatever zeros stand around it.
    one = mark(
        "dot", onto, np.maximum.reduce([np.where(part == 0, -np.inf, part) for part in parts])
    )
    return np.where(count == 0, onto, np.where(count == 1, one, found))


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


def _atomic(operation: Any, pointer: Any, value: Any, mask: Any, *rest: Any) -> Any:
    """Add to memory lane after lane, in the order in which programs run now."""
    builder = interpreter.interpreter_builder
    if not _is_float(value) or "ADD" not in str(operation):
        return ORIGINAL_ATOMIC(builder, operation, pointer, value, mask, *rest)
    shape = np.shape(pointer.data)
    old = np.zeros(shape, np.float64)
    given, holds = (np.broadcast_to(one.data, shape) for one in (value, mask))
    places = [*np.ndindex(*shape)]
    for at in reversed(places) if IS_REVERSED[-1] else places:
        if holds[at]:
            cell = ctypes.c_double.from_address(int(pointer.data[at]))
            old[at] = cell.value
            cell.value = float(add(np.asarray(old[at]), np.asarray(given[at])))
    return _made(old, value)


@contextmanager
def in_order(*, is_reversed: bool) -> Generator[None]:
    """Let the programs of each launch run in the order of their numbers, or the other way round."""
    builder = interpreter.interpreter_builder
    begun = builder.set_grid_idx

    def begin(*index: int) -> None:
        begun(*(extent - 1 - at for at, extent in zip(index, builder.grid_dim, strict=True)))

    IS_REVERSED.append(is_reversed)
    if is_reversed:
        builder.set_grid_idx = begin
    try:
        yield
    finally:
        IS_REVERSED.pop()
        if is_reversed:
            del builder.set_grid_idx


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
    "create_atomic_rmw": _atomic,
    **dict.fromkeys(
        ("create_si_to_fp", "create_ui_to_fp", "create_fp_ext", "create_fp_trunc"), _as_float
    ),
    "create_fp_to_fp": _as_float,
    "get_fp16": _literal(tl.float16),
    "get_bf16": _literal(tl.bfloat16),
    "get_fp32": _literal(tl.float32),
    "get_fp64": _literal(tl.float64),
}


@dataclass(frozen=True, slots=True)
class TwoRuns:
    """Two calls of a function with one row in common.

    If the second one `is_reversed`, its programs run in the opposite order.
    """

    calls: tuple[RowCall, RowCall]
    is_reversed: bool = False


@dataclass(frozen=True, slots=True)
class RowFunction:
    """A function of a file, of which rows along a label are looked at."""

    program: Program
    text: str
    func: str
    label: str

    @property
    def axis(self) -> int:
        """Return the axis of the result along which the rows are."""
        return self.program.func(self.func).labels.index(self.label)

    def call(self, module: Any, call: RowCall, given: Mapping[str, Any]) -> torch.Tensor:
        """Call the function, and return the row. Raises NoTrees."""
        mine = {
            one: value.clone() if isinstance(value, torch.Tensor) else value
            for one, value in given.items()
        }
        if is_launched_by_hand(self.text):
            try:
                about = (self.program, self.func, call.sizes, mine)
                found = called_by_hand(module, self.text, *about)
            except NoLaunch as error:
                raise NoTrees(str(error)) from error
        else:
            found = getattr(module, self.func)(**mine)
        return row_in(found, self.axis, call.row)


def marked_inputs(
    program: Program, runs: TwoRuns, seed: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return inputs of both calls whose floats are marks; the row is the same. Raises NoTrees."""
    dtypes = {one.name: DType.F64 for one in wide(program).inputs}
    first, second = (
        _marked(random_inputs(wide(program), call.sizes, seed + at, dtypes), seed + at)
        for at, call in enumerate(runs.calls)
    )
    share(first, second, runs.calls)
    return first, second


def rows_in_runs(
    asked: RowFunction, runs: TwoRuns, given: tuple[Mapping[str, Any], Mapping[str, Any]]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the marks of the row in two runs. Raises NoTrees."""
    module = load_module(in_ring(asked.text), "trees")
    with ring(TREES, _total):
        one = asked.call(module, runs.calls[0], given[0])
        with in_order(is_reversed=runs.is_reversed):
            other = asked.call(module, runs.calls[1], given[1])
    return one, other


def rows_of(
    program: Program, text: str, func: str, label: str, calls: tuple[RowCall, RowCall], seed: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the marks of one row of a result, in two calls with the same row.

    Raises NoTrees if the calls cannot have a row in common.
    """
    runs = TwoRuns(calls)
    given = marked_inputs(program, runs, seed)
    return rows_in_runs(RowFunction(program, text, func, label), runs, given)


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
