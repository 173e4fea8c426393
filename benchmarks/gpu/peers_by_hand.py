"""Launches all that is written by hand in Triton; of attention and packed weights, here."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from math import e, log2

import torch

from benchmarks.gpu import peers_rows, peers_triton
from benchmarks.gpu.inputs import Inputs, tensors
from benchmarks.gpu.jit import triton
from benchmarks.gpu.kernels_attention import flash_kernel
from benchmarks.gpu.kernels_packed import packed_kernel
from benchmarks.gpu.peer import Outcome, Peer, Run, Unfit
from benchmarks.gpu.peers_triton import fastest
from benchmarks.gpu.rows import WINDOW, Row

# Rows of a block, keys at a time, warps, stages.
ATTENTION = (
    (128, 128, 8, 2),
    (128, 128, 8, 3),
    (128, 64, 8, 2),
    (128, 64, 8, 3),
    (128, 64, 4, 2),
    (128, 64, 4, 3),
    (64, 64, 4, 2),
    (64, 64, 4, 3),
)
# Rows, columns, warps, stages; rows for few and for many rows of A.
FEW = tuple(product((16,), (32, 64, 128), (4,), (3, 4)))
MANY = ((64, 128, 4, 3), (128, 128, 8, 3), (128, 128, 4, 3), (128, 256, 8, 3), (128, 64, 4, 4))
GROUPED = 8


def peers(kernel: str) -> list[Peer]:
    """Return all that are written by hand for a kernel."""
    own = [Peer("Triton", OWN[kernel])] if kernel in OWN else []
    return [*peers_triton.peers(kernel), *own]


def _flash(is_causal: bool, window: int, row: Row, given: Inputs) -> Run:
    known = tensors(given)
    query, key, value = known["Q"], known["K"], known["V"]
    batches, heads, rows, size = query.shape
    if size & (size - 1) or size != value.shape[-1]:
        raise Unfit("heads have another size")

    def run(tiles: tuple[int, int, int, int]) -> Outcome:
        block_m, block_n, warps, stages = tiles
        result = torch.empty_like(query)
        flash_kernel[(triton.cdiv(rows, block_m), batches * heads)](
            *(query, key, value, result, heads, heads // key.shape[1], rows, key.shape[2]),
            size**-0.5 * log2(e),
            CAUSAL=is_causal,
            WINDOW=window,
            D=size,
            BLOCK_M=block_m,
            BLOCK_N=block_n,
            num_warps=warps,
            num_stages=stages,
        )
        return result

    return fastest(partial(run, tiles) for tiles in ATTENTION)


def _packed(are_pairs: bool, row: Row, given: Inputs) -> Run:
    known = tensors(given)
    a, weights, scales = known["A"], known["W"], known["S"]
    (m, k), n = a.shape, weights.shape[0]
    if k % 128:
        raise Unfit("the last group is not whole")

    def run(tiles: tuple[int, int, int, int]) -> Outcome:
        block_m, block_n, warps, stages = tiles
        result = torch.empty((m, n), dtype=a.dtype, device=a.device)
        packed_kernel[(triton.cdiv(m, block_m) * triton.cdiv(n, block_n),)](
            *(a, weights, scales, result, m, n, k),
            PAIRS=are_pairs,
            BLOCK_M=block_m,
            BLOCK_N=block_n,
            GROUP=GROUPED,
            num_warps=warps,
            num_stages=stages,
        )
        return result

    return fastest(partial(run, tiles) for tiles in (FEW if m <= 16 else MANY))


OWN: Mapping[str, Callable[[Row, Inputs], Run]] = {
    **peers_rows.MADE,
    "attention, heads": partial(_flash, False, 0),
    "attention, grouped": partial(_flash, False, 0),
    "attention, causal": partial(_flash, True, 0),
    "attention, window": partial(_flash, True, WINDOW),
    "w4a16, pairs": partial(_packed, True),
    "w4a16, halves": partial(_packed, False),
}
