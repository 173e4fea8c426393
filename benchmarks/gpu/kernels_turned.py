"""A matrix turned in memory, and products that take its other side with k innermost, or turn it.

Kernels in Triton's own language, for sizes that are multiples of their tiles; `peers_turned`
launches them.
"""

from __future__ import annotations

from benchmarks.gpu.jit import Given, constexpr, jit, tl
from benchmarks.gpu.kernels_products import tile_of


@jit
def turn_kernel(
    B: Given,
    turned: Given,
    n_start: Given,
    n_size: Given,
    k_size: Given,
    COLUMNS: constexpr,
    WAITS: constexpr,
    BLOCK_N: constexpr,
    BLOCK_K: constexpr,
) -> None:
    """So many columns of B as rows; it may end only when the kernel before it has ended."""
    pid = tl.program_id(0)
    n = n_start + pid % (COLUMNS // BLOCK_N) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = pid // (COLUMNS // BLOCK_N) * BLOCK_K + tl.arange(0, BLOCK_K)
    tile = tl.load(B + k[None, :] * n_size + n[:, None])
    tl.store(turned + n[:, None] * k_size + k[None, :], tile)
    if WAITS:
        tl.extra.cuda.gdc_wait()


@jit
def rows_kernel(
    A: Given,
    turned: Given,
    C: Given,
    n_start: Given,
    m_size: Given,
    n_size: Given,
    k_size: Given,
    COLUMNS: constexpr,
    EARLY: constexpr,
    BLOCK_M: constexpr,
    BLOCK_N: constexpr,
    BLOCK_K: constexpr,
    GROUP: constexpr,
) -> None:
    """So many columns of a product, by descriptors of both sides with k innermost.

    If it is early, it waits for the kernel before it, and the next one may begin beside it.
    """
    if EARLY:
        tl.extra.cuda.gdc_wait()
        tl.extra.cuda.gdc_launch_dependents()
    pid = tl.program_id(0)
    tile_m, tile_n = tile_of(pid, tl.cdiv(m_size, BLOCK_M), COLUMNS // BLOCK_N, GROUP)
    m_at, n_at = tile_m * BLOCK_M, n_start + tile_n * BLOCK_N
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k_at in tl.range(0, k_size, BLOCK_K):
        a = A.load([m_at, k_at])
        b = turned.load([n_at, k_at])
        total = tl.dot(a, b.T, total, input_precision="tf32")
    m, n = m_at + tl.arange(0, BLOCK_M), n_at + tl.arange(0, BLOCK_N)
    tl.store(C + m[:, None] * n_size + n[None, :], total)


@jit
def registers_kernel(
    A: Given,
    B: Given,
    C: Given,
    m_size: Given,
    n_size: Given,
    k_size: Given,
    BLOCK_M: constexpr,
    BLOCK_N: constexpr,
    BLOCK_K: constexpr,
    GROUP: constexpr,
    SOME: constexpr,
) -> None:
    """Multiply with B as the first side, which tensor cores take from registers.

    The result is transposed. What is computed is in registers, so 0 is added. Where Triton is told
    that there are SOME steps, ptxas does not wait after each product: then Triton 3.6 loads into
    registers still in use.
    """
    if SOME:
        tl.assume(k_size > 0)
    pid = tl.program_id(0)
    tile_m, tile_n = tile_of(pid, tl.cdiv(m_size, BLOCK_M), tl.cdiv(n_size, BLOCK_N), GROUP)
    m, n = tile_m * BLOCK_M, tile_n * BLOCK_N
    total = tl.zeros((BLOCK_N, BLOCK_M), tl.float32)
    for k in tl.range(0, k_size, BLOCK_K):
        a = A.load([m, k])
        b = B.load([k, n])
        total = tl.dot(b.T + 0.0, a.T, total, input_precision="tf32")
    C.store([m, n], total.T)
