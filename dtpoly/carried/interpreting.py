# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Runs kernels in Triton's interpreter, and makes it compute as GPUs do."""

import contextlib
import threading
from typing import Any

from dtpoly.carried.kept_texts import dt_keep_text
from dtpoly.carried.libraries import tl, torch, triton
from dtpoly.carried.values import dt_torch


def dt_interpret(kernel: Any, programs: int, args: Any, constants: Any) -> None:
    """Launch in Triton's interpreter, which computes as GPUs do, for one thread at a time."""
    dt_keep_text(kernel)
    interpreter = triton.runtime.interpreter
    lock = interpreter.__dict__.setdefault("launching", threading.RLock())
    with lock, interpreter.np.errstate(all="ignore"), contextlib.ExitStack() as after:
        for place, name, value in dt_mended(interpreter):
            after.callback(setattr, place, name, getattr(place, name))
            setattr(place, name, value)
        kernel[(programs,)](*args, **constants)


def dt_mended(interpreter: Any) -> list[tuple[Any, str, Any]]:
    """List what Triton's interpreter does otherwise than GPUs: where, its name, and what is right.

    It cuts off what bfloat16 does not hold instead of rounding, loses carries and infinities when
    it rounds to 8 bits, multiplies and adds the bits of bfloat16 as whole numbers, and stops where
    whole numbers wrap. Before Triton 3.8 it has no bool, and before 3.7 no index in NumPy 2.4. It
    reduces one element at a time, where GPUs combine halves: that is slow, and rounds otherwise.
    """
    builder, one = interpreter.InterpreterBuilder, interpreter.interpreter_builder
    passed, arranged = interpreter._implicit_cvt, interpreter._patch_lang_tensor
    numpy, handle = interpreter.np, interpreter.TensorHandle
    dot, atomic = builder.create_dot, builder.create_atomic_rmw
    reductions, reduce = interpreter.ReduceOps, interpreter.ReduceOps.generic_reduce

    def rounding(convert: Any) -> Any:
        def converted(self: Any, value: Any, target: Any, *rounding: Any) -> Any:
            if dt_is_narrow(value.dtype, target):
                return dt_converted(value, target)
            return convert(self, value, target, *rounding)

        return converted

    def create_dot(self: Any, *given: Any) -> Any:
        wide = (dt_converted(a, tl.float32) if dt_is_narrow(a.dtype) else a for a in given[:2])
        return dot(self, *wide, *given[2:])

    def create_atomic_rmw(self: Any, operation: Any, places: Any, values: Any, *rest: Any) -> Any:
        if dt_is_narrow(values.dtype):
            return dt_added(interpreter, places, values, rest[0])
        return atomic(self, operation, places, values, *rest)

    def generic_reduce(self: Any, values: Any) -> Any:
        return reduce(self, values) if self.axis is None else dt_reduced(numpy, self, [*values])

    def implicit_cvt(argument: Any) -> Any:
        if not isinstance(argument, bool):
            return passed(argument)
        return tl.tensor(handle(numpy.array([argument]), tl.int1), tl.int1)

    def patch_lang_tensor(kind: Any, scope: Any) -> None:
        arranged(kind, scope)
        scope.set_attr(kind, "__index__", lambda self: int(self.handle.data.item()))

    return [
        (builder, "cast_impl", rounding(builder.cast_impl)),
        (builder, "create_fp_to_fp", rounding(builder.create_fp_to_fp)),
        (builder, "create_dot", create_dot),
        (builder, "create_atomic_rmw", create_atomic_rmw),
        (reductions, "generic_reduce", generic_reduce),
        (interpreter, "_implicit_cvt", implicit_cvt),
        (interpreter, "_patch_lang_tensor", patch_lang_tensor),
        (one, "options", interpreter.dataclasses.replace(one.options, sanitize_overflow=False)),
    ]


def dt_reduced(numpy: Any, reduction: Any, parts: Any) -> Any:
    """Combine the halves of values along an axis, until one is left."""
    axis, tensor = reduction.axis, reduction.to_tensor
    while parts[0].handle.data.shape[axis] > 1:
        halves = zip(*(numpy.split(part.handle.data, 2, axis) for part in parts), strict=True)
        pairs = [*zip([*parts, *parts], (one for half in halves for one in half), strict=True)]
        found = reduction.combine_fn.fn(*(tensor(data, part.dtype) for part, data in pairs))
        parts = [*found] if len(parts) > 1 else [found]
    if reduction.keep_dims:
        return parts
    return [tensor(part.handle.data.squeeze(axis), part.dtype) for part in parts]


def dt_added(interpreter: Any, places: Any, values: Any, mask: Any) -> Any:
    """Add floats that NumPy lacks to memory, lane after lane; give what was there."""
    memory, handle, kind = interpreter._interpreter, interpreter.TensorHandle, values.dtype.scalar
    bits, yes = values.data.copy(), interpreter.np.ones(1, dtype=bool)
    for lane in zip(*interpreter.np.nonzero(mask.data), strict=True):
        place, more = places.data[lane].reshape(1), bits[lane].reshape(1)
        there = memory.load(place, yes, more, bits.dtype)
        wide = [dt_converted(handle(part, kind), tl.float64).data for part in (there, more)]
        total = dt_converted(handle(sum(wide), tl.float64), kind)
        memory.store(place, total.data, yes)
        bits[lane] = there[0]
    return handle(bits, kind)


def dt_is_narrow(*types: Any) -> bool:
    """Tell whether one of them is a float that NumPy lacks: the interpreter has its bits."""
    return any(one.scalar in (tl.bfloat16, tl.float8e4nv, tl.float8e5) for one in types)


def dt_converted(value: Any, target: Any) -> Any:
    """Convert a value of Triton's interpreter to another type, to which torch rounds it."""
    interpreter, target = triton.runtime.interpreter, target.scalar
    data = interpreter.np.array(value.data)
    # What was compared is a truth, though the interpreter calls it by the type of its sides.
    if dt_is_narrow(value.dtype) and data.dtype != bool:
        bits = torch.from_numpy(data.view(f"int{8 * data.itemsize}"))
        data = bits.view(dt_torch[value.dtype.scalar]).double().numpy()
    if dt_is_narrow(target):
        rounded = torch.from_numpy(data).to(dt_torch[target])
        bits = rounded.view(torch.int16 if rounded.itemsize == 2 else torch.int8)
        data = bits.numpy().view(f"uint{8 * rounded.itemsize}")
    else:
        data = data.astype(interpreter._get_np_dtype(target))
    return interpreter.TensorHandle(data, target)
