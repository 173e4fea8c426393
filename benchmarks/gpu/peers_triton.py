"""Launches what a person would write in Triton, with the fastest of a few tiles."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from benchmarks.gpu.inputs import NUMBERS, Inputs, tensors
from benchmarks.gpu.jit import tl, triton
from benchmarks.gpu.kernels_products import (
    attention_kernel,
    descriptor_kernel,
    grouped_kernel,
    inner_kernel,
)
from benchmarks.gpu.kernels_rows import layer_norm_kernel, softmax_kernel
from benchmarks.gpu.peer import Peer, Run, Unfit, first
from benchmarks.gpu.rows import Row

# Triton has no types to check against.
descriptors: Any = import_module("triton.tools.tensor_descriptor")
_cuda: Any = torch.cuda  # likewise, parts of it
errors: Any = import_module("triton.runtime.errors")


@dataclass(frozen=True, slots=True)
class Tiles:
    """Sizes of tiles, and what a kernel is launched with."""

    m: int
    n: int
    k: int
    warps: int
    stages: int


LARGE = (
    Tiles(128, 256, 64, 8, 3),
    Tiles(128, 256, 64, 8, 4),
    Tiles(128, 128, 64, 4, 4),
    Tiles(128, 128, 64, 8, 3),
    Tiles(64, 64, 32, 4, 3),
)
# With 32 bits, tiles of the same bytes.
LARGE_32 = (
    Tiles(128, 256, 32, 8, 3),
    Tiles(128, 128, 32, 8, 4),
    Tiles(64, 128, 32, 4, 3),
    Tiles(32, 64, 32, 4, 2),
    Tiles(64, 64, 32, 4, 2),
)
SMALL = (Tiles(16, 64, 32, 4, 3), Tiles(32, 64, 32, 4, 2), Tiles(16, 32, 16, 2, 2))
GROUPED = 8


def peers(kernel: str) -> list[Peer]:
    """Return all that are written here for a kernel."""
    return [Peer(name, make) for name, make in MADE.get(kernel, {}).items()]


def fastest(runs: Iterable[Run]) -> Run:
    """Return the fastest of several ways to do the same; ways that do not fit are left out."""
    best, least = None, float("inf")
    for run in runs:
        try:
            took = _milliseconds(run)
        except (errors.OutOfResources, errors.PTXASError):
            continue
        if took < least:
            best, least = run, took
    if best is None:
        raise Unfit("none of the tiles fits")
    return best


def _milliseconds(run: Run) -> float:
    result = first(run())
    if not result.is_cuda:
        return 0.0
    took: list[float] = []
    for _ in range(5):
        start, end = _cuda.Event(enable_timing=True), _cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        end.synchronize()
        took.append(start.elapsed_time(end))
    return min(took)


def programs(tensor: Tensor) -> int:
    """Return how many run at once, one on each processor."""
    if not tensor.is_cuda:
        return 2
    return int(_cuda.get_device_properties(tensor.device).multi_processor_count)


def _softmax(row: Row, given: Inputs) -> Run:
    x = tensors(given)["A"]
    rows, columns = x.shape
    block = power_of_two(columns)

    def run(warps: int) -> Tensor:
        y = torch.empty_like(x)
        grid = (min(rows, 4 * programs(x)),)
        softmax_kernel[grid](x, y, rows, columns, BLOCK=block, STAGES=2, num_warps=warps)
        return y

    return fastest(partial(run, warps) for warps in (4, 8, 16))


def _layer_norm(row: Row, given: Inputs) -> Run:
    known = tensors(given)
    x, w, b = known["X"], known["W"], known["B"]
    rows, columns = x.shape
    block = power_of_two(columns)

    def run(warps: int) -> Tensor:
        y = torch.empty_like(x)
        layer_norm_kernel[(rows,)](
            x, w, b, y, columns, EPSILON=NUMBERS["eps"], BLOCK=block, num_warps=warps
        )
        return y

    return fastest(partial(run, warps) for warps in (4, 8, 16))


def power_of_two(columns: int) -> int:
    """Return the size of a tile that holds a whole row."""
    if columns > 65536:
        raise Unfit("a row does not fit one tile")
    return int(triton.next_power_of_2(columns))


def _grouped(is_sigmoid: bool, row: Row, given: Inputs) -> Run:
    a, b = tensors(given)["A"], tensors(given)["B"]
    (m, k), n = a.shape, b.shape[1]

    def run(tiles: Tiles) -> Tensor:
        c = torch.empty((m, n), dtype=a.dtype, device=a.device)
        grid = (_tiles(m, tiles.m) * _tiles(n, tiles.n),)
        grouped_kernel[grid](
            *(a, b, c, m, n, k),
            SIGMOID=is_sigmoid,
            BLOCK_K=tiles.k,
            GROUP=GROUPED,
            **_options(row, tiles),
        )
        return c

    return fastest(partial(run, tiles) for tiles in _of(row))


def _descriptors(is_sigmoid: bool, row: Row, given: Inputs) -> Run:
    a, b = tensors(given)["A"], tensors(given)["B"]
    (m, k), n = a.shape, b.shape[1]
    if any(one.stride(0) * one.element_size() % 16 for one in (a, b)):
        raise Unfit("rows do not begin at multiples of 16 bytes")
    make: Callable[..., Any] = descriptors.TensorDescriptor.from_tensor

    def run(tiles: Tiles) -> Tensor:
        c = torch.empty((m, n), dtype=a.dtype, device=a.device)
        grid = (min(programs(a), _tiles(m, tiles.m) * _tiles(n, tiles.n)),)
        descriptor_kernel[grid](
            make(a, [tiles.m, tiles.k]),
            make(b, [tiles.k, tiles.n]),
            make(c, [tiles.m, tiles.n]),
            *(m, n, k),
            SIGMOID=is_sigmoid,
            BLOCK_K=tiles.k,
            GROUP=GROUPED,
            DTYPE=getattr(tl, str(a.dtype).removeprefix("torch.")),
            **_options(row, tiles),
        )
        return c

    return fastest(partial(run, tiles) for tiles in _of(row))


def _options(row: Row, tiles: Tiles) -> Mapping[str, Any]:
    """Return what every product is launched with.

    Kernels differ in what they call the third size of a tile.
    """
    return {
        "PRECISION": "tf32" if row.dtype == "tf32" else "ieee",
        "BLOCK_M": tiles.m,
        "BLOCK_N": tiles.n,
        "num_warps": tiles.warps,
        "num_stages": tiles.stages,
    }


def _of(row: Row) -> Iterator[Tiles]:
    """Tiles that a product of these sizes could like."""
    least = min(row.sizes["m"], row.sizes["n"])
    for tiles in LARGE_32 if row.dtype in ("f32", "tf32") else LARGE:
        if tiles.m <= max(least, 64):
            yield tiles


def _inner(row: Row, given: Inputs) -> Run:
    a, b, c = tensors(given).values()
    (m, k), (l_size, n) = a.shape, c.shape
    if k & (k - 1):
        raise Unfit("k is no power of two")

    def run(tiles: Tiles) -> Tensor:
        d = torch.empty((m, n), dtype=a.dtype, device=a.device)
        inner_kernel[(_tiles(m, tiles.m), _tiles(n, tiles.n))](
            *(a, b, c, d, m, n, l_size),
            K=k,
            BLOCK_L=tiles.k,
            **_options(row, tiles),
        )
        return d

    return fastest(partial(run, tiles) for tiles in SMALL)


def _whole_rows(is_softmax: bool, row: Row, given: Inputs) -> Run:
    a, b, c = tensors(given).values()
    (m, k), (l_size, n) = a.shape, c.shape
    if l_size & (l_size - 1) or l_size > 1024:
        raise Unfit("l is no power of two, or too long")
    # Keys have k last.
    strides = b.stride()[::-1] if is_softmax else b.stride()

    def run(tiles: Tiles) -> Tensor:
        d = torch.empty((m, n), dtype=a.dtype, device=a.device)
        attention_kernel[(_tiles(m, tiles.m), _tiles(n, tiles.n))](
            *(a, b, *strides, c, d, m, n, k, k**-0.5),
            L=l_size,
            SOFTMAX=is_softmax,
            BLOCK_K=tiles.k,
            **_options(row, tiles),
        )
        return d

    return fastest(partial(run, tiles) for tiles in SMALL)


def _tiles(size: int, tile: int) -> int:
    return -(-size // tile)


Make = Callable[[Row, Inputs], Run]
_FUSED: Mapping[str, Make] = {
    "Triton, inner fusion": _inner,
    "Triton, outer fusion": partial(_whole_rows, False),
}
MADE: Mapping[str, Mapping[str, Make]] = {
    "softmax": {"Triton": _softmax},
    "layer_norm": {"Triton": _layer_norm},
    "matmul": {"Triton": partial(_grouped, False), "Triton, TMA": partial(_descriptors, False)},
    "mmsigmoid": {"Triton": partial(_grouped, True), "Triton, TMA": partial(_descriptors, True)},
    "2mm, inner fusion": _FUSED,
    "2mm, outer fusion": _FUSED,
    "attention": {"Triton": partial(_whole_rows, True)},
}
