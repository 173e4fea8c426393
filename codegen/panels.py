"""Writes the loop of a wrapper that computes its result in panels, one after another."""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.panels import Crossing, cut_along

from .building import Unsupported
from .launch_text import lanes_lines, largest_lines, launch_lines, memory_lines
from .layout import inside
from .names import fresh
from .wrapping import Locals, Wrapping


def panel_lines(wrapping: Wrapping, own: Locals, label: str, size: int) -> Iterator[str]:
    """Allocate memory for all panels, and loop over them: each panel then has memory of its own.

    Inside the loop, a variable for a tensor with an axis for the label stands for that part of the
    tensor which belongs to the panel.
    """
    first = wrapping.launched[0]
    if not first.kernel.is_first_of_panel:
        raise Unsupported(f"'{first.func}' has a kernel before that which each panel begins with")
    for one in wrapping.launched:
        if any(tensor.is_scratch for tensor in one.kernel.tensors):
            raise Unsupported(
                f"'{one.func}' has memory for each of its programs, which would be made for each "
                "panel: tensorize so that values stay in registers, or remove panels"
            )
        yield from memory_lines(wrapping, own, one)
    whole, axes = own.sizes[label], _axes(wrapping, label)
    taken = {*wrapping.names.taken, *_locals(own)}
    part = fresh(f"{label}_part", taken)
    yield f"for {own.panel} in range(0, {whole}, {size}):"
    body = [f"{part} = min({size}, {whole} - {own.panel})"]
    inputs, arrays = dict(wrapping.names.inputs), dict(own.arrays)
    for tensor, axis in axes.items():
        names = inputs if tensor in inputs else arrays
        before = names[tensor]
        names[tensor] = fresh(f"{before}_part", taken | {part, *inputs.values(), *arrays.values()})
        body.append(f"{names[tensor]} = dt_part({before}, {axis}, {own.panel}, {part})")
    there = replace(wrapping, names=replace(wrapping.names, inputs=inputs))
    size_of = wrapping.model.size_of
    alike = [one for one in own.sizes if size_of.get(one) == size_of[label]]
    parts = replace(
        own,
        sizes={**own.sizes, **dict.fromkeys(alike, part)},
        arrays=arrays,
        is_last=f"{whole} - {own.panel} == {part}",
        indent=8,
    )
    body += lanes_lines(there, parts)
    body += largest_lines(there, parts)
    for one in wrapping.launched:
        body += launch_lines(there, parts, one)
    yield from inside(body)


def _axes(wrapping: Wrapping, label: str) -> dict[str, int]:
    """Find the axis along which each tensor that the kernels touch is cut into panels."""
    found = cut_along(wrapping.program, wrapping.func, label)
    if isinstance(found, Crossing):
        raise Unsupported(f"panels of '{label}' need each other: {found.why}")
    tensors = [tensor for one in wrapping.launched for tensor in one.kernel.tensors]
    touched = {tensor.name for tensor in tensors}
    if whole := sorted({tensor.name for tensor in tensors if tensor.is_written} - found.keys()):
        raise Unsupported(f"all panels would write the same of '{whole[0]}'")
    return {tensor: axis for tensor, axis in found.items() if tensor in touched}


def _locals(own: Locals) -> Iterator[str]:
    """All names that the wrapper has."""
    for names in (own.sizes, own.arrays, own.elements, own.lanes, own.descriptors):
        yield from names.values()
    yield from (own.device, own.dtype, own.largest, own.programs, own.before, own.after, own.panel)
