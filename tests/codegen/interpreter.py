"""Triton's interpreter with its memory watched: a kernel may touch elements of tensors only.

Mended on the way: it cuts bfloat16 off instead of rounding, multiplies matrices of its bits,
forgets carries when it rounds to 8 bits, and walks a reduction element by element.
"""

import importlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import signature
from typing import Any
from unittest import mock

import numpy as np
import torch
from numpy.typing import NDArray

from dtpoly.ring.memory import Memory
from dtpoly.ring.watching import watched

# Triton has no types to check against.
tl: Any = importlib.import_module("triton.language")
semantic: Any = importlib.import_module("triton.language.semantic")
ir: Any = importlib.import_module("triton._C.libtriton").ir
interpreter: Any = importlib.import_module("triton.runtime.interpreter")
Function = Callable[..., Any]
numpy_to_torch: Callable[[NDArray[Any]], torch.Tensor] = vars(torch)["from_numpy"]

# How the interpreter keeps a type, and what torch calls it.
KEPT = {
    tl.bfloat16: (np.uint16, torch.int16, torch.bfloat16),
    tl.float8e4nv: (np.uint8, torch.uint8, torch.float8_e4m3fn),
    tl.float8e5: (np.uint8, torch.uint8, torch.float8_e5m2),
}

PLAIN = {
    **{tl.float16: np.float16, tl.float32: np.float32, tl.float64: np.float64},
    **{tl.int1: np.bool_, tl.uint8: np.uint8, tl.int8: np.int8},
    **{tl.int16: np.int16, tl.int32: np.int32, tl.int64: np.int64},
}


def _converted(handle: Any, target: Any) -> Any:
    """A conversion from or to a type that NumPy lacks, by torch."""
    source = handle.dtype.scalar
    data = np.ascontiguousarray(handle.data).copy()
    if source in KEPT:
        _, bits, theirs = KEPT[source]
        signed = data.view(np.int16) if bits is torch.int16 else data
        values = numpy_to_torch(signed).view(theirs).double()
    else:
        values = numpy_to_torch(data)
    if target in KEPT:
        kept, bits, theirs = KEPT[target]
        return interpreter.TensorHandle(values.to(theirs).view(bits).numpy().view(kept), target)
    return interpreter.TensorHandle(values.numpy().astype(PLAIN[target]), target)


def _is_ours(source: Any, target: Any) -> bool:
    return (source in KEPT and target in (*PLAIN, *KEPT)) or (target in KEPT and source in PLAIN)


def _reduced(self: Any, values: Sequence[Any]) -> list[Any]:
    """A reduction by halves, each step on all lines at once."""
    axis: int = self.axis
    parts: list[Any] = list(values)
    while (count := parts[0].handle.data.shape[axis]) > 1:
        sides: list[list[Any]] = [[], []]
        for one in parts:
            halves = np.split(one.handle.data, [count // 2], axis)
            for side, half in zip(sides, halves, strict=True):
                side.append(self.to_tensor(half, one.dtype))
        result: Any = self.combine_fn.fn(*sides[0], *sides[1])
        parts = [*result] if len(values) > 1 else [result]
    if self.keep_dims:
        return parts
    return [self.to_tensor(one.handle.data.squeeze(axis), one.dtype) for one in parts]


def _added(load: Function, store: Function, ptr: Any, value: Any, mask: Any) -> Any:
    """An atomic sum of bfloat16, which the interpreter lacks: one lane after the other."""
    found = value.data.copy()
    for lane in np.ndindex(value.data.shape):
        place = interpreter.TensorHandle(np.atleast_1d(ptr.data[lane]), ptr.dtype)
        own = interpreter.TensorHandle(np.atleast_1d(mask.data[lane]), tl.int1)
        old = _without_policies(load, place, own)
        more = interpreter.TensorHandle(np.atleast_1d(value.data[lane]), value.dtype)
        total = _converted(old, tl.float64).data + _converted(more, tl.float64).data
        new = _converted(interpreter.TensorHandle(total, tl.float64), tl.bfloat16)
        _without_policies(store, place, new, own)
        found[lane] = old.data[0]
    return interpreter.TensorHandle(found, value.dtype)


def _without_policies(access: Function, *given: Any) -> Any:
    """Versions of Triton differ in what else they take, such as how to cache."""
    more = len(signature(access).parameters) - len(given)
    return access(*given, *[None] * more)


def _nothing(*_: Any) -> None:
    return


@contextmanager
def interpreted(memory: Memory) -> Generator[None]:
    """Kernels called inside run with their memory watched."""
    builder = interpreter.InterpreterBuilder
    load, store = builder.create_masked_load, builder.create_masked_store
    atomic, cast, convert = builder.create_atomic_rmw, builder.cast_impl, builder.create_fp_to_fp
    dot = builder.create_dot

    def atomic_rmw(self: Any, op: Any, ptr: Any, value: Any, mask: Any, *rest: Any) -> Any:
        if value.dtype.scalar is tl.bfloat16:
            assert op == ir.ATOMIC_OP.FADD
            return _added(partial(load, self), partial(store, self), ptr, value, mask)
        return atomic(self, op, ptr, value, mask, *rest)

    def cast_impl(self: Any, source: Any, target: Any) -> Any:
        if _is_ours(source.dtype.scalar, target.scalar):
            return _converted(source, target.scalar)
        return cast(self, source, target)

    def product(self: Any, left: Any, right: Any, *rest: Any) -> Any:
        sides = (
            _converted(side, tl.float32) if side.dtype.scalar in KEPT else side
            for side in (left, right)
        )
        return dot(self, *sides, *rest)

    def fp_to_fp(self: Any, source: Any, target: Any, rounding: Any) -> Any:
        if _is_ours(source.dtype.scalar, target.scalar):
            return _converted(source, target.scalar)
        return convert(self, source, target, rounding)

    with (
        mock.patch.object(builder, "create_atomic_rmw", atomic_rmw),
        mock.patch.object(builder, "cast_impl", cast_impl),
        mock.patch.object(builder, "create_fp_to_fp", fp_to_fp),
        mock.patch.object(builder, "create_dot", product),
        mock.patch.object(interpreter.ReduceOps, "generic_reduce", _reduced),
        # Whole numbers may wrap, and looking for it takes a third of the time.
        mock.patch.object(semantic.TritonSemantic, "binary_op_sanitize_overflow_impl", _nothing),
        np.errstate(all="ignore"),
        watched(memory),
    ):
        yield
