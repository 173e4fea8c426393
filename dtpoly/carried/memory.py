"""Makes memory and descriptors, and finds out what a GPU can do."""

import functools
import itertools
import operator
from typing import Any

from dtpoly.carried.libraries import tl, torch, triton
from dtpoly.carried.values import dt_interpreted, dt_up

# Whether it is known how this version of Triton runs what it has compiled.
dt_is_known = triton.__version__[:4] in {"3.6.", "3.7.", "3.8.", "3.9."}
dt_is_direct = dt_is_known and torch.version.hip is None


@functools.cache
def dt_gpu(device: Any) -> tuple[int, int]:
    """Find a GPU's generation, 0 if it is not NVIDIA's, and how many multiprocessors it has."""
    found = torch.cuda.get_device_properties(device)
    return 0 if torch.version.hip else found.major, found.multi_processor_count


def dt_memory(made: Any, shape: Any, dtype: Any, device: Any) -> Any:
    """Make a tensor. If it is pitched, long rows begin at multiples of 128 bytes, others of 16."""
    if not made.get("pitched"):
        return torch.empty(shape, dtype=dtype, device=device)
    *outer, last = shape
    each = (128 if last * dtype.itemsize >= 1024 else 16) // dtype.itemsize
    rows = torch.empty((*outer, dt_up(last, each) * each), dtype=dtype, device=device)
    return rows[..., :last]


def dt_empty(shape: Any, strides: Any, dtype: Any) -> Any:
    """Make a tensor on the current GPU as code of torch.compile does, which is faster."""
    make = getattr(torch._C._dynamo.guards, "_empty_strided_cuda", None)
    if make is None:
        return torch.empty_strided(shape, strides, dtype=dtype, device="cuda")
    torch._C._cuda_setDevice(torch._C._cuda_getDevice())  # torch may have put that off
    return make(shape, strides, dtype)


def dt_descriptor(tensor: Any, block: Any, axes: Any, step: int = 0) -> Any:
    """Make a descriptor, which loads blocks of a tensor, or None if that is impossible or slow."""
    size, strides, shape = tensor.element_size(), tensor.stride(), tensor.shape
    # Triton's interpreter wants multiples of 16 bytes.
    if step * size % 16 if dt_interpreted else dt_gpu(tensor.device)[0] < 9:
        return None
    if strides[-1] != 1 or tensor.data_ptr() % 16 or block[-1] * size < 16:
        return None
    # Blocks that are loaded ahead lie one behind the other, where each begins at such a multiple.
    if functools.reduce(operator.mul, block) * size % 128:
        return None
    if tensor.dtype == torch.bool or not 1 <= min(shape) <= max(shape) < (1 << 31) - (1 << 20):
        return None
    for stride, inner in itertools.pairwise(strides):
        if stride < inner or stride * size % 16 or stride * size >= 1 << 40:
            return None
    parts = ([part[axis] for axis in axes] for part in (shape, strides, block))
    return triton.tools.tensor_descriptor.TensorDescriptor(tensor, *parts)


def dt_specialized(most: int, descriptors: Any) -> int:
    """Return 1 if some warps load for others: if Triton can do it, and tensor cores multiply.

    They multiply floats of one type, of 2 bytes, or of as many as are the most. Then the kernel
    makes its descriptors itself, in memory for which Triton asks.
    """
    if None in descriptors:
        return 0
    one, two = (descriptor.base for descriptor in descriptors[:2])
    if one.dtype != two.dtype or not one.dtype.is_floating_point:
        return 0
    is_able = dt_interpreted or (dt_is_known and dt_gpu(one.device)[0] == 9)
    return int(is_able and one.dtype.itemsize in (2, most))


def dt_allocate() -> None:
    """Let Triton take memory from torch in this thread, unless it was told where to take it."""
    asked = triton.runtime._allocation
    if isinstance(asked._allocator.get(), asked.NullAllocator):

        def allocate(size: int, *_: Any) -> Any:
            return torch.empty(size, dtype=torch.int8, device="cuda")

        triton.set_allocator(allocate)


def dt_programs(launch: Any, programs: int, device: Any, panel: int, is_last: bool) -> Any:
    """Find how many programs are launched: one for each block, or as many as run at once."""
    if "turns" not in launch and programs <= 2147483647:
        return programs
    each, kind = launch.get("turns", 0), launch.get("panel")
    if programs > (2146435072 if each else 2147483647):
        words = f"would need {programs} programs, and a grid has at most 2147483647"
        words = f"{words}: give each a larger block"
        if each:
            words = (
                f"has {programs} blocks, and one launch does at most 2146435072: make them larger"
            )
        raise ValueError(f"'{launch['func']}' {words}, and generate this file again")
    if dt_interpreted:
        return min(programs, 3)
    generation, processors = dt_gpu(device)
    most = min(programs, each * processors, 1 << 20)
    # The first kernel of the next panel has some multiprocessors for itself.
    spared = processors // 32 if generation >= 9 else 0
    if spared and panel and kind == "first":
        return min(most, each * spared)
    if spared and kind == "last":
        most = min(most, each * (processors - (0 if is_last else spared)))
        return dt_up(programs, dt_up(programs, most))  # more would take power, and no time off
    return most


def dt_offset(largest: int, tensors: Any, sizes: Any) -> Any:
    """Find the type of offsets and indices: 64 bits only where 32 might not be enough."""
    if largest >= (1 << 30) - (1 << 20):
        # Triton takes a size below 2**31 as 32 bits, and the end of its last tile may be beyond.
        for size in (largest, *sizes, *(size for tensor in tensors for size in tensor.shape)):
            if (1 << 31) - (1 << 20) <= size < 1 << 31:
                raise ValueError(f"a size of {size} is too near to 2**31: split the work")
        return tl.int64
    for tensor in tensors:
        if tensor.untyped_storage().nbytes() >= 1 << 31:
            steps = zip(tensor.shape, tensor.stride(), strict=True)
            if sum(size * stride for size, stride in steps) >= 1 << 31:
                return tl.int64
    return tl.int32
