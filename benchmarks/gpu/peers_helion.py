"""Launches Helion's kernels, as its documentation writes them.

Each has a few configurations, of which the fastest counts. Helion's own search would take minutes
for a row, and its choice among given ones 20 seconds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from benchmarks.gpu import kernels_helion
from benchmarks.gpu.inputs import IN_PLACE, Inputs, tensors
from benchmarks.gpu.peer import Outcome, Peer, Run
from benchmarks.gpu.peers_triton import fastest
from benchmarks.gpu.rows import Row

# Helion has no types to check against.
helion: Any = import_module("helion")
hl: Any = import_module("helion.language")


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of Helion: what it is given, in its order, and the configurations to try."""

    function: Callable[..., Outcome]
    given: str
    configs: Sequence[Any]


def _configs(*ways: tuple[list[int], int, int], **more: Any) -> list[Any]:
    """Return configurations of these tiles, warps and stages."""
    return [
        helion.Config(block_sizes=tiles, num_warps=warps, num_stages=stages, **more)
        for tiles, warps, stages in ways
    ]


PRODUCTS = _configs(
    ([128, 256, 64], 8, 3), ([128, 128, 64], 4, 3), ([64, 64, 32], 4, 3), l2_groupings=[8]
)
ROWS = _configs(([1], 4, 1), ([1], 8, 1), ([1], 16, 1))
PARTS = _configs(([16, 1], 8, 1), ([32, 1], 8, 1), ([64, 1], 8, 1), ([64, 1], 16, 2))
COLUMNS = _configs(([1, 1024], 4, 1), ([1, 2048], 8, 1), ([1, 4096], 8, 1), ([2, 1024], 4, 1))
SCANS = _configs(([1, 1024], 4, 1), ([1, 2048], 4, 2), ([1, 4096], 8, 1))
ELEMENTS = _configs(([1024], 4, 1), ([2048], 8, 1), ([4096], 8, 1))
FEW = _configs(([16, 32], 4, 4), ([16, 64], 4, 3), ([16, 128], 4, 3))
MANY = _configs(([64, 128], 4, 3), ([128, 128], 8, 3), ([128, 256], 8, 3))
EXPERTS = _configs(([256, 64], 8, 3), ([256, 64], 8, 4), ([128, 64], 4, 4), l2_groupings=[16])


def peers(kernel: str) -> list[Peer]:
    """Return the one of a kernel, if it is written here."""
    return [Peer("Helion", partial(_made, KERNELS[kernel]))] if kernel in KERNELS else []


def _made(kernel: Kernel, row: Row, given: Inputs) -> Run:
    configs = kernel.configs
    if kernel.function in PACKED:
        configs = FEW if row.sizes["m"] <= 16 else MANY
    passed = [given[name] for name in kernel.given.split()]
    # To choose one takes steps in place, too, which are taken back.
    kept = tensors({name: given[name] for name in IN_PLACE.get(row.kernel, ())})
    before = {name: value.clone() for name, value in kept.items()}
    run = fastest(partial(_with(kernel.function, one), *passed) for one in configs)
    for name, value in kept.items():
        value.copy_(before[name])
    return run


def _with(function: Callable[..., Outcome], config: Any) -> Callable[..., Outcome]:
    """Return a kernel with one configuration, so that there is nothing to search."""
    ignored = [helion.exc.TensorOperationInWrapper]  # sums of parts, in torch
    made: Callable[..., Outcome] = helion.kernel(
        function, config=config, static_shapes=True, ignore_warnings=ignored
    )
    return made


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


PACKED = (kernels_helion.packed_pairs, kernels_helion.packed_halves)
STEP = "P G M V rate beta1 beta2 eps c d"
KERNELS: Mapping[str, Kernel] = {
    "matmul": Kernel(_product, "A B", PRODUCTS),
    "mmsigmoid": Kernel(_sigmoid_of_product, "A B", PRODUCTS),
    "softmax": Kernel(_softmax, "A", ROWS),
    "add + rms_norm": Kernel(kernels_helion.add_rms_norm, "X R W eps", ROWS),
    "layer_norm backward": Kernel(kernels_helion.norm_gradients, "D X W mean rstd", PARTS),
    "adam in place": Kernel(kernels_helion.adam, STEP, ELEMENTS),
    "embedding": Kernel(kernels_helion.embedding, "E T", COLUMNS),
    "scan of rows": Kernel(kernels_helion.scan, "A", SCANS),
    "quantize rows": Kernel(kernels_helion.quantized, "A", ROWS),
    "w4a16, pairs": Kernel(kernels_helion.packed_pairs, "A W S", FEW),
    "w4a16, halves": Kernel(kernels_helion.packed_halves, "A W S", FEW),
    "grouped matmul": Kernel(kernels_helion.grouped, "X W rows expert", EXPERTS),
}
