"""Says of which tensors a kernel knows where rows begin, so that threads load several numbers.

Triton sees only what is divisible by 16, and a launch decides for all tensors of a kernel at once
what Triton may look at (`carried/launching.py`). So one tensor with odd rows is enough for all
others of its kernel to be loaded element by element, if these have no rows of 16.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from dtpoly.explore.accesses.streams import FOURS, AccessStream
from dtpoly.plan.launch import Launch
from dtpoly.poly.model import Model
from dtpoly.targets.argument import ALIGNED

FEW = 512  # elements of a part, below which its rows do not decide how others are loaded
LARGE = 1 << 16  # elements of a tensor: a kernel of smaller ones has one variant less


def with_told_rows(
    model: Model, launch: Launch, streams: Sequence[AccessStream]
) -> list[AccessStream]:
    """Return the streams of a kernel; of each whether the kernel knows where its rows begin."""
    deciding = [one for one in streams if _decides(model, one, streams)]
    has_rows = any(len(one.shape) > 1 for one in deciding)
    lengths = [one.shape[-1] for one in deciding if not has_rows or len(one.shape) > 1]
    known = next((many for many in (ALIGNED, FOURS) if all(x % many == 0 for x in lengths)), 0)
    is_large = any(prod(one.shape) >= LARGE for one in streams)
    is_each = is_large and not known and not launch.descriptors
    found: list[AccessStream] = []
    for one in streams:
        is_known = one.array in launch.descriptors or (is_each and _is_aligned(one))
        # What a program passes on to itself has rows of which nothing is said.
        told = ALIGNED if is_known else 0 if one.is_scratch else known
        found.append(one if told == one.told else replace(one, told=told))
    return found


def _is_aligned(one: AccessStream) -> bool:
    """Return whether rows are multiples of 16; those that kernels pass on begin so in any case."""
    return one.is_aligned or not one.shape or one.shape[-1] % ALIGNED == 0


def _decides(model: Model, one: AccessStream, streams: Sequence[AccessStream]) -> bool:
    """Return whether the rows of a tensor count; those of parts and of windows do not."""
    array = model.arrays.get(one.array)
    if not one.shape or one.is_scratch or (array is not None and array.func != one.array):
        return False
    if array is not None and one.tile < FEW and not model.parts.keys().isdisjoint(array.dims):
        return False
    return any(
        other.is_store or other.begins_aligned for other in streams if other.array == one.array
    )
