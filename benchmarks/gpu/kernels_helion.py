"""Kernels of rows, scans, experts and 4-bit weights in Helion's language.

`peers_helion` calls them. The first three are as Helion's own examples write them; it has none of
the others.
"""

from importlib import import_module
from typing import Any

import torch
from torch import Tensor

# Helion has no types to check against, and finds its language by this name.
hl: Any = import_module("helion.language")


def add_rms_norm(x: Tensor, r: Tensor, w: Tensor, eps: float) -> tuple[Tensor, ...]:
    """As the example of an RMS norm, with a residual."""
    m, _ = x.size()
    out = torch.empty_like(x)
    summed = torch.empty_like(x)
    rstd = torch.empty([m], dtype=torch.float32, device=x.device)
    for tile in hl.tile(m):
        both = x[tile, :].to(torch.float32) + r[tile, :].to(torch.float32)
        inverse = torch.rsqrt(torch.mean(both * both, dim=-1) + eps)
        out[tile, :] = (both * inverse[:, None] * w[:].to(torch.float32)).to(out.dtype)
        summed[tile, :] = both.to(x.dtype)
        rstd[tile] = inverse
    return out, summed, rstd


def norm_gradients(
    d: Tensor, x: Tensor, weight: Tensor, mean: Tensor, rstd: Tensor
) -> tuple[Tensor, ...]:
    """Sum the gradients of the weights in parts, which torch adds up at last."""
    rows = hl.register_block_size(x.size(0))
    n = hl.specialize(x.size(1))
    dx = torch.empty_like(x)
    parts = (x.size(0) + rows - 1) // rows
    weights = x.new_empty([parts, n], dtype=torch.float32)
    biases = x.new_empty([parts, n], dtype=torch.float32)
    for part in hl.tile(x.size(0), block_size=rows):
        weight_sum = weight.new_zeros(n, dtype=torch.float32)
        bias_sum = weight.new_zeros(n, dtype=torch.float32)
        wide = weight[None, :].to(torch.float32)
        for tile in hl.tile(part.begin, part.end):
            x_tile = x[tile, :].to(torch.float32)
            d_tile = d[tile, :].to(torch.float32)
            rstd_tile = rstd[tile].to(torch.float32)[:, None]
            hat = (x_tile - mean[tile].to(torch.float32)[:, None]) * rstd_tile
            weight_sum += torch.sum(d_tile * hat, dim=0)
            bias_sum += torch.sum(d_tile, dim=0)
            scaled = wide * d_tile
            along = torch.sum(hat * scaled, dim=-1) / n
            level = torch.sum(scaled, dim=-1) / n
            dx_tile = (scaled - (hat * along[:, None] + level[:, None])) * rstd_tile
            dx[tile, :] = dx_tile.to(x.dtype)
        weights[part.id, :] = weight_sum
        biases[part.id, :] = bias_sum
    return dx, weights.sum(0).to(weight.dtype), biases.sum(0).to(weight.dtype)


def embedding(table: Tensor, tokens: Tensor) -> Tensor:
    """Load the rows that are named, some columns at a time."""
    count = tokens.size(0)
    _, width = table.size()
    out = torch.empty([count, width], dtype=table.dtype, device=table.device)
    for tile, columns in hl.tile([count, width]):
        out[tile, columns] = table[tokens[tile], columns]
    return out


def adam(
    p: Tensor,
    g: Tensor,
    m: Tensor,
    v: Tensor,
    rate: float,
    beta1: float,
    beta2: float,
    eps: float,
    c: float,
    d: float,
) -> tuple[Tensor, ...]:
    """Take a step in place."""
    for tile in hl.tile(p.size(0)):
        grad = g[tile].to(torch.float32)
        moment = beta1 * m[tile].to(torch.float32) + (1 - beta1) * grad
        second = beta2 * v[tile].to(torch.float32) + (1 - beta2) * grad * grad
        step = moment / c / (torch.sqrt(second / d) + eps)
        p[tile] = (p[tile].to(torch.float32) - rate * step).to(p.dtype)
        m[tile] = moment.to(m.dtype)
        v[tile] = second.to(v.dtype)
    return p, m, v


def scan(x: Tensor) -> Tensor:
    """Scan each row tile by tile, with the sum of the tiles before."""
    m, n = x.size()
    out = torch.empty_like(x)
    for tile in hl.tile(m):
        before = hl.zeros([tile], dtype=torch.float32)
        for columns in hl.tile(n):
            part = x[tile, columns].to(torch.float32)
            sums = hl.cumsum(part, dim=1) + before[:, None]
            out[tile, columns] = sums.to(x.dtype)
            before = before + torch.sum(part, dim=1)
    return out


def quantized(x: Tensor) -> tuple[Tensor, ...]:
    """Round each row to whole numbers, with a scale."""
    m, n = x.size()
    out = torch.empty([m, n], dtype=torch.int8, device=x.device)
    scale = torch.empty([m], dtype=x.dtype, device=x.device)
    for tile in hl.tile(m):
        values = x[tile, :].to(torch.float32)
        largest = torch.amax(torch.abs(values), dim=1)
        step = torch.where(largest > 0, largest / 127.0, 1.0).to(x.dtype)
        scale[tile] = step
        steps = torch.floor(values / step.to(torch.float32)[:, None] + 0.5)
        out[tile, :] = torch.clamp(steps, -127.0, 127.0).to(torch.int8)
    return out, scale


def packed_pairs(a: Tensor, weights: Tensor, scales: Tensor) -> Tensor:
    """Join both halves of each byte to neighbours, as the example with 4 bits does."""
    m, k = a.size()
    n, _ = weights.size()
    out = torch.empty([m, n], dtype=a.dtype, device=a.device)
    for rows, columns in hl.tile([m, n]):
        acc = hl.zeros([rows, columns], dtype=torch.float32)
        for group in hl.grid(k // 128):
            packed = weights[columns, group * 64 + hl.arange(64)].to(torch.int8)
            scale = scales[columns, group]
            low = ((packed & 15) ^ 8) - 8
            high = packed >> 4
            both = torch.stack([low.to(a.dtype), high.to(a.dtype)], dim=2)
            unpacked = both.reshape(columns.block_size, 128) * scale[:, None]
            acc = hl.dot(a[rows, group * 128 + hl.arange(128)], unpacked.T, acc=acc)
        out[rows, columns] = acc.to(a.dtype)
    return out


def packed_halves(a: Tensor, weights: Tensor, scales: Tensor) -> Tensor:
    """Multiply the lower halves of 64 bytes, then the upper ones."""
    m, k = a.size()
    n, _ = weights.size()
    out = torch.empty([m, n], dtype=a.dtype, device=a.device)
    for rows, columns in hl.tile([m, n]):
        acc = hl.zeros([rows, columns], dtype=torch.float32)
        for group in hl.grid(k // 128):
            packed = weights[columns, group * 64 + hl.arange(64)]
            scale = scales[columns, group]
            low = ((packed & 15).to(torch.int8) - 8).to(a.dtype) * scale[:, None]
            high = ((packed >> 4).to(torch.int8) - 8).to(a.dtype) * scale[:, None]
            first = a[rows, group * 128 + hl.arange(64)]
            second = a[rows, group * 128 + 64 + hl.arange(64)]
            acc = hl.dot(first, low.T, acc=acc)
            acc = hl.dot(second, high.T, acc=acc)
        out[rows, columns] = acc.to(a.dtype)
    return out


def grouped(x: Tensor, weights: Tensor, rows: Tensor, expert: Tensor) -> Tensor:
    """Multiply each group of rows with the weights of its expert."""
    groups, size = rows.size()
    _, k, n = weights.size()
    size = hl.specialize(size)
    flat = weights.view(-1, n)
    out = torch.empty([x.size(0), n], dtype=x.dtype, device=x.device)
    for group, columns in hl.tile([groups, n], block_size=[1, None]):
        place = rows[group.begin, :]
        start = expert[group.begin] * k
        acc = hl.zeros([size, columns], dtype=torch.float32)
        for inner in hl.tile(k):
            acc = torch.addmm(acc, x[place, inner], flat[start + inner.index, columns])
        out[place, columns] = acc.to(out.dtype)
    return out
