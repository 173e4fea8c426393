"""Read the descriptors of a launch: through each of them a kernel may load blocks of a tensor."""

from __future__ import annotations

from dataclasses import replace

from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.type_kinds import HALF, NEAR
from dtpoly.verify.algebra.whole import both, compare, name, negation, number, one_of, within
from dtpoly.verify.plan.call_plan import DescriptorOf
from dtpoly.verify.plan.held import BlockDescriptor, FunctionReading, TensorOf
from dtpoly.verify.plan.weakened import KEPT_BLOCKS
from dtpoly.verify.triton.access import KernelTensor


def blocks_of(reading: FunctionReading, said: DescriptorOf) -> BlockDescriptor:
    """Return a descriptor that may be None. Raises Unread.

    If it is not None, no index of the tensor is near 2^31. The runtime passes all descriptors of a
    launch, or None for each.
    """
    match reading.names.get(said.tensor):
        case TensorOf(array=array):
            pass
        case _:
            raise Unread(said.line, f"a descriptor of '{said.tensor}', which is no tensor here")
    rank = len(array.shape)
    if len(said.block) != rank or any(one & (one - 1) for one in said.block):
        raise Unread(said.line, f"blocks {said.block} of '{said.tensor}'")
    if sorted(said.axes) != [*range(rank)] or said.axes[-1:] != (rank - 1,):
        raise Unread(said.line, f"the axes {said.axes}, of which the last must stay the last one")
    # A descriptor for blocks that start at multiples of a step may be None although one for the
    # same blocks without the step is not: so the step is part of its name.
    steps = () if said.step is None else (said.step,)
    flag = name(f"blocks({array.name}: {' '.join(map(str, (*said.block, *steps)))})")
    there = compare("==", flag, number(1))
    reading.facts.append(within(number(0), flag, number(2)))
    # This is one choice for all axes, not one for each: isl looks at all combinations of choices.
    inside = both(*(within(number(1), extent, number(HALF - NEAR)) for extent in array.shape))
    reading.facts.append(one_of(negation(there), inside))
    is_kept = compare(">=", name(KEPT_BLOCKS), number(1))
    block = tuple(said.block[axis] for axis in said.axes)
    return BlockDescriptor(_turned(array, said.axes), block, both(there, is_kept))


def _turned(array: KernelTensor, axes: tuple[int, ...]) -> KernelTensor:
    """Return the tensor with its axes in another order."""
    strides, shape = (tuple(part[axis] for axis in axes) for part in (array.strides, array.shape))
    return replace(array, strides=strides, shape=shape)
