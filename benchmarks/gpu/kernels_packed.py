"""A product with weights of 4 bits, in Triton's own language; `peers_by_hand` launches it."""

from __future__ import annotations

from benchmarks.gpu.jit import Given, constexpr, jit, tl


@jit
def packed_kernel(
    A: Given,
    W: Given,
    S: Given,
    C: Given,
    m_size: Given,
    n_size: Given,
    k_size: Given,
    PAIRS: constexpr,
    BLOCK_M: constexpr,
    BLOCK_N: constexpr,
    GROUP: constexpr,
) -> None:
    """Add up 128 weights of one scale in each step: lower halves of 64 bytes, then upper ones."""
    tiles_m, tiles_n = tl.cdiv(m_size, BLOCK_M), tl.cdiv(n_size, BLOCK_N)
    pid = tl.program_id(0)
    group = pid // (GROUP * tiles_n)
    height = tl.minimum(tiles_m - group * GROUP, GROUP)
    m = (group * GROUP + pid % (GROUP * tiles_n) % height) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = pid % (GROUP * tiles_n) // height * BLOCK_N + tl.arange(0, BLOCK_N)
    c = tl.arange(0, 64)
    rows, columns = m[:, None] < m_size, n[None, :] < n_size
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    step = 2 if PAIRS else 1
    apart = 1 if PAIRS else 64
    for at in tl.range(0, k_size, 128):
        there = W + n[None, :] * (k_size // 2) + (at // 2 + c)[:, None]
        packed = tl.load(there, mask=columns, other=0)
        scale = tl.load(S + n * (k_size // 128) + at // 128, mask=n < n_size, other=0.0)
        low, high = packed & 15, packed >> 4
        if PAIRS:
            low, high = (low ^ 8).to(tl.int8) - 8, (high ^ 8).to(tl.int8) - 8
        else:
            low, high = low.to(tl.int8) - 8, high.to(tl.int8) - 8
        left = A + m[:, None] * k_size + (at + step * c)[None, :]
        a = tl.load(left, mask=rows, other=0.0)
        total = tl.dot(a, low.to(a.dtype) * scale[None, :], total)
        a = tl.load(left + apart, mask=rows, other=0.0)
        total = tl.dot(a, high.to(a.dtype) * scale[None, :], total)
    there = m[:, None].to(tl.int64) * n_size + n[None, :]
    tl.store(C + there, total.to(C.dtype.element_ty), mask=rows & columns)
