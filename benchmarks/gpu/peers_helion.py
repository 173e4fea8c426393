"""Launches Helion's kernels, as its documentation writes them.

Helion chooses among the configurations given here. Its own search would take minutes for a row.
"""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from benchmarks.gpu.inputs import Inputs, tensors
from benchmarks.gpu.peer import Peer, Run
from benchmarks.gpu.rows import Row

# Helion has no types to check against.
helion: Any = import_module("helion")
hl: Any = import_module("helion.language")

PRODUCTS = [
    helion.Config(block_sizes=[128, 256, 64], l2_groupings=[8], num_warps=8, num_stages=3),
    helion.Config(block_sizes=[128, 128, 64], l2_groupings=[8], num_warps=4, num_stages=3),
    helion.Config(block_sizes=[64, 64, 32], l2_groupings=[8], num_warps=4, num_stages=3),
]
ROWS = [helion.Config(block_sizes=[1], num_warps=warps) for warps in (4, 8, 16)]


def peers(kernel: str) -> list[Peer]:
    """Return the one of a kernel, if it is written here."""
    return [Peer("Helion", partial(_made, KERNELS[kernel]))] if kernel in KERNELS else []


def _made(kernel: Callable[..., Tensor], _: Row, given: Inputs) -> Run:
    return partial(kernel, *tensors(given).values())


def _product(x: Tensor, y: Tensor) -> Tensor:
    m, k = x.size()
    k, n = y.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for tile_m, tile_n in hl.tile([m, n]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(k):
            acc = torch.addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n])
        out[tile_m, tile_n] = acc
    return out


def _sigmoid_of_product(x: Tensor, y: Tensor) -> Tensor:
    m, k = x.size()
    k, n = y.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for tile_m, tile_n in hl.tile([m, n]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(k):
            acc = torch.addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n])
        out[tile_m, tile_n] = torch.sigmoid(acc)
    return out


def _softmax(x: Tensor) -> Tensor:
    m, _ = x.size()
    out = torch.empty_like(x)
    for tile in hl.tile(m):
        out[tile, :] = torch.softmax(x[tile, :], dim=1)
    return out


KERNELS: Mapping[str, Callable[..., Tensor]] = {
    "matmul": helion.kernel(_product, configs=PRODUCTS, static_shapes=True),
    "mmsigmoid": helion.kernel(_sigmoid_of_product, configs=PRODUCTS, static_shapes=True),
    "softmax": helion.kernel(_softmax, configs=ROWS, static_shapes=True),
}
