"""Says what the runtime is told about the length of each axis of a kernel's tensors.

The runtime chooses a variant of the kernel by these words. The word for an axis is the parameter
that holds its length, `_` if nothing is known of it, or `-` if its lines may begin anywhere.
"""

from collections.abc import Mapping
from math import gcd, prod

from dtpoly.algorithm.label_sizes import axis_reads
from dtpoly.algorithm.program import Program
from dtpoly.ir.kernel import Lanes, Load, Store, TileKernel
from dtpoly.ir.parts import steps_inside
from dtpoly.poly.model import Array, Model

# Words for an axis of which nothing is known, and for one whose lines may begin anywhere.
UNKNOWN, ANYWHERE = "_", "-"
# So many elements of a program are worth wide loads and stores.
MANY = 512
# Triton sees that a number is divisible by this one, and nothing else.
WIDE = 16
# Labels by tensor and axis: what `plain_axes` finds, once for all kernels of a file.
PlainAxes = Mapping[tuple[str, int], tuple[str, ...]]


def axis_words(plain: PlainAxes, model: Model, kernel: TileKernel) -> list[list[str]]:
    """Give, for each tensor and axis, the parameter that has its length, or a word from above."""
    parameters = dict(kernel.sizes)
    found: list[list[str]] = []
    for pointer in kernel.tensors:
        array = model.arrays.get(pointer.name)
        # The runtime, which chooses a variant, is told nothing of lines that may begin anywhere.
        is_own = pointer.is_scratch or (array is not None and array.func != pointer.name)
        is_own = is_own or bool(kernel.lined) or _are_few(kernel, model, array)
        is_own = is_own or _begins_anywhere(kernel, pointer.name)
        is_placed = pointer.name in model.places  # then it has the axes of an input
        words: list[str] = []
        for axis in range(pointer.rank):
            label = plain.get((pointer.name, axis), ("",))[-1]
            if is_placed:
                label = plain.get((model.places[pointer.name].tensor, axis), ("",))[-1]
            elif array is not None and not is_own:
                label = array.dims[axis]
            size = model.size_of.get(label) if label else None
            words.append(ANYWHERE if is_own else parameters.get(size or "", UNKNOWN))
        found.append(words)
    return found


def _are_few(kernel: TileKernel, model: Model, array: Array | None) -> bool:
    """Return whether an array has parts of which a program takes few elements.

    Such as the largest element of each row in a part. How they lie in memory costs no time, and
    must not decide how the other tensors are loaded.
    """
    if array is None or model.parts.keys().isdisjoint(array.dims):
        return False
    steps = [step.instruction for step in steps_inside(kernel.body)]
    counts = {one.name: one.count for one in steps if isinstance(one, Lanes)}
    found = [
        [counts.get(axis, 1) for axis in one.axes]
        for one in steps
        if isinstance(one, Load | Store) and one.tensor == array.name
    ]
    sizes = [
        prod(count for count in tile if isinstance(count, int))
        for tile in found
        if all(isinstance(count, int) for count in tile)
    ]
    return len(sizes) == len(found) and max(sizes, default=0) < MANY


def _begins_anywhere(kernel: TileKernel, tensor: str) -> bool:
    """Return whether no tile of a tensor is loaded wide, however its rows lie in memory.

    A window (`X[2 * x + r]`), every second element, a shift and data begin anywhere in a row. The
    rows of such a tensor must not decide how others are loaded. Those of a convolution with a
    stride of 2 are odd, and so the weights beside them were loaded element by element.
    """
    steps = [step.instruction for step in steps_inside(kernel.body)]
    found = [one for one in steps if isinstance(one, Load | Store) and one.tensor == tensor]
    return bool(found) and all(
        isinstance(one, Load) and one.block is None and _is_apart(one) for one in found
    )


def _is_apart(one: Load) -> bool:
    """Return whether a thread loads one element at a time, also from rows that begin aligned."""
    if not one.indices or one.taken:
        return False
    last = one.indices[-1]
    factors = {variable: abs(factor) for variable, factor in last.terms}
    if [*factors.values()] in ([], [1]) and last.constant % WIDE == 0:
        return False
    beside = [variable for variable in one.axes if factors.get(variable) == 1]
    others = (factor for variable, factor in factors.items() if variable not in beside[:1])
    # Pairs, as of `X[2 * x + r]` with both r in the tile, begin at even places.
    return not beside or gcd(last.constant, *others) % 2 == 1


def plain_axes(program: Program) -> PlainAxes:
    """Find, for axes of inputs, the labels that read them as plain indices.

    The size of such a label is the length of the axis. An axis that no label reads so is left out.
    A label that reads an axis as it is, and also shifted, is shorter than the axis, and does not
    count.
    """
    found: dict[tuple[str, int], dict[str, None]] = {}
    shorter: set[tuple[str, int, str]] = set()
    for read in axis_reads(program):
        axis = read.tensor, read.axis
        if read.index.is_plain:
            found.setdefault(axis, {})[read.index.labels[0]] = None
        else:
            shorter.update((*axis, label) for label in read.index.labels)
    labels = {
        axis: [x for x in given if (*axis, x) not in shorter] for axis, given in found.items()
    }
    return {axis: tuple(given) for axis, given in labels.items() if given}
