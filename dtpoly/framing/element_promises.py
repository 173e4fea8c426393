"""Lists what callers may promise of the elements of tensors, which no launch shows.

A number that is loaded may be an index. If the text makes a part of an address of it, or compares
it, it is guessed to be one of an axis. Of those guesses only the ones are kept that the proof
needs. Each of them fits the sizes of all launches: there can be such elements. That no two elements
are equal is guessed only where the kernel stores at them, and that they ascend only where it loads
several of them, as an offset and the next one. Numbers of 8 bits are guessed to be neither: few
tensors of bytes are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from dtpoly.framing.kernel_frame import KernelFrame
from dtpoly.framing.launch_groups import LOADED, GroupTensor, LaunchGroup, Row

WHOLES = ("i8", "i16", "i32", "i64", "u8")
BYTES = ("i8", "u8")
MOST_TENSORS = 4
MOST_LABELS = 6
LARGE = "2**30"
RANGE = re.compile(r"(0 <= .*\[\.\.\.\] )<( .*)")


def element_promises(
    group: LaunchGroup, frame: KernelFrame, labels: Mapping[str, Row]
) -> tuple[str, ...]:
    """Return promises of elements that all launches may have kept, the least probable first."""
    shown = {one.name: one for one in frame.tensors}
    indices = [
        one
        for one in group.tensors
        if one.dtype in WHOLES and one.use == LOADED and one.name in shown and one.is_index
    ]
    found: list[str] = []
    for one in indices[:MOST_TENSORS]:
        if len(one.sizes) == 1 and one.is_loaded_often and one.dtype not in BYTES:
            found += [f"ascending({one.name})"]
    for one in indices[:MOST_TENSORS]:
        found += _differing(one, shown[one.name].axes, labels)
    for one in indices[:MOST_TENSORS]:
        own = shown[one.name].axes
        is_row = bool(_differing(one, own, labels)) and not _differs(one, labels)
        fitting = [
            label
            for label in _bounds(frame, own)
            if _fits(one, labels.get(label, ()), is_row=is_row)
        ]
        found += [f"0 <= {one.name}[...] < len({label})" for label in fitting[-MOST_LABELS:]]
        if one.dtype not in BYTES:
            # A length or a count is below the size of no axis, but such numbers are not large.
            found += [f"0 <= {one.name}[...] < {LARGE}"]
    return tuple(found)


def _differing(one: GroupTensor, axes: Sequence[str], labels: Mapping[str, Row]) -> tuple[str, ...]:
    """Return that all elements differ, or those of a row; nothing of what is no place."""
    if not one.is_place or one.dtype in BYTES:
        return ()
    is_row = len(axes) > 1 and not axes[-1].isdigit() and axes.count(axes[-1]) == 1
    row = (f"distinct({one.name}, {axes[-1]})",) if is_row else ()
    return (f"distinct({one.name})", *row) if _differs(one, labels) or not row else row


def _differs(one: GroupTensor, labels: Mapping[str, Row]) -> bool:
    """Return whether some label is so long that all elements may be different indices of it."""
    return any(_fits(one, row, is_row=False) for row in labels.values())


def _bounds(frame: KernelFrame, own: Sequence[str]) -> Iterator[str]:
    """Yield the labels that elements may be indices of, the least probable first.

    These are the labels of the tensor itself, then those of other tensors from the last axis on.
    """
    others = [one.axes for one in frame.tensors]
    rank = max((len(axes) for axes in others), default=0)
    ordered = [axes[at] for at in range(rank - 1, -1, -1) for axes in others if at < len(axes)]
    named = [one for one in dict.fromkeys(ordered) if not one.isdigit()]
    yield from (one for one in named if one in own)
    yield from (one for one in named if one not in own)


def _fits(tensor: GroupTensor, row: Row, *, is_row: bool) -> bool:
    """Return whether so many numbers may be below a size, in each launch.

    Where they are also guessed to differ, there must be as many numbers as elements; or as elements
    of a row, if only those differ.
    """
    if not row:
        return False
    if is_row:
        return all(count <= size for count, size in zip(tensor.sizes[-1], row, strict=True))
    counts = [prod(sizes[at] for sizes in tensor.sizes) for at in range(len(row))]
    differ = tensor.is_place and tensor.dtype not in BYTES
    needed = counts if differ else [min(count, 1) for count in counts]
    return all(count <= size for count, size in zip(needed, row, strict=True))


def weaker(promise: str) -> tuple[str, ...]:
    """Return promises that ask for less, the least first: an element may be the size itself."""
    found = RANGE.fullmatch(promise)
    if found is None:
        return ()
    least = found[1].rstrip()
    return (least,) if "len(" not in found[2] else (least, f"{found[1]}<={found[2]}")
