"""What every generated file begins with: the checks and small sums that wrappers share."""

IMPORTS = """\
import os

import torch
import triton
import triton.language as tl
"""

TEXT = '''\
dt_interpreted = os.environ.get("TRITON_INTERPRET") == "1"
dt_torch = {tl.float32: torch.float32, tl.float64: torch.float64}
dt_triton = {
    torch.float16: tl.float16,
    torch.bfloat16: tl.bfloat16,
    torch.float32: tl.float32,
    torch.float64: tl.float64,
    torch.float8_e4m3fn: tl.float16,  # holds every value of 8 bits
    torch.float8_e5m2: tl.float16,
}


def dt_check(name, tensor, rank, dtype, word, device):
    """Refuse a tensor of another rank, dtype or device than the kernels are for."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"'{name}' must be a tensor, not {type(tensor).__name__}")
    if rank is not None and tensor.dim() != rank:
        raise ValueError(f"'{name}' must have {rank} dimensions, not {tensor.dim()}")
    if dtype is None:
        if not tensor.dtype.is_floating_point:
            raise TypeError(
                f"'{name}' is {tensor.dtype}, and this file was generated for floats: "
                f"declare its dtype, as in `In {name}: i32;`"
            )
    elif tensor.dtype != dtype:
        raise TypeError(f"'{name}' is declared {word}, but is {tensor.dtype}")
    if tensor.device != device:
        raise ValueError(f"'{name}' is on {tensor.device}, but others are on {device}")
    if device.type == "cpu" and not dt_interpreted:
        raise ValueError(
            f"'{name}' is on the CPU: move it to a GPU, or set TRITON_INTERPRET=1 before "
            "this file is imported to run it in Triton's interpreter"
        )


def dt_fit(extent, low, high, coefficient):
    """The largest size of a label for which an index stays inside of an axis."""
    if low < 0 or high >= extent:
        return 0
    if coefficient > 0:
        return (extent - 1 - high) // coefficient + 1
    return low // -coefficient + 1


def dt_disagree(label, first, size, second, other):
    """The tensors disagree on a size."""
    return ValueError(f"the size of '{label}' is {size} by {first}, but {other} by {second}")


def dt_outside(name, axis, extent, reached):
    """A read would be outside of a tensor."""
    return ValueError(f"'{name}' is read up to index {reached} of axis {axis}, which has {extent}")


def dt_operand(dtype, real):
    """The type in which the operands of a product meet."""
    return tl.float64 if real == tl.float64 else dt_triton[dtype]


def dt_lanes(size):
    """The power of two that holds a size."""
    return 1 << max(size - 1, 0).bit_length()


def dt_offset(*tensors):
    """The type of offsets: 64 bits only where 32 would overflow."""
    for tensor in tensors:
        reach = 0
        for size, stride in zip(tensor.shape, tensor.stride()):
            reach += size * abs(stride)
            if size > 1 << 30:
                return tl.int64
        if reach >= (1 << 31) - (1 << 24):
            return tl.int64
    return tl.int32


def dt_out(out, shape, dtype, device, inputs):
    """The tensor that is written: a new one, or the caller's."""
    if out is None:
        return torch.empty(shape, dtype=dtype, device=device)
    if out.shape != shape or out.dtype != dtype or out.device != device:
        raise ValueError(
            f"'out' is {out.dtype} {tuple(out.shape)} on {out.device}, "
            f"but the result is {dtype} {shape} on {device}"
        )
    reach = 0
    for size, stride in sorted(zip(out.shape, out.stride()), key=lambda one: one[1]):
        if size > 1 and stride <= reach:
            raise ValueError("'out' overlaps itself")
        reach += (size - 1) * stride
    for tensor in inputs:
        if dt_overlap(out, tensor):
            raise ValueError("'out' overlaps an input")
    return out


def dt_overlap(one, two):
    """Whether two tensors may share memory."""
    if not one.numel() or not two.numel():
        return False
    ends = []
    for tensor in (one, two):
        last = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
        start = tensor.data_ptr()
        ends.append((start, start + (last + 1) * tensor.element_size()))
    return ends[0][0] < ends[1][1] and ends[1][0] < ends[0][1]
'''
