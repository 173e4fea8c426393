"""Counts what kernels must move at least, before anything is laid out or priced.

A plan whose kernels must move more than the best plan takes in all cannot be faster, whatever its
blocks are. To know that takes no time.
"""

from collections.abc import Sequence
from math import prod

from dtpoly.autoschedule.nest import KernelNest, MovedTensor
from dtpoly.autoschedule.pricing import PricedCall


def least_moved(call: PricedCall, nests: Sequence[KernelNest]) -> float:
    """Return the seconds in which memory moves what these kernels need, each tensor once.

    With warm caches nothing need come from memory, so that nothing is known.
    """
    if call.is_warm:
        return 0.0
    return sum(map(_bytes, nests)) / call.device.memory


def _bytes(nest: KernelNest) -> int:
    """Return the bytes of a kernel that surely move.

    A range may leave out a part of any tensor, and so may a read at data or at a sum of labels.
    """
    if nest.has_ranges:
        return 0
    loaded: dict[str, int] = {}
    for load in nest.loads:
        loaded[load.tensor] = max(loaded.get(load.tensor, 0), _of_load(nest, load))
    return sum(loaded.values()) + nest.store.bytes


def _of_load(nest: KernelNest, load: MovedTensor) -> int:
    """Return the bytes of a load whose indices are labels, each another one; of others none."""
    labels = [index.plain for index in load.indices]
    if None in labels or len(set(labels)) < len(labels):
        return 0
    return prod(nest.sizes[label] for label in labels if label is not None) * load.size
