"""Sizes and a seed in, made-up inputs for a Program out: for tests and for a first look."""

from collections.abc import Mapping

import torch

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.program import Program, Scalar, Tensor
from dtpoly.algorithm.sizes import (
    Sizes,
    axis_reads,
    extent_label,
    input_shapes,
    largest_size,
    reach,
    size_rules,
    used_labels,
)
from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity
from dtpoly.reference.inputs import Number, check_size_names
from dtpoly.reference.values import TORCH_DTYPE


def random_inputs(
    program: Program,
    sizes: Mapping[str, int],
    seed: int,
    dtypes: Mapping[str, DType] | None = None,
    device: torch.device | str = "cpu",
) -> dict[str, torch.Tensor | Number]:
    """Made-up inputs: floats about 1 in size, small whole numbers; the same for the same seed.

    Inputs without a dtype have that of `dtypes`, else f32. Sizes that other sizes decide may be
    left out. Raises DtpolyError for one that is missing.
    """
    if wrong := list(check_size_names(program, sizes)):
        raise DtpolyError(wrong)
    shapes = input_shapes(program, filled(program, sizes))
    generator = torch.Generator().manual_seed(seed)
    made: dict[str, torch.Tensor | Number] = {}
    for declared in program.inputs:
        dtype = declared.dtype or (dtypes or {}).get(declared.name, DType.F32)
        match declared:
            case Tensor():
                tensor = _random_tensor(shapes[declared.name], dtype, generator)
                made[declared.name] = tensor.to(device)
            case Scalar():
                made[declared.name] = _random_number(dtype, generator)
    return made


def _random_tensor(
    shape: tuple[int, ...], dtype: DType, generator: torch.Generator
) -> torch.Tensor:
    if is_float(dtype):
        return torch.randn(shape, generator=generator).to(TORCH_DTYPE[dtype])
    low, high = {DType.BOOL: (0, 2), DType.U8: (0, 9)}.get(dtype, (-4, 5))
    return torch.randint(low, high, shape, generator=generator).to(TORCH_DTYPE[dtype])


def _random_number(dtype: DType, generator: torch.Generator) -> Number:
    """A number between 1/2 and 3/2, or 1, 2 or 3: one that may stand under a root or a bar."""
    if is_float(dtype):
        return 0.5 + torch.rand((), generator=generator).item()
    if dtype is DType.BOOL:
        return bool(torch.randint(0, 2, (), generator=generator).item())
    return int(torch.randint(1, 4, (), generator=generator).item())


def filled(program: Program, sizes: Sizes) -> dict[str, int]:
    """The sizes, and with them those of labels that index the same axes.

    Raises DtpolyError for a label of the program whose size does not follow.
    """
    known = dict(sizes)
    while found := _following(program, known):
        known.update(found)
    missing = used_labels(program) - set(known)
    if missing:
        raise DtpolyError(
            Diagnostic(
                "DT170",
                Severity.ERROR,
                f"the size of '{rule.label}' must be passed",
                None,
                notes=(Note(f"tensors would decide it: {rule}"),) if rule.reads else (),
                hint=f"pass {rule.label}=...",
            )
            for rule in size_rules(program)
            if rule.label in missing
        )
    return known


def _following(program: Program, known: Sizes) -> dict[str, int]:
    """One more size, if there is one that follows from those known."""
    extents: dict[tuple[str, int], int] = {}
    for read in axis_reads(program):
        label = extent_label(program, read.tensor, read.axis)
        axis = (read.tensor, read.axis)
        if label is not None and label in known:
            extents[axis] = known[label]
        elif all(name in known for name in read.index.labels):
            extents[axis] = max(extents.get(axis, 0), reach(read.index, known))
            if label is not None:
                return {label: extents[axis]}
    largest: dict[tuple[str, int, str], int] = {}
    for read in axis_reads(program):
        unknown = [name for name in read.index.labels if name not in known]
        extent = extents.get((read.tensor, read.axis))
        if extent is not None and len(unknown) == 1:
            key = (read.tensor, read.axis, unknown[0])
            size = largest_size(read.index, unknown[0], extent, known)
            largest[key] = min(size, largest.get(key, size))
    return {label: size for (_, _, label), size in list(largest.items())[:1]}
