"""Warns of kernels that cannot be launched or are slow, and names the directive to blame.

It looks at what came of compiling a kernel for a GPU.
"""

import re
from collections.abc import Iterator, Sequence
from math import prod

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Dot, free_labels
from dtpoly.algorithm.label_sizes import Sizes
from dtpoly.code_map import MappedLine
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.directives.built_in import text_of_layout
from dtpoly.ir.kernel import Accumulate, Product
from dtpoly.origins import Origin, find_edit
from dtpoly.poly.model import by_name
from dtpoly.source import Span
from dtpoly.targets.kernel_binary import Failed, KernelBinary, kib
from dtpoly.targets.parameter_types import BYTES, dtype_of
from dtpoly.targets.subject import Subject
from dtpoly.targets.target import Target
from dtpoly.targets.tile_layouts import (
    LaneAxis,
    SizedTile,
    TileAccess,
    accesses,
    instructions,
    tiles,
)

LARGEST = 2**20  # elements of a tile, by Triton's rule
SECTOR = 32  # bytes that memory moves at the least
WARP = 32
TENSOR_CORES = re.compile(r"\b(mma\.sync|wgmma\.mma_async|tcgen05\.mma|v_mfma_|v_smfmac_|v_wmma_)")


def too_large(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a tile that Triton refuses."""
    largest = _largest(subject)
    if largest is None or largest.elements <= LARGEST:
        return
    lane = max(largest.axes, key=lambda axis: axis.count)
    rest = largest.elements // lane.count
    fits = max(LARGEST // rest, 1)
    yield Diagnostic(
        "DT301",
        Severity.ERROR,
        f"a tile of '{subject.node.name}' has {largest.elements:,} elements",
        subject.place(subject.origin(lane.origin)),
        f"{_shown(largest)} at {_sizes(subject.call.sizes)}",
        (Note(f"Triton's tiles have at most {LARGEST:,} elements"),),
        f"take {lane.name}:{fits} or less",
    )


def is_launchable(binary: KernelBinary) -> bool:
    """Return whether a block has as much shared memory as the kernel needs."""
    return binary.shared <= binary.target.limits.block_shared


def advice(
    subject: Subject, binary: KernelBinary, fitting: KernelBinary | None = None
) -> Iterator[Diagnostic]:
    """Everything that makes the kernel slow, or keeps it from being launched.

    Then `fitting` is the same kernel with fewer stages, which can be launched.
    """
    found = [
        *_shared(subject, binary, fitting),
        *_spills(subject, binary),
        *_accesses(subject),
        *_products(subject, binary),
    ]
    yield from dict.fromkeys(found)


def _largest(subject: Subject) -> SizedTile | None:
    every = tiles(subject.kernel, subject.arguments)
    return max(every, key=lambda tile: tile.elements, default=None)


def _shown(tile: SizedTile) -> str:
    """`x: 16 by y: 4096`."""
    return " by ".join(f"{axis.name}: {axis.count}" for axis in tile.axes)


def _sizes(sizes: Sizes) -> str:
    return ", ".join(f"{label}={size}" for label, size in sizes.items())


def _blamed(subject: Subject, tile: SizedTile | None) -> Span | None:
    """Return the directive that made the longest side of a tile."""
    if tile is None or not tile.axes:
        return subject.place(Origin())
    lane = max(tile.axes, key=lambda axis: axis.count)
    return subject.place(subject.origin(lane.origin))


def _tile_note(tile: SizedTile | None) -> tuple[Note, ...]:
    if tile is None or not tile.axes:
        return ()
    return (Note(f"its largest tile has {tile.elements:,} elements ({_shown(tile)})"),)


def _shared(
    subject: Subject, binary: KernelBinary, fitting: KernelBinary | None
) -> Iterator[Diagnostic]:
    if is_launchable(binary):
        return
    largest, most = _largest(subject), kib(binary.target.limits.block_shared)
    place, hint = _blamed(subject, largest), "take smaller tiles with tensorize"
    if fitting is not None:
        said = find_edit(subject.state, subject.node, lambda launch: launch.num_stages)
        place = said.part or place
        fewer = text_of_layout(subject.node.func, stages=fitting.num_stages)
        hint = f"take {fewer}, with which it needs {kib(fitting.shared)}, or smaller tiles"
    yield Diagnostic(
        "DT302",
        Severity.WARNING,
        f"'{subject.node.name}' cannot be launched on {binary.target}",
        place,
        f"needs {kib(binary.shared)} of shared memory; a block has {most}",
        (*_tile_note(largest), Note(f"compiled for {_sizes(subject.call.sizes)}")),
        hint,
    )


def _spills(subject: Subject, binary: KernelBinary) -> Iterator[Diagnostic]:
    if not binary.spilled:
        return
    largest = _largest(subject)
    more = f", or more warps: {text_of_layout(subject.node.func, warps=binary.num_warps * 2)}"
    yield Diagnostic(
        "DT303",
        Severity.WARNING,
        f"'{subject.node.name}' has more values than registers",
        _blamed(subject, largest),
        f"{binary.spilled} bytes of each lane go to memory and back",
        (*_tile_note(largest), Note(f"compiled for {_sizes(subject.call.sizes)}")),
        f"take smaller tiles with tensorize{'' if subject.kernel.own else more}",
    )


def _accesses(subject: Subject) -> Iterator[Diagnostic]:
    variables = {one.name: one for one in subject.kernel.tensors}
    seen: set[tuple[str, bool]] = set()
    for access in accesses(subject.call, subject.kernel, subject.arguments):
        size = BYTES[dtype_of(subject.call, variables[access.tensor])]
        key = (access.tensor, access.is_store)
        if access.tile.elements < WARP or access.run * size >= SECTOR or key in seen:
            continue
        seen.add(key)
        yield _uncoalesced(subject, access, size)


def _uncoalesced(subject: Subject, access: TileAccess, size: int) -> Diagnostic:
    pairs = list(zip(access.tile.axes, access.steps, strict=True))
    near, step = min(pairs, key=lambda pair: abs(pair[1]) or 2**63)
    what = "stored" if access.is_store else "loaded"
    if access.run == 1:
        label = f"neighbours along {near.name} are {abs(step):,} elements apart in memory"
    else:
        label = (
            f"only {access.run} neighbours along {near.name}, which are {access.run * size} bytes"
        )
    contiguous = _contiguous(subject, access.tensor)
    return Diagnostic(
        "DT304",
        Severity.WARNING,
        f"'{access.tensor}' is not {what} in one piece",
        subject.place(subject.origin(_made(near, access))),
        label,
        (Note(f"memory moves {SECTOR} bytes at the least, of which few are used"),),
        f"take more lanes along {contiguous}, whose elements lie side by side",
    )


def _made(lane: LaneAxis, access: TileAccess) -> str:
    return lane.origin or access.tile.origin


def _contiguous(subject: Subject, tensor: str) -> str:
    """Return the words for the index of a tensor's last axis, for a message."""
    array = subject.call.model.arrays.get(tensor)
    if array is not None:
        return f"'{array.dims[-1]}'"
    return f"the last axis of '{tensor}'"


def _products(subject: Subject, binary: KernelBinary) -> Iterator[Diagnostic]:
    code = next((binary.stages[name] for name in ("ptx", "amdgcn") if name in binary.stages), "")
    has_tensor_cores = isinstance(code, str) and TENSOR_CORES.search(code) is not None
    seen: set[str] = set()
    for step, lanes in instructions(subject.kernel, subject.arguments):
        origin, one = step.origin, step.instruction
        if origin in seen:
            continue
        if isinstance(one, Product) and not has_tensor_cores:
            yield _slow_product(subject, origin, one)
            seen.add(origin)
        elif isinstance(one, Accumulate) and _could_be_product(subject, origin):
            seen.add(origin)
            if prod(lanes[axis].count for axis in one.axes if axis in lanes) >= WARP:
                yield _no_product(subject, origin)


def _slow_product(subject: Subject, origin: str, product: Product) -> Diagnostic:
    func = subject.node.func
    is_exact = subject.call.dtype is DType.F32 and product.precision in (None, "ieee")
    place = find_edit(subject.state, subject.node, lambda launch: launch.precision).part
    return Diagnostic(
        "DT305",
        Severity.WARNING,
        f"a product in '{subject.node.name}' does not use the tensor cores",
        place or subject.origin(origin).source,
        "is multiplied number by number",
        (Note("f32 is multiplied exactly unless the schedule allows less"),) if is_exact else (),
        f"allow it with {text_of_layout(func, precision='tf32x3')}, or pass f16 or bf16"
        if is_exact
        else "take larger tiles with tensorize, such as 16 for each label of the product",
    )


def _could_be_product(subject: Subject, origin: str) -> bool:
    """Return whether a statement multiplies matrices: each side has a label of its own."""
    statement = by_name(subject.state.model).get(origin)
    body = None if statement is None else statement.body
    if not isinstance(body, Dot):
        return False
    left, right = free_labels(body.left), free_labels(body.right)
    return bool(set(left) - set(right)) and bool(set(right) - set(left))


def _no_product(subject: Subject, origin: str) -> Diagnostic:
    return Diagnostic(
        "DT305",
        Severity.WARNING,
        f"a product in '{subject.node.name}' does not use the tensor cores",
        subject.origin(origin).source,
        "is no product of two tiles",
        (Note("it takes tiles of the rows, of the columns, and of 16 or more to sum over"),),
        "tensorize all three labels, each by at least 16",
    )


def refused(
    subject: Subject, target: Target, failure: Failed, lines: Sequence[MappedLine]
) -> Diagnostic:
    """Report a kernel that Triton cannot compile, at what the refused line comes from."""
    line = next((one for one in lines if one.number == failure.line), None)
    origin = Origin() if line is None else line.origin
    at = () if line is None else (Note(f"in line {line.number} of the file: {line.text.strip()}"),)
    dtype, sizes = subject.call.dtype, subject.call.sizes
    return Diagnostic(
        "DT306",
        Severity.ERROR,
        f"Triton cannot compile '{subject.node.name}' for {target}",
        origin.part or origin.source or subject.place(origin),
        "comes from here",
        (*at, Note(f"Triton says: {failure}"), Note(f"with {_sizes(sizes)} and inputs of {dtype}")),
        "take other tiles, another dtype or another target",
    )
