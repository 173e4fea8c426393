"""Attention of several heads as FlashAttention-2 computes it, in Triton's own language.

`peers_by_hand` launches it.
"""

from __future__ import annotations

from benchmarks.gpu.jit import Given, constexpr, jit, tl


@jit
def flash_walk(
    total: Given,
    weight: Given,
    top: Given,
    q: Given,
    K_at: Given,
    V_at: Given,
    K_row: Given,
    V_row: Given,
    m: Given,
    start: Given,
    stop: Given,
    l_size: Given,
    scale: Given,
    WINDOW: constexpr,
    MASKED: constexpr,
    CAUSAL: constexpr,
    BLOCK_N: constexpr,
) -> tuple[Given, Given, Given]:
    """Go on with the keys from `start` to `stop`, with or without masks."""
    n = tl.arange(0, BLOCK_N)
    for at in tl.range(start, stop, BLOCK_N):
        at = tl.multiple_of(at, BLOCK_N)
        keys = at + n
        inside = keys < l_size
        if MASKED:
            k = tl.load(K_at + keys[None, :] * K_row, mask=inside[None, :], other=0.0)
        else:
            k = tl.load(K_at + keys[None, :] * K_row)
        scores = tl.dot(q, k)
        if MASKED:
            seen: Given = inside[None, :]
            if CAUSAL:
                seen = seen & (keys[None, :] <= m[:, None])
            if WINDOW > 0:
                seen = seen & (keys[None, :] > m[:, None] - WINDOW)
            scores = tl.where(seen, scores, -1.0e30)
        largest = tl.maximum(top, tl.max(scores, 1) * scale)
        p = tl.exp2(scores * scale - largest[:, None])
        factor = tl.exp2(top - largest)
        weight = weight * factor + tl.sum(p, 1)
        total = total * factor[:, None]
        if MASKED:
            v = tl.load(V_at + keys[:, None] * V_row, mask=inside[:, None], other=0.0)
        else:
            v = tl.load(V_at + keys[:, None] * V_row)
        total = tl.dot(p.to(v.dtype), v, total)
        top = largest
    return total, weight, top


@jit
def flash_kernel(
    Q: Given,
    K: Given,
    V: Given,
    O: Given,  # noqa: E741 - what papers call the result
    heads: Given,
    share: Given,
    m_size: Given,
    l_size: Given,
    scale: Given,
    CAUSAL: constexpr,
    WINDOW: constexpr,
    D: constexpr,
    BLOCK_M: constexpr,
    BLOCK_N: constexpr,
) -> None:
    """A block of queries of one head; the scale has the logarithm of 2 in it."""
    block = tl.num_programs(0) - 1 - tl.program_id(0) if CAUSAL else tl.program_id(0)
    pair = tl.program_id(1).to(tl.int64)
    kept = pair // heads * (heads // share) + pair % heads // share
    m = block * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    there = pair * m_size * D + m[:, None] * D + d[None, :]
    q = tl.load(Q + there, mask=m[:, None] < m_size, other=0.0)
    K_at = K + kept * l_size * D + d[:, None]
    V_at = V + kept * l_size * D + d[None, :]
    total = tl.zeros((BLOCK_M, D), tl.float32)
    weight = tl.zeros((BLOCK_M,), tl.float32)
    top = tl.full((BLOCK_M,), -1.0e30, tl.float32)
    stop = l_size
    whole = l_size // BLOCK_N * BLOCK_N
    first = 0
    inner = 0
    if CAUSAL:
        stop = tl.minimum(l_size, (block + 1) * BLOCK_M)
        whole = tl.minimum(whole, block * BLOCK_M // BLOCK_N * BLOCK_N)
    if WINDOW > 0:
        first = tl.maximum(block * BLOCK_M - WINDOW + 1, 0) // BLOCK_N * BLOCK_N
        inner = tl.cdiv(tl.maximum((block + 1) * BLOCK_M - WINDOW, 0), BLOCK_N) * BLOCK_N
        inner = tl.minimum(inner, stop)
        whole = tl.maximum(whole, inner)
        total, weight, top = flash_walk(
            *(total, weight, top, q, K_at, V_at, D, D, m, first, inner, l_size, scale),
            WINDOW,
            True,
            CAUSAL,
            BLOCK_N,
        )
    total, weight, top = flash_walk(
        *(total, weight, top, q, K_at, V_at, D, D, m, inner, whole, l_size, scale),
        WINDOW,
        False,
        CAUSAL,
        BLOCK_N,
    )
    total, weight, top = flash_walk(
        *(total, weight, top, q, K_at, V_at, D, D, m, whole, stop, l_size, scale),
        WINDOW,
        True,
        CAUSAL,
        BLOCK_N,
    )
    result = total / weight[:, None]
    tl.store(O + there, result.to(O.dtype.element_ty), mask=m[:, None] < m_size)
