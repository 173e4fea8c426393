"""Launches kernels of training that are written by hand in Triton: rows, scans, steps of Adam."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product

import torch

from benchmarks.gpu.inputs import NUMBERS, Inputs, tensors
from benchmarks.gpu.jit import triton
from benchmarks.gpu.kernels_training import (
    adam_kernel,
    add_rms_norm_kernel,
    embedding_kernel,
    norm_gradients_kernel,
    part_sums_kernel,
    quantize_kernel,
    scan_kernel,
    scan_of_parts_kernel,
    sums_of_parts_kernel,
)
from benchmarks.gpu.peer import Outcome, Run
from benchmarks.gpu.peers_triton import fastest, power_of_two, programs
from benchmarks.gpu.rows import Row

# Programs for each multiprocessor, and warps; 0 is a program for each row.
DEALT = tuple(product((0, 1, 2, 4), (4, 8, 16)))
# Elements at a time, and warps.
TILES = ((1024, 4), (2048, 4), (2048, 8), (4096, 8), (8192, 8))
PARTS = ((4096, 4), (8192, 8), (16384, 8), (16384, 16))


def _grid(rows: int, each: int, tensor: torch.Tensor) -> int:
    """Return how many programs there are."""
    return min(rows, each * programs(tensor)) if each else rows


def _add_rms_norm(_: Row, given: Inputs) -> Run:
    known = tensors(given)
    x, weight = known["X"], known["W"]
    rows, columns = x.shape
    block = power_of_two(columns)

    def run(each: int, warps: int) -> Outcome:
        normed, summed = torch.empty_like(x), torch.empty_like(x)
        rstd = torch.empty(rows, dtype=torch.float32, device=x.device)
        add_rms_norm_kernel[(_grid(rows, each, x),)](
            *(x, known["R"], weight, normed, summed, rstd, rows, columns),
            EPSILON=NUMBERS["eps"],
            BLOCK=block,
            num_warps=warps,
        )
        return normed, summed, rstd

    return fastest(partial(run, *way) for way in DEALT)


def _norm_gradients(_: Row, given: Inputs) -> Run:
    known = tensors(given)
    x, weight = known["X"], known["W"]
    rows, columns = x.shape
    block = power_of_two(columns)

    def run(each: int, warps: int) -> Outcome:
        count = _grid(rows, each, x)
        dx = torch.empty_like(x)
        dw, db = torch.empty_like(weight), torch.empty_like(weight)
        parts = torch.empty(2, count, columns, dtype=torch.float32, device=x.device)
        norm_gradients_kernel[(count,)](
            *(known["D"], x, weight, known["mean"], known["rstd"]),
            *(dx, parts[0], parts[1], rows, columns),
            BLOCK=block,
            num_warps=warps,
        )
        sums_of_parts_kernel[(triton.cdiv(columns, 32),)](
            *(parts[0], parts[1], dw, db, count, columns),
            PARTS=64,
            COLUMNS=32,
            num_warps=8,
        )
        return dx, dw, db

    return fastest(partial(run, *way) for way in DEALT if way[0])


def _adam(_: Row, given: Inputs) -> Run:
    known = tensors(given)
    size = known["P"].numel()
    numbers = [NUMBERS[name] for name in ("rate", "beta1", "beta2", "eps", "c", "d")]

    def run(block: int, warps: int) -> Outcome:
        adam_kernel[(triton.cdiv(size, block),)](
            *(known[name] for name in "PGMV"),
            *(size, *numbers),
            BLOCK=block,
            num_warps=warps,
        )
        return known["P"], known["M"], known["V"]

    # To choose tiles takes steps, too, which are taken back.
    before = [(known[name], known[name].clone()) for name in "PMV"]
    chosen = fastest(partial(run, *way) for way in TILES)
    for one, value in before:
        one.copy_(value)
    return chosen


def _embedding(_: Row, given: Inputs) -> Run:
    known = tensors(given)
    table, tokens = known["E"], known["T"]
    count, columns = tokens.numel(), table.shape[1]

    def run(block: int, warps: int) -> Outcome:
        result = torch.empty((count, columns), dtype=table.dtype, device=table.device)
        embedding_kernel[(count, triton.cdiv(columns, block))](
            *(tokens, table, result, columns), BLOCK=block, num_warps=warps
        )
        return result

    return fastest(partial(run, *way) for way in ((512, 4), (1024, 8), *TILES))


def _scan(_: Row, given: Inputs) -> Run:
    x = tensors(given)["A"]
    rows, columns = x.shape

    def run(block: int, warps: int) -> Outcome:
        result = torch.empty_like(x)
        scan_kernel[(rows,)](x, result, columns, BLOCK=block, num_warps=warps)
        return result

    return fastest(partial(run, *way) for way in TILES)


def _long_scan(_: Row, given: Inputs) -> Run:
    """Two launches, of which the second adds up what the first one found of the parts before."""
    x = tensors(given)["A"]
    rows, columns = x.shape

    def run(part: int, warps: int) -> Outcome:
        count = triton.cdiv(columns, part)
        result = torch.empty_like(x)
        sums = torch.empty(rows, count, dtype=torch.float32, device=x.device)
        part_sums_kernel[(count, rows)](x, sums, columns, PART=part, num_warps=warps)
        scan_of_parts_kernel[(count, rows)](
            *(x, sums, result, columns),
            PART=part,
            PARTS=power_of_two(count),
            num_warps=warps,
        )
        return result

    return fastest(partial(run, *way) for way in PARTS)


def _quantize(_: Row, given: Inputs) -> Run:
    x = tensors(given)["A"]
    rows, columns = x.shape
    block = power_of_two(columns)

    def run(each: int, warps: int) -> Outcome:
        quantized = torch.empty((rows, columns), dtype=torch.int8, device=x.device)
        scale = torch.empty(rows, dtype=x.dtype, device=x.device)
        quantize_kernel[(_grid(rows, each, x),)](
            *(x, quantized, scale, rows, columns), BLOCK=block, num_warps=warps
        )
        return quantized, scale

    return fastest(partial(run, *way) for way in DEALT)


MADE: Mapping[str, Callable[[Row, Inputs], Run]] = {
    "add + rms_norm": _add_rms_norm,
    "layer_norm backward": _norm_gradients,
    "adam in place": _adam,
    "embedding": _embedding,
    "scan of rows": _scan,
    "scan of long rows": _long_scan,
    "quantize rows": _quantize,
}
