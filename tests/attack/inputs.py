"""Makes values of tensors from a seed, and their layouts in memory, with gaps between lines."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import torch

from tests.attack.case import TORCH, Call, Case, Given

FLOATS = ("f8e4m3", "f8e5m2", "f16", "bf16", "f32", "f64")
EIGHTS = (TORCH["f8e4m3"], TORCH["f8e5m2"])
WIDTHS = {"i8": 8, "u8": 8, "i16": 16, "i32": 32, "i64": 64}
# Types differ at these floats: sums that f16 does not hold, numbers that a rounding moves,
# infinities and nan.
EDGES = (0.0, 1.0, -1.0, 0.5, -0.25, 3.0, 2047.0, 2049.0, -2051.0, 0.1, 1 / 3, -7.7, 300.0, 1e-3)
FAR = (float("inf"), float("-inf"), float("nan"), 65504.0, 6e4, -6e4, 3e38, 1e-7, 6e-8, 1e-40)


def element(generator: random.Random, dtype: str, values: str) -> float:
    """Return one value of a type.

    `small`: whole numbers near 0, sums of which are exact in every order. `wide`: numbers with many
    digits. `edges`: numbers at which types differ. `far`: these, infinities, nan, and large ones.
    """
    if dtype == "bool":
        return generator.randrange(2)
    if dtype in WIDTHS:
        return _whole(generator, dtype, values)
    match values:
        case "small":
            return float(generator.randint(-4, 4))
        case "positive":
            return float(generator.randint(1, 6))
        case "wide":
            return generator.uniform(-4, 4)
        case "edges":
            return generator.choice(EDGES)
        case _:
            return generator.choice((*EDGES, *FAR))


def _whole(generator: random.Random, dtype: str, values: str) -> int:
    bits = WIDTHS[dtype]
    low, high = (0, 255) if dtype == "u8" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    match values:
        case "small":
            return max(generator.randint(-9, 9), low)
        case "positive":
            return generator.randint(1, 9)
        case "wide":
            return generator.randint(low, high)
        case _:
            near = (low, low + 1, high, high - 1, 0, 1, low + 7, high - 5, 2, 100, 77)
            return generator.choice(near)


def tensor_of(one: Given, call: Call) -> torch.Tensor:
    """Return the tensor as it is before the launch."""
    shape = [call.sizes[label] for label in one.labels]
    dtype = TORCH[one.dtype]
    laid = torch.zeros([*shape[:-1], shape[-1] + one.gap] if shape else [], dtype=dtype)
    place = laid[..., : shape[-1]] if shape else laid
    place.copy_(_before(one, call, shape, dtype))
    return place


def _before(one: Given, call: Call, shape: list[int], dtype: torch.dtype) -> torch.Tensor:
    if one.is_output and one.before == "nothing":
        # This makes it visible if an element is not written.
        fill = float("nan") if one.dtype in FLOATS else int(one.dtype == "bool") or 77
        return torch.full(shape, fill, dtype=torch.float64).to(dtype)
    if one.is_output and one.before == "zero":
        return torch.zeros(shape, dtype=dtype)
    generator = random.Random(f"{call.seed} {one.name}")
    count = 1
    for size in shape:
        count *= size
    if one.is_output:
        # Sums of these numbers are exact in every order.
        found = [element(generator, one.dtype, "small") for _ in range(count)]
    elif call.values == "lattice":
        found = _lattice(generator, one, count)
    else:
        found = [element(generator, one.dtype, call.values) for _ in range(count)]
    wide = torch.float64 if one.dtype in FLOATS else torch.int64
    made = torch.tensor(found, dtype=wide).reshape(shape)
    if dtype in EIGHTS:
        # A number that is too large becomes the largest one in one version of torch, and a nan in
        # another.
        most = torch.finfo(dtype).max
        made = made.clamp(-most, most)
    return made.to(dtype)


def _lattice(generator: random.Random, one: Given, count: int) -> list[float]:
    """Return every pair of edge values: A has them one after the other, B each many times."""
    if one.dtype == "bool":
        edges: list[float] = [0, 1]
    elif one.dtype in WIDTHS:
        bits = WIDTHS[one.dtype]
        low, high = (0, 255) if one.dtype == "u8" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        edges = [low, high, 0, 1, 2, 7, 100, low + 1, high - 1, max(low, -1), max(low, -7)]
    else:
        edges = [0.0, 1.0, -1.0, 0.1, 2049.0, -7.7, 65504.0, 3e38, 1e-7]
        edges += [float("inf"), float("-inf"), float("nan")]
    if one.name[0] in "RDE":
        # A sum must stay a number: an infinity in each row would hide everything else.
        tame = [0.0, 1.0, -1.0, 0.1, 2048.0, -7.7, 3.0] if one.dtype in FLOATS else edges
        return [
            generator.choice(tame if generator.random() < 0.97 else edges) for _ in range(count)
        ]
    step = {"A": 1, "B": len(edges)}.get(one.name[0], 5)
    return [edges[at // step % len(edges)] for at in range(count)]


def tensors_of(case: Case, call: Call) -> dict[str, torch.Tensor]:
    """Return every tensor of a case as it is before a call."""
    return {one.name: tensor_of(one, call) for one in case.tensors}


def strides_of(tensors: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the strides of each tensor."""
    return {name: tuple(tensor.stride()) for name, tensor in tensors.items()}
