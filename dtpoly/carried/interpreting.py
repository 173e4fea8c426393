"""Runs kernels in Triton's interpreter, and makes it compute as GPUs do."""

import contextlib
import threading
from typing import Any

from dtpoly.carried.libraries import tl, torch, triton
from dtpoly.carried.values import dt_triton


def dt_interpret(kernel: Any, programs: int, args: Any, constants: Any) -> None:
    """Launch in Triton's interpreter: one kernel at a time, for all threads share its state.

    Meanwhile, the interpreter computes as GPUs do; kernels of others find it as it was.
    """
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
        if not dt_is_narrow(values.dtype):
            return atomic(self, operation, places, values, *rest)
        bits, memory, kind = values.data.copy(), interpreter._interpreter, values.dtype.scalar
        yes = numpy.ones(1, dtype=bool)
        for lane in zip(*numpy.nonzero(rest[0].data), strict=True):  # of the mask
            place, more = places.data[lane].reshape(1), bits[lane].reshape(1)
            there = memory.load(place, yes, more, bits.dtype)
            wide = [dt_converted(handle(part, kind), tl.float64).data for part in (there, more)]
            total = dt_converted(handle(sum(wide), tl.float64), kind)
            memory.store(place, total.data, yes)
            bits[lane] = there[0]
        return handle(bits, kind)

    def generic_reduce(self: Any, values: Any) -> Any:
        if self.axis is None:
            return reduce(self, values)
        parts = list(values)
        while parts[0].handle.data.shape[self.axis] > 1:
            halves = [numpy.split(part.handle.data, 2, self.axis) for part in parts]
            pairs = [
                (half[at], one) for at in (0, 1) for half, one in zip(halves, parts, strict=True)
            ]
            found = self.combine_fn.fn(*(self.to_tensor(data, one.dtype) for data, one in pairs))
            parts = list(found) if len(parts) > 1 else [found]
        if self.keep_dims:
            return parts
        return [self.to_tensor(part.handle.data.squeeze(self.axis), part.dtype) for part in parts]

    def implicit_cvt(argument: Any) -> Any:
        if not isinstance(argument, bool):
            return passed(argument)
        return tl.tensor(handle(numpy.array([argument]), tl.int1), tl.int1)

    def index(self: Any) -> int:
        return int(self.handle.data.item())

    def patch_lang_tensor(kind: Any, scope: Any) -> None:
        arranged(kind, scope)
        scope.set_attr(kind, "__index__", index)

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


def dt_is_narrow(*types: Any) -> bool:
    """Tell whether one of them is a float that NumPy lacks: the interpreter has its bits."""
    return any(one.scalar in (tl.bfloat16, tl.float8e4nv, tl.float8e5) for one in types)


def dt_converted(value: Any, target: Any) -> Any:
    """Convert a value of Triton's interpreter to another type, to which torch rounds it."""
    interpreter, target = triton.runtime.interpreter, target.scalar
    dtypes = {kind: dtype for dtype, kind in dt_triton.items()}
    data = interpreter.np.array(value.data)
    # What was compared is a truth, though the interpreter calls it by the type of its sides.
    if dt_is_narrow(value.dtype) and data.dtype != bool:
        bits = torch.from_numpy(data.view(f"int{8 * data.itemsize}"))
        data = bits.view(dtypes[value.dtype.scalar]).double().numpy()
    if dt_is_narrow(target):
        rounded = torch.from_numpy(data).to(dtypes[target])
        bits = rounded.view(torch.int16 if rounded.itemsize == 2 else torch.int8)
        data = bits.numpy().view(f"uint{8 * rounded.itemsize}")
    else:
        data = data.astype(interpreter._get_np_dtype(target))
    return interpreter.TensorHandle(data, target)
