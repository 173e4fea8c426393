"""Softmax and layer norm as Triton's tutorials write them: one program for each row, in one tile.

Kernels in Triton's own language; `peers_triton` launches them.
"""

from __future__ import annotations

from benchmarks.gpu.jit import Given, constexpr, jit, tl


@jit
def softmax_kernel(
    X: Given, Y: Given, rows: Given, columns: Given, BLOCK: constexpr, STAGES: constexpr
) -> None:
    """Rows are dealt out to as many programs as run at once."""
    column = tl.arange(0, BLOCK)
    mask = column < columns
    first = tl.program_id(0).to(tl.int64)
    for row in tl.range(first, rows, tl.num_programs(0), num_stages=STAGES):
        at = row * columns
        x = tl.load(X + at + column, mask=mask, other=-float("inf")).to(tl.float32)
        top = tl.exp(x - tl.max(x, 0))
        tl.store(Y + at + column, top / tl.sum(top, 0), mask=mask)


@jit
def layer_norm_kernel(
    X: Given, W: Given, B: Given, Y: Given, columns: Given, EPSILON: constexpr, BLOCK: constexpr
) -> None:
    """Mean and variance of a row that stays in registers."""
    at = tl.program_id(0).to(tl.int64) * columns
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(X + at + column, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, 0) / columns
    centred = tl.where(mask, x - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / columns + EPSILON)
    weight = tl.load(W + column, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(B + column, mask=mask, other=0.0).to(tl.float32)
    tl.store(Y + at + column, centred * scale * weight + bias, mask=mask)
