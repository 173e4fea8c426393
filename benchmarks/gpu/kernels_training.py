"""Kernels of training as a person writes them in Triton: norms, Adam, embeddings, scans, rounding.

`peers_rows` launches them.
"""

from __future__ import annotations

from benchmarks.gpu.jit import Given, constexpr, jit, tl


@jit
def add_rms_norm_kernel(
    X: Given,
    R: Given,
    W: Given,
    Y: Given,
    S: Given,
    RSTD: Given,
    rows: Given,
    columns: Given,
    EPSILON: constexpr,
    BLOCK: constexpr,
) -> None:
    """Rows are dealt out to programs, each of which loads the weights once."""
    column = tl.arange(0, BLOCK)
    mask = column < columns
    weight = tl.load(W + column, mask=mask, other=0.0).to(tl.float32)
    first = tl.program_id(0).to(tl.int64)
    for row in tl.range(first, rows, tl.num_programs(0)):
        at = row * columns + column
        x = tl.load(X + at, mask=mask, other=0.0).to(tl.float32)
        r = tl.load(R + at, mask=mask, other=0.0).to(tl.float32)
        summed = x + r
        tl.store(S + at, summed.to(S.dtype.element_ty), mask=mask)
        rstd = tl.rsqrt(tl.sum(summed * summed, 0) / columns + EPSILON)
        tl.store(RSTD + row, rstd)
        tl.store(Y + at, (summed * rstd * weight).to(Y.dtype.element_ty), mask=mask)


@jit
def norm_gradients_kernel(
    D: Given,
    X: Given,
    W: Given,
    MEAN: Given,
    RSTD: Given,
    DX: Given,
    DW: Given,
    DB: Given,
    rows: Given,
    columns: Given,
    BLOCK: constexpr,
) -> None:
    """Each program has some rows, and keeps the sums of their columns in registers."""
    column = tl.arange(0, BLOCK)
    mask = column < columns
    weight = tl.load(W + column, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), tl.float32)
    db = tl.zeros((BLOCK,), tl.float32)
    first = tl.program_id(0).to(tl.int64)
    for row in tl.range(first, rows, tl.num_programs(0)):
        at = row * columns + column
        d = tl.load(D + at, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(X + at, mask=mask, other=0.0).to(tl.float32)
        mean = tl.load(MEAN + row).to(tl.float32)
        rstd = tl.load(RSTD + row).to(tl.float32)
        hat = tl.where(mask, (x - mean) * rstd, 0.0)
        scaled = d * weight
        along = tl.sum(scaled * hat, 0) / columns
        level = tl.sum(scaled, 0) / columns
        dx = (scaled - hat * along - level) * rstd
        tl.store(DX + at, dx.to(DX.dtype.element_ty), mask=mask)
        dw += d * hat
        db += d
    there = first * columns + column
    tl.store(DW + there, dw, mask=mask)
    tl.store(DB + there, db, mask=mask)


@jit
def sums_of_parts_kernel(
    DW: Given,
    DB: Given,
    W_SUM: Given,
    B_SUM: Given,
    parts: Given,
    columns: Given,
    PARTS: constexpr,
    COLUMNS: constexpr,
) -> None:
    """Sum what the programs of the kernel before have kept, some columns a program."""
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    dw = tl.zeros((PARTS, COLUMNS), tl.float32)
    db = tl.zeros((PARTS, COLUMNS), tl.float32)
    for start in tl.range(0, parts, PARTS):
        part = start + tl.arange(0, PARTS)
        mask = (part[:, None] < parts) & (column[None, :] < columns)
        at = part[:, None] * columns + column[None, :]
        dw += tl.load(DW + at, mask=mask, other=0.0)
        db += tl.load(DB + at, mask=mask, other=0.0)
    inside = column < columns
    tl.store(W_SUM + column, tl.sum(dw, 0).to(W_SUM.dtype.element_ty), mask=inside)
    tl.store(B_SUM + column, tl.sum(db, 0).to(B_SUM.dtype.element_ty), mask=inside)


@jit
def adam_kernel(
    P: Given,
    G: Given,
    M: Given,
    V: Given,
    size: Given,
    rate: Given,
    beta1: Given,
    beta2: Given,
    epsilon: Given,
    c: Given,
    d: Given,
    BLOCK: constexpr,
) -> None:
    """A step in place; what is kept is rounded to its type after all is computed."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < size
    p = tl.load(P + at, mask=mask).to(tl.float32)
    g = tl.load(G + at, mask=mask).to(tl.float32)
    m = tl.load(M + at, mask=mask).to(tl.float32)
    v = tl.load(V + at, mask=mask).to(tl.float32)
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    p -= rate * (m / c) / (tl.sqrt(v / d) + epsilon)
    tl.store(P + at, p.to(P.dtype.element_ty), mask=mask)
    tl.store(M + at, m.to(M.dtype.element_ty), mask=mask)
    tl.store(V + at, v.to(V.dtype.element_ty), mask=mask)


@jit
def embedding_kernel(T: Given, E: Given, Y: Given, columns: Given, BLOCK: constexpr) -> None:
    """A part of one row a program."""
    token = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = column < columns
    place = tl.load(T + token)
    row = tl.load(E + place * columns + column, mask=mask)
    tl.store(Y + token * columns + column, row, mask=mask)


@jit
def scan_kernel(X: Given, Y: Given, columns: Given, BLOCK: constexpr) -> None:
    """A row a program, tile by tile, with the sum of all tiles so far."""
    at = tl.program_id(0).to(tl.int64) * columns
    column = tl.arange(0, BLOCK)
    before = 0.0
    for start in tl.range(0, columns, BLOCK):
        mask = start + column < columns
        x = tl.load(X + at + start + column, mask=mask, other=0.0).to(tl.float32)
        sums = before + tl.cumsum(x, 0)
        tl.store(Y + at + start + column, sums.to(Y.dtype.element_ty), mask=mask)
        before += tl.sum(x, 0)


@jit
def part_sums_kernel(X: Given, SUMS: Given, columns: Given, PART: constexpr) -> None:
    """Sum one part of a long row."""
    row, part = tl.program_id(1).to(tl.int64), tl.program_id(0)
    column = part * PART + tl.arange(0, PART)
    x = tl.load(X + row * columns + column, mask=column < columns, other=0.0).to(tl.float32)
    tl.store(SUMS + row * tl.num_programs(0) + part, tl.sum(x, 0))


@jit
def scan_of_parts_kernel(
    X: Given,
    SUMS: Given,
    Y: Given,
    columns: Given,
    PART: constexpr,
    PARTS: constexpr,
) -> None:
    """Scan one part, after the sums of all parts before it are added up."""
    row, part = tl.program_id(1).to(tl.int64), tl.program_id(0)
    other = tl.arange(0, PARTS)
    sums = tl.load(SUMS + row * tl.num_programs(0) + other, mask=other < part, other=0.0)
    column = part * PART + tl.arange(0, PART)
    mask = column < columns
    x = tl.load(X + row * columns + column, mask=mask, other=0.0).to(tl.float32)
    result = tl.sum(sums, 0) + tl.cumsum(x, 0)
    tl.store(Y + row * columns + column, result.to(Y.dtype.element_ty), mask=mask)


@jit
def quantize_kernel(
    X: Given, Q: Given, SCALE: Given, rows: Given, columns: Given, BLOCK: constexpr
) -> None:
    """Rows are dealt out to programs, and stay in registers."""
    column = tl.arange(0, BLOCK)
    mask = column < columns
    first = tl.program_id(0).to(tl.int64)
    for row in tl.range(first, rows, tl.num_programs(0)):
        at = row * columns + column
        x = tl.load(X + at, mask=mask, other=0.0).to(tl.float32)
        largest = tl.max(tl.abs(x), 0)
        scale = tl.where(largest > 0, largest / 127.0, 1.0).to(SCALE.dtype.element_ty)
        tl.store(SCALE + row, scale)
        steps = tl.floor(x * (1.0 / scale.to(tl.float32)) + 0.5)
        steps = tl.minimum(tl.maximum(steps, -127.0), 127.0)
        tl.store(Q + at, steps.to(tl.int8), mask=mask)
