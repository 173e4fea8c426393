"""Makes up inputs for a Program from sizes and a seed, for tests and for a first look."""

from collections.abc import Mapping

import torch

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.label_sizes import input_shapes
from dtpoly.algorithm.program import Program, Scalar, Tensor
from dtpoly.diagnostics import DtpolyError
from dtpoly.reference.inputs import Number, check_size_names
from dtpoly.reference.labelled_values import TORCH_DTYPE
from dtpoly.reference.promised_data import below, cannot_be_kept


def random_inputs(
    program: Program,
    sizes: Mapping[str, int],
    seed: int,
    dtypes: Mapping[str, DType] | None = None,
    device: torch.device | str = "cpu",
) -> dict[str, torch.Tensor | Number]:
    """Made-up inputs: floats about 1 in size, small whole numbers.

    They are the same for the same seed on the same kind of device: tensors are drawn where they
    are needed, numbers always here. Inputs without a dtype have that of `dtypes`, else
    f32. Sizes that other sizes decide may be left out. Raises DtpolyError for one that is missing.
    """
    if wrong := list(check_size_names(program, sizes)):
        raise DtpolyError(wrong)
    known = filled(program, sizes)
    shapes = input_shapes(program, known)
    generator = torch.Generator().manual_seed(seed)
    there = torch.device(device)
    drawing = generator if there.type == "cpu" else torch.Generator(there).manual_seed(seed)
    made: dict[str, torch.Tensor | Number] = {}
    for declared in program.inputs:
        dtype = declared.dtype or (dtypes or {}).get(declared.name, DType.F32)
        match declared:
            case Tensor():
                shape, bound = shapes[declared.name], declared.within
                end = None if bound is None else below(bound, known)
                if bound is not None and end == 0 and 0 not in shape:
                    raise DtpolyError([cannot_be_kept(declared, bound)])
                made[declared.name] = _random_tensor(shape, dtype, drawing, end)
            case Scalar():
                made[declared.name] = _random_number(dtype, generator)
    return made


def _random_tensor(
    shape: tuple[int, ...], dtype: DType, generator: torch.Generator, end: int | None
) -> torch.Tensor:
    """Draw a tensor; if it has an end, its elements are at least 0 and below that."""
    where = generator.device
    if is_float(dtype):
        return torch.randn(shape, generator=generator, device=where).to(TORCH_DTYPE[dtype])
    low, high = {DType.BOOL: (0, 2), DType.U8: (0, 9)}.get(dtype, (-4, 5))
    if end is not None:
        low, high = 0, min(max(end, 1), torch.iinfo(TORCH_DTYPE[dtype]).max)
    made = torch.randint(low, high, shape, generator=generator, device=where)
    return made.to(TORCH_DTYPE[dtype])


def _random_number(dtype: DType, generator: torch.Generator) -> Number:
    """Draw a number between 1/2 and 3/2, or 1, 2 or 3: it may stand under a root."""
    if is_float(dtype):
        return 0.5 + torch.rand((), generator=generator).item()
    if dtype is DType.BOOL:
        return bool(torch.randint(0, 2, (), generator=generator).item())
    return int(torch.randint(1, 4, (), generator=generator).item())
