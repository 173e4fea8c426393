"""Makes the inputs of a case: what they hold, and how they lie in memory."""

import zlib
from collections.abc import Mapping
from dataclasses import replace

import torch

from benchmarks.unseen.cases import SLICED, TURNED, Case
from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.label_sizes import input_shapes
from dtpoly.algorithm.program import Program, Tensor
from dtpoly.reference.inputs import Number
from dtpoly.reference.labelled_values import TORCH_DTYPE
from dtpoly.reference.promised_data import below

Inputs = dict[str, torch.Tensor | Number]
# Whole numbers of these types go from the one to below the other.
WHOLE = {DType.BOOL: (0, 2), DType.U8: (0, 256), DType.I8: (-128, 128)}
OTHERS = (-1000, 1000)
SEED, NUMBER, WIDER = 1234, 0.5, 8


def sizes_of(case: Case, program: Program, is_tiny: bool) -> dict[str, int]:
    """Return the sizes of all labels of a case."""
    return filled(program, case.tiny if is_tiny else case.drawn.sizes)


def shapes_of(case: Case, program: Program, sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the inputs."""
    found = input_shapes(program, sizes)
    for name, less in case.drawn.shorter.items():
        shape = zip(found[name], less, strict=True)
        found[name] = tuple(max(size - one, 1) for size, one in shape)
    return found


def typed(program: Program, dtype: str) -> Program:
    """Return the Program with a type for each input."""
    return replace(
        program,
        inputs=tuple(
            replace(one, dtype=one.dtype or DType(dtype if isinstance(one, Tensor) else "f32"))
            for one in program.inputs
        ),
    )


def inputs_of(case: Case, program: Program, sizes: Mapping[str, int], device: str) -> Inputs:
    """Return the inputs of a case, the same ones each time."""
    made = torch.Generator(device)
    made.manual_seed(zlib.crc32(f"{case.name} {case.drawn.text}".encode()))
    shapes = shapes_of(case, program, sizes)
    found: Inputs = {}
    for one in program.inputs:
        if not isinstance(one, Tensor):
            is_whole = one.dtype is not None and not is_float(one.dtype)
            known = case.drawn.fillings.get(one.name)
            found[one.name] = SEED if is_whole else NUMBER if known is None else float(known)
            continue
        value = _tensor(case, one, shapes[one.name], sizes, made)
        found[one.name] = _lying(value, case.layouts.get(one.name, ""))
    return found


def _tensor(
    case: Case,
    one: Tensor,
    shape: tuple[int, ...],
    sizes: Mapping[str, int],
    made: torch.Generator,
) -> torch.Tensor:
    dtype = one.dtype or DType(case.dtype)
    word, _, label = case.drawn.fillings.get(one.name, "").partition(" ")
    match word:
        case "offsets":
            cuts = torch.randint(0, sizes[label] + 1, shape, generator=made, device=made.device)
            cuts = cuts.sort().values
            cuts[0], cuts[-1] = 0, sizes[label]
            return cuts.to(TORCH_DTYPE[dtype])
        case "below":
            return _whole(shape, 0, sizes[label], made).to(TORCH_DTYPE[dtype])
        case "distinct":
            places = torch.randperm(sizes[label], generator=made, device=made.device)
            return places[: shape[0]].to(TORCH_DTYPE[dtype])
        case "positive":
            found = torch.rand(shape, generator=made, device=made.device) + 0.1
            return found.to(TORCH_DTYPE[dtype])
        case _:
            pass
    if one.within is not None:
        return _whole(shape, 0, below(one.within, sizes), made).to(TORCH_DTYPE[dtype])
    if is_float(dtype):
        found = torch.randn(shape, generator=made, device=made.device)
        return found.to(TORCH_DTYPE[dtype])
    return _whole(shape, *WHOLE.get(dtype, OTHERS), made).to(TORCH_DTYPE[dtype])


def _whole(shape: tuple[int, ...], low: int, high: int, made: torch.Generator) -> torch.Tensor:
    return torch.randint(low, max(high, low + 1), shape, generator=made, device=made.device)


def _lying(value: torch.Tensor, layout: str) -> torch.Tensor:
    """Return the same tensor, otherwise in memory."""
    if layout == TURNED:
        return value.transpose(-1, -2).contiguous().transpose(-1, -2)
    if layout == SLICED:
        wide = value.new_zeros((*value.shape[:-1], value.shape[-1] + WIDER))
        found = wide[..., : value.shape[-1]]
        found.copy_(value)
        return found
    return value
