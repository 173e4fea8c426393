"""Measures operators that train, forward and backward, beside torch, torch.compile and Liger.

    python -m benchmarks.training -o FILE --seconds 130

The sizes are those of `examples/train_gpt.py`. For each operator and each of those that compute the
same, FILE has the time of a forward call, that of a call with its backward, and the most memory
that both take. Times are those of the device, with a cache that was overwritten before. What a
call takes of the host is measured with tensors so small that the device waits for it. With
`--profile`, the longest kernels of one step of the example are written, too.
"""

import argparse
import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch.nn import functional as F

from dtpoly import nn
from dtpoly.nn.packaged_operators import operator
from dtpoly.training.torch_operators import KNOWN

TORCH: Any = torch  # for functions that torch does not say the types of
Call = Callable[..., Any]
FLUSHED = 256 * 2**20  # bytes that are written before each call, more than any cache has
RUNS, HOST_RUNS = 15, 50


@dataclass(frozen=True)
class Case:
    """An operator with the shapes of its inputs; the last input may be classes."""

    shapes: tuple[tuple[int, ...], ...]
    calls: Mapping[str, Call]
    small: tuple[tuple[int, ...], ...] = ()
    classes: int = 0


def liger(module: str, name: str) -> Call:
    """Return the function of an autograd class of Liger; it is looked up when it is called."""

    def call(*given: Any) -> Any:
        return getattr(import_module(f"liger_kernel.ops.{module}"), name).apply(*given)

    return call


def backend(name: str, call: Call) -> Call:
    """Return attention by one of the backends of torch."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def attend(*given: torch.Tensor) -> torch.Tensor:
        with sdpa_kernel(getattr(SDPBackend, name)):
            return call(*given)  # type: ignore[no-any-return]

    return attend


def compiled(call: Call) -> Call:
    """Return what torch.compile makes of a function."""
    return TORCH.compile(call)  # type: ignore[no-any-return]


def beside(ours: Call, theirs: Call, **more: Call) -> dict[str, Call]:
    """Return what is compared by default."""
    return {"dtpoly": ours, "torch": theirs, "torch.compile": compiled(theirs), **more}


def rms_norms() -> dict[str, Call]:
    """Return what normalizes by the root of the mean square."""
    theirs = liger("rms_norm", "LigerRMSNormFunction")

    def ours(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return nn.rms_norm(x, w.shape, w, 1e-6)

    def of_torch(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(x, w.shape, w, 1e-6)

    def of_liger(x: torch.Tensor, w: torch.Tensor) -> Any:
        return theirs(x, w, 1e-6)

    return beside(ours, of_torch, Liger=of_liger)


def layer_norms() -> dict[str, Call]:
    """Return what normalizes by mean and deviation."""
    theirs = liger("layer_norm", "LigerLayerNormFunction")

    def ours(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return nn.layer_norm(x, w.shape, w, b)

    def of_torch(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, w.shape, w, b)

    def of_liger(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
        return theirs(x, w, b, 1e-5)

    return beside(ours, of_torch, Liger=of_liger)


def losses() -> dict[str, Call]:
    """Return what computes cross entropy."""
    theirs = liger("cross_entropy", "LigerCrossEntropyFunction")

    def of_torch(x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(x.float(), t)

    def of_liger(x: torch.Tensor, t: torch.Tensor) -> Any:
        return theirs(x, t, None)[0]

    return beside(nn.cross_entropy, of_torch, Liger=of_liger)


def linear_losses() -> dict[str, Call]:
    """Return what computes the cross entropy of logits that it multiplies itself."""
    theirs = liger("fused_linear_cross_entropy", "LigerFusedLinearCrossEntropyFunction")

    def of_torch(x: torch.Tensor, w: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(F.linear(x, w).float(), t)

    def of_liger(x: torch.Tensor, w: torch.Tensor, t: torch.Tensor) -> Any:
        return theirs(x, w, t)[0]

    several: dict[str, Call] = {
        f"dtpoly, {rows} rows at once": partial(nn.linear_cross_entropy, rows_at_once=rows)
        for rows in (2048, 4096, 8192, 16384)
    }
    return {**beside(nn.linear_cross_entropy, of_torch, Liger=of_liger), **several}


def units() -> dict[str, Call]:
    """Return what multiplies SiLU of one tensor by another one."""

    def of_torch(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return F.silu(a) * b

    return beside(nn.swiglu, of_torch, Liger=liger("swiglu", "LigerSiLUMulFunction"))


def attentions() -> dict[str, Call]:
    """Return causal attention, also by two backends of torch."""
    causal = partial(F.scaled_dot_product_attention, is_causal=True)
    return {
        "dtpoly": partial(nn.scaled_dot_product_attention, is_causal=True),
        "SDPA, flash": backend("FLASH_ATTENTION", causal),
        "SDPA, cuDNN": backend("CUDNN_ATTENTION", causal),
    }


def cases() -> dict[str, Case]:
    """Return all that is compared, by name."""
    rows, width, hidden, words = 16 * 1024, 768, 2048, 32768
    turned = beside(partial(_turned, nn.rope), partial(_turned, _rotated))
    norm, small = ((rows, width), (width,)), ((8, width), (width,))
    return {
        "attention, causal": Case(((16, 12, 1024, 64),) * 3, attentions(), ((1, 1, 64, 64),) * 3),
        "attention, causal, 4096 by 128": Case(((2, 16, 4096, 128),) * 3, attentions()),
        "rms_norm": Case(norm, rms_norms(), small),
        "layer_norm": Case((*norm, (width,)), layer_norms(), (*small, (width,))),
        "swiglu": Case(((rows, hidden),) * 2, units(), ((8, hidden),) * 2),
        "cross_entropy": Case(((rows, words),), losses(), ((8, 1024),), words),
        "linear_cross_entropy": Case(
            ((rows, width), (words, width)), linear_losses(), ((8, width), (1024, width)), words
        ),
        "rope": Case(((16, 1024, 12, 64),), turned, ((1, 8, 1, 64),)),
    }


def _turned(call: Call, x: torch.Tensor) -> torch.Tensor:
    angles = torch.arange(x.shape[1] * x.shape[3] // 2, device=x.device).view(x.shape[1], -1) / 7
    return call(x, angles.cos(), angles.sin())  # type: ignore[no-any-return]


def _rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    c, s = (one[:, None].to(x.dtype) for one in (cos, sin))
    return torch.cat([first * c - second * s, second * c + first * s], dim=-1)


def unproved() -> None:
    """Let operators run without proofs, which tests ask for; a benchmark has no time for them."""
    for name in nn.names():
        known = KNOWN[operator(name).name]
        content = known.content
        backward = tuple(replace(one, verifies=False) for one in content.backward)
        schedule = replace(content.schedule, verifies=False)
        known.take(replace(content, schedule=schedule, backward=backward))


def inputs(shapes: tuple[tuple[int, ...], ...], classes: int) -> list[torch.Tensor]:
    """Return leaves of 16 bits, and classes behind them if there are some."""
    TORCH.manual_seed(0)
    made = [
        torch.randn(one, device="cuda", dtype=torch.bfloat16).requires_grad_() for one in shapes
    ]
    if classes:
        count = min(classes, made[-1].shape[0] if len(made) > 1 else made[0].shape[1])
        made.append(TORCH.randint(count, (made[0].shape[0],), device="cuda"))
    return made


def measured(call: Call, given: list[torch.Tensor]) -> dict[str, float]:
    """Return milliseconds of forward, and of both, and the most memory beside the inputs."""
    leaves = [one for one in given if one.requires_grad]

    def both() -> None:
        found = call(*given)
        gift = torch.ones_like(found) if found.dim() == 0 else gifts.setdefault("d", found.detach())
        torch.autograd.grad(found, leaves, gift)

    gifts: dict[str, torch.Tensor] = {}
    for _ in range(3):
        both()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    both()
    torch.cuda.synchronize()
    peak = torch.cuda.max_memory_allocated() - before
    forward, whole = _timed(partial(call, *given)), _timed(both)
    return {"forward_ms": forward, "both_ms": whole, "peak_mib": peak / 2**20}


def _timed(run: Callable[[], Any]) -> float:
    flush = torch.empty(FLUSHED, dtype=torch.int8, device="cuda")
    pairs = [[TORCH.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(RUNS)]
    for first, last in pairs:
        flush.zero_()
        first.record()
        run()
        last.record()
    torch.cuda.synchronize()
    return median(float(first.elapsed_time(last)) for first, last in pairs)


def hosted(call: Call, given: list[torch.Tensor]) -> float:
    """Return the microseconds that the host takes for a call with its backward."""
    leaves = [one for one in given if one.requires_grad]

    def both() -> None:
        found = call(*given)
        torch.autograd.grad(found, leaves, torch.ones_like(found))

    for _ in range(3):
        both()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(HOST_RUNS):
        both()
    torch.cuda.synchronize()
    return 1e6 * (time.perf_counter() - start) / HOST_RUNS


def compared(one: Case) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what was measured of each that computes the same."""
    first: torch.Tensor | None = None
    for name, call in one.calls.items():
        try:
            given = inputs(one.shapes, one.classes)
            result = call(*given)
            if first is None:
                first = result.detach().float()
            far = float((result.detach().float() - first).abs().max())
            del result
            found: dict[str, Any] = {"far_from_first": far, **measured(call, given)}
            if name.startswith("dtpoly"):
                found["kernels"] = longest(call, given)
            if one.small:
                found["host_us"] = hosted(call, inputs(one.small, one.classes))
        except Exception as error:  # the others are of use all the same
            traceback.print_exc()
            found = {"failed": f"{type(error).__name__}: {error}"[:300]}
        yield name, found


def longest(call: Call, given: list[torch.Tensor]) -> list[dict[str, Any]]:
    """Return the kernels of a call with its backward that take longest."""
    leaves = [one for one in given if one.requires_grad]

    def both() -> None:
        found = call(*given)
        torch.autograd.grad(found, leaves, torch.ones_like(found))

    return _by_kernel(both)[:6]


def _by_kernel(run: Callable[[], None]) -> list[dict[str, Any]]:
    """Return the kernels that run, the longest first."""
    activities = [TORCH.profiler.ProfilerActivity.CUDA, TORCH.profiler.ProfilerActivity.CPU]
    with TORCH.profiler.profile(activities=activities) as kept:
        run()
        torch.cuda.synchronize()
    rows = [
        {"name": e.key[:200], "count": e.count, "ms": e.self_device_time_total / 1e3}
        for e in kept.key_averages()
        if e.device_type == TORCH.autograd.DeviceType.CUDA
    ]
    return sorted(rows, key=lambda row: -row["ms"])


def profiled(variant: str) -> list[dict[str, Any]]:
    """Return the kernels that take longest in one step of the example."""
    from examples import train_gpt

    sizes = train_gpt.Sizes()
    known = {"dtpoly": train_gpt.of_dtpoly, "torch": train_gpt.of_torch}
    model = train_gpt.model_of(sizes, known[variant](), "cuda")
    steps = train_gpt.batches(sizes, 5, "cuda")

    def step() -> None:
        tokens, following = next(steps)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(tokens, following)
        loss.backward()

    step()
    step()
    torch.cuda.synchronize()
    start = time.perf_counter()
    step()
    torch.cuda.synchronize()
    whole = 1e3 * (time.perf_counter() - start)
    rows = _by_kernel(step)
    total = sum(row["ms"] for row in rows)
    head = {"name": f"all kernels; a step takes {whole:.1f} ms", "count": 1, "ms": total}
    return [head, *rows[:30]]


def main(arguments: list[str]) -> int:
    """Measure as much as there is time for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training")
    parser.add_argument("-o", "--out", type=Path, default=Path("training_operators.json"))
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--only", help="operators, as in 'rms_norm;attention, causal'")
    parser.add_argument("--profile", action="store_true")
    said = parser.parse_args(arguments)
    begin = time.perf_counter()
    unproved()
    torch.set_float32_matmul_precision("high")
    results: dict[str, Any] = {}
    profiles: dict[str, Any] = {}
    known = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}

    def kept() -> None:
        text = json.dumps({**known, "results": results, "profiles": profiles}, indent=1)
        said.out.write_text(f"{text}\n")

    every = cases()
    for name in said.only.split(";") if said.only else every:
        results[name] = {}
        for other, found in compared(every[name]):
            results[name][other] = found
            words = " ".join(f"{k} {v:.4g}" for k, v in found.items() if isinstance(v, float))
            print(f"{name:32} {other:16} {words or found}", flush=True)
            kept()
            if time.perf_counter() - begin > said.seconds:
                return 0
    for variant in ("dtpoly", "torch") if said.profile else ():
        if time.perf_counter() - begin < said.seconds:
            try:
                profiles[variant] = profiled(variant)
            except Exception:  # the other one is of use all the same
                traceback.print_exc()
                continue
            kept()
            for row in profiles[variant]:
                print(f"{row['ms']:9.3f} ms {row['count']:5} {row['name'][:110]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
