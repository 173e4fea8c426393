"""Matrix products as Triton's tutorials write them, and small fused ones as one would by hand.

Kernels in Triton's own language; `peers_triton` launches them.
"""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.jit import Given, constexpr, jit, tl


@jit
def tile_of(pid: Given, tiles_m: Given, tiles_n: Given, GROUP: constexpr) -> Any:
    """Return which tile a program makes, in groups of rows that share columns in the cache."""
    group = pid // (GROUP * tiles_n)
    in_group = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + (pid % (GROUP * tiles_n)) % in_group
    tile_n = (pid % (GROUP * tiles_n)) // in_group
    return tile_m, tile_n


@jit
def grouped_kernel(
    A: Given,
    B: Given,
    C: Given,
    m_size: Given,
    n_size: Given,
    k_size: Given,
    PRECISION: constexpr,
    SIGMOID: constexpr,
    BLOCK_M: constexpr,
    BLOCK_N: constexpr,
    BLOCK_K: constexpr,
    GROUP: constexpr,
) -> None:
    """One tile of a product for each program."""
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(m_size, BLOCK_M), tl.cdiv(n_size, BLOCK_N)
    tile_m, tile_n = tile_of(pid, tiles_m, tiles_n, GROUP)
    m = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % m_size
    n = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % n_size
    k = tl.arange(0, BLOCK_K)
    left = A + m[:, None] * k_size + k[None, :]
    right = B + k[:, None] * n_size + n[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for step in range(0, tl.cdiv(k_size, BLOCK_K)):
        inside = k < k_size - step * BLOCK_K
        a = tl.load(left, mask=inside[None, :], other=0.0)
        b = tl.load(right, mask=inside[:, None], other=0.0)
        total = tl.dot(a, b, total, input_precision=PRECISION)
        left += BLOCK_K
        right += BLOCK_K * n_size
    if SIGMOID:
        total = tl.sigmoid(total)
    m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (m[:, None] < m_size) & (n[None, :] < n_size)
    there = m[:, None].to(tl.int64) * n_size + n[None, :]
    tl.store(C + there, total.to(C.dtype.element_ty), mask=mask)


@jit
def descriptor_kernel(
    A: Given,
    B: Given,
    C: Given,
    m_size: Given,
    n_size: Given,
    k_size: Given,
    PRECISION: constexpr,
    SIGMOID: constexpr,
    BLOCK_M: constexpr,
    BLOCK_N: constexpr,
    BLOCK_K: constexpr,
    GROUP: constexpr,
    DTYPE: constexpr,
) -> None:
    """The same with tensor descriptors (TMA), as many programs as run at once, each many tiles."""
    tiles_m, tiles_n = tl.cdiv(m_size, BLOCK_M), tl.cdiv(n_size, BLOCK_N)
    for pid in tl.range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0), flatten=True):
        tile_m, tile_n = tile_of(pid, tiles_m, tiles_n, GROUP)
        m, n = tile_m * BLOCK_M, tile_n * BLOCK_N
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for step in range(0, tl.cdiv(k_size, BLOCK_K)):
            a = A.load([m, step * BLOCK_K])
            b = B.load([step * BLOCK_K, n])
            total = tl.dot(a, b, total, input_precision=PRECISION)
        if SIGMOID:
            total = tl.sigmoid(total)
        C.store([m, n], total.to(DTYPE))


@jit
def inner_kernel(
    A: Given,
    B: Given,
    C: Given,
    D: Given,
    m_size: Given,
    n_size: Given,
    l_size: Given,
    K: constexpr,
    PRECISION: constexpr,
    BLOCK_M: constexpr,
    BLOCK_N: constexpr,
    BLOCK_L: constexpr,
) -> None:
    """(A @ B) @ C, where a tile of A @ B is made in each step of the outer product's loop."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, K)
    a = tl.load(A + m[:, None] * K + k[None, :], mask=m[:, None] < m_size, other=0.0)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, l_size, BLOCK_L):
        l = start + tl.arange(0, BLOCK_L)  # noqa: E741 - the name of the label
        inside = l < l_size
        b = tl.load(B + k[:, None] * l_size + l[None, :], mask=inside[None, :], other=0.0)
        mask = inside[:, None] & (n[None, :] < n_size)
        c = tl.load(C + l[:, None] * n_size + n[None, :], mask=mask, other=0.0)
        ab = tl.dot(a, b, input_precision=PRECISION).to(c.dtype)
        total = tl.dot(ab, c, total, input_precision=PRECISION)
    mask = (m[:, None] < m_size) & (n[None, :] < n_size)
    tl.store(D + m[:, None] * n_size + n[None, :], total.to(D.dtype.element_ty), mask=mask)


@jit
def attention_kernel(
    A: Given,
    B: Given,
    B_k: Given,
    B_l: Given,
    C: Given,
    D: Given,
    m_size: Given,
    n_size: Given,
    k_size: Given,
    scale: Given,
    L: constexpr,
    SOFTMAX: constexpr,
    PRECISION: constexpr,
    BLOCK_M: constexpr,
    BLOCK_N: constexpr,
    BLOCK_K: constexpr,
) -> None:
    """Rows of A @ B are made whole, then multiplied by C; between the two, softmax if asked for."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    l = tl.arange(0, L)  # noqa: E741 - the name of the label
    rows = m[:, None] < m_size
    ab = tl.zeros((BLOCK_M, L), tl.float32)
    for start in range(0, k_size, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        inside = k < k_size
        a = tl.load(A + m[:, None] * k_size + k[None, :], mask=rows & inside[None, :], other=0.0)
        b = tl.load(B + k[:, None] * B_k + l[None, :] * B_l, mask=inside[:, None], other=0.0)
        ab = tl.dot(a, b, ab, input_precision=PRECISION)
    c = tl.load(C + l[:, None] * n_size + n[None, :], mask=n[None, :] < n_size, other=0.0)
    if SOFTMAX:
        ab = ab * scale
        ab = tl.exp(ab - tl.max(ab, 1)[:, None])
        ab = ab / tl.sum(ab, 1)[:, None]
    total = tl.dot(ab.to(c.dtype), c, input_precision=PRECISION)
    there = m[:, None] * n_size + n[None, :]
    tl.store(D + there, total.to(D.dtype.element_ty), mask=rows & (n[None, :] < n_size))
