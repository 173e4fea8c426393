"""Turns the second side of a tf32 product in several ways, to see what each could reach.

Tensor cores want both sides of 32 bits with k innermost. The emitted kernels turn the second one in
memory first; here are that without the turn, the turn beside the product of columns that are
turned already, and turning in registers.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from benchmarks.gpu.inputs import Inputs, tensors
from benchmarks.gpu.jit import triton
from benchmarks.gpu.kernels_turned import registers_kernel, rows_kernel, turn_kernel
from benchmarks.gpu.peer import Peer, Run, Unfit
from benchmarks.gpu.rows import Row

# Triton has no types to check against.
descriptors: Any = import_module("triton.tools.tensor_descriptor")
describe: Callable[..., Any] = descriptors.TensorDescriptor.from_tensor

TURN_N, TURN_K = 128, 32
ROWS = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 32, "GROUP": 8}
ROWS_LAUNCH = {"num_warps": 8, "num_stages": 4}
PARTS = (2, 4, 8)


def peers(kernel: str) -> list[Peer]:
    """Return all ways; none of any other kernel."""
    if kernel != "matmul":
        return []
    found = [
        Peer("turned before", _turned_before),
        Peer("from registers", partial(_registers, some=False)),
        Peer("from registers, no waits", partial(_registers, some=True)),
    ]
    for count in PARTS:
        found.append(Peer(f"turned beside, {count} parts", partial(_beside, count, waits=True)))
        found.append(Peer(f"so, {count} parts, unordered", partial(_beside, count, waits=False)))
    return found


def _sides(row: Row, given: Inputs, parts: int = 1) -> tuple[Tensor, Tensor]:
    a, b = tensors(given)["A"], tensors(given)["B"]
    (m, k), n = a.shape, b.shape[1]
    if row.dtype != "tf32" or m % 256 or n % (256 * parts) or k % 32:
        raise Unfit("it is for products in tf32, of whole tiles")
    return a, b


def _turned_before(row: Row, given: Inputs) -> Run:
    """Return the product alone: what it would take if turning took no time."""
    a, b = _sides(row, given)
    turned = b.T.contiguous()

    def run() -> Tensor:
        c = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
        _product(a, _described(a, turned), c, 0, b.shape[1])
        return c

    return run


def _beside(count: int, row: Row, given: Inputs, *, waits: bool) -> Run:
    """Columns in parts: each is turned while the product of those before it is computed.

    If a turn waits for the product before it, all is done when the last kernel is done; else that
    is not so, and a kernel after it that began early could read what is not there yet.
    """
    a, b = _sides(row, given, count)
    if not a.is_cuda:
        raise Unfit("only a GPU begins a kernel beside the one before it")
    (m, k), n = a.shape, b.shape[1]
    columns = n // count

    def run() -> Tensor:
        turned = torch.empty((n, k), dtype=a.dtype, device=a.device)
        c = torch.empty((m, n), dtype=a.dtype, device=a.device)
        described = _described(a, turned)
        for part in range(count):
            is_later = part > 0
            turn_kernel[(columns // TURN_N * (k // TURN_K),)](
                *(b, turned, part * columns, n, k),
                COLUMNS=columns,
                WAITS=is_later and waits,
                BLOCK_N=TURN_N,
                BLOCK_K=TURN_K,
                num_warps=4,
                launch_pdl=is_later,
            )
            _product(a, described, c, part * columns, columns, early=True)
        return c

    return run


def _described(a: Tensor, turned: Tensor) -> tuple[Any, Any]:
    return (
        describe(a, [ROWS["BLOCK_M"], ROWS["BLOCK_K"]]),
        describe(turned, [ROWS["BLOCK_N"], ROWS["BLOCK_K"]]),
    )


def _product(
    a: Tensor, described: tuple[Any, Any], c: Tensor, start: int, columns: int, early: bool = False
) -> None:
    (m, k), n = a.shape, c.shape[1]
    grid = (triton.cdiv(m, ROWS["BLOCK_M"]) * (columns // ROWS["BLOCK_N"]),)
    rows_kernel[grid](
        *(*described, c, start, m, n, k),
        COLUMNS=columns,
        EARLY=early,
        **ROWS,
        **ROWS_LAUNCH,
        launch_pdl=early,
    )


def _registers(row: Row, given: Inputs, *, some: bool) -> Run:
    a, b = _sides(row, given)
    (m, k), n = a.shape, b.shape[1]

    def run() -> Tensor:
        c = torch.empty((m, n), dtype=a.dtype, device=a.device)
        registers_kernel[(m // 256 * (n // 128),)](
            *(describe(a, [256, 32]), describe(b, [32, 128]), describe(c, [256, 128])),
            *(m, n, k),
            BLOCK_M=256,
            BLOCK_N=128,
            BLOCK_K=32,
            GROUP=8,
            SOME=some,
            num_warps=8,
            num_stages=4,
        )
        return c

    return run
