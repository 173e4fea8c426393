"""Trains a small GPT with operators of dtpoly, and compares with torch, torch.compile and Liger.

    pip install '.[torch]'
    python examples/train_gpt.py                    # on a GPU: 200 steps of each variant
    python examples/train_gpt.py --tiny             # on a CPU, in Triton's interpreter
    python examples/train_gpt.py --only dtpoly      # more variants may follow later

Each variant has the same parameters at the start, and sees the same batches. Results are written
after each variant, as JSON and as a plot; a variant whose results are there is not run again.
"""

import argparse
import json
import math
import os
import statistics
import sys
import sysconfig
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

if "--tiny" in sys.argv:
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before anything imports triton

import torch
from torch import Tensor, nn
from torch.nn import functional as F

TORCH: Any = torch  # for functions that torch does not say the types of
VARIANTS = ("torch", "torch.compile", "liger", "dtpoly", "dtpoly+compile", "dtpoly-linear")
SKIPPED = 20  # steps that are not timed: kernels are compiled, and the allocator fills up


@dataclass(frozen=True)
class Sizes:
    """The sizes of a model and of its batches."""

    vocabulary: int = 32768
    layers: int = 12
    heads: int = 12
    width: int = 768
    hidden: int = 2048
    length: int = 1024
    batch: int = 16


TINY = Sizes(vocabulary=19, layers=1, heads=2, width=16, hidden=24, length=8, batch=2)


@dataclass(frozen=True)
class Operators:
    """The operators of a model other than its products of matrices."""

    norm: Callable[[int], nn.Module]
    rope: Callable[[Tensor, Tensor, Tensor], Tensor]
    attention: Callable[[Tensor, Tensor, Tensor], Tensor]
    unit: Callable[[Tensor, Tensor], Tensor]
    loss: Callable[[Tensor, Tensor, Tensor], Tensor]  # of rows, weights, and classes


def of_torch() -> Operators:
    """Return torch's own operators."""
    return Operators(
        norm=lambda width: nn.RMSNorm(width, eps=1e-6),
        rope=rotated,
        attention=lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        unit=lambda gate, up: F.silu(gate) * up,
        loss=lambda x, weight, classes: F.cross_entropy(F.linear(x, weight), classes),
    )


def of_dtpoly() -> Operators:
    """Return the operators of dtpoly.nn."""
    import dtpoly.nn as ours

    return Operators(
        norm=lambda width: ours.RMSNorm(width, eps=1e-6),
        rope=ours.rope,
        attention=lambda q, k, v: ours.scaled_dot_product_attention(q, k, v, is_causal=True),
        unit=ours.swiglu,
        loss=lambda x, weight, classes: ours.cross_entropy(F.linear(x, weight), classes),
    )


def of_dtpoly_alone() -> Operators:
    """Return the operators of dtpoly.nn, with a loss that keeps no logits."""
    import dtpoly.nn as ours

    return replace(of_dtpoly(), loss=ours.linear_cross_entropy)


def of_liger() -> Operators:
    """Return torch's operators, with those of Liger that it has. Raises ImportError."""
    ours: Any = import_module("liger_kernel.transformers")
    unit: Any = import_module("liger_kernel.ops.swiglu").LigerSiLUMulFunction
    loss: Any = ours.LigerCrossEntropyLoss()
    other = of_torch()
    return Operators(
        norm=partial(ours.LigerRMSNorm, eps=1e-6),
        rope=other.rope,
        attention=other.attention,
        unit=unit.apply,
        loss=lambda x, weight, classes: loss(F.linear(x, weight), classes),
    )


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate the halves of each head by the angles of its position."""
    first, second = x.chunk(2, dim=-1)
    c, s = (one[:, None].to(x.dtype) for one in (cos, sin))
    return torch.cat([first * c - second * s, second * c + first * s], dim=-1)


class Block(nn.Module):
    """Attention and a gated unit, each behind a norm and beside a residual."""

    def __init__(self, sizes: Sizes, operators: Operators) -> None:
        """Make the parameters of a block."""
        super().__init__()
        width, self.heads, self.operators = sizes.width, sizes.heads, operators
        self.before, self.between = operators.norm(width), operators.norm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, 2 * sizes.hidden, bias=False)
        self.down = nn.Linear(sizes.hidden, width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """Return what the next block is given."""
        batch, length, width = x.shape
        own = self.operators
        heads = self.qkv(self.before(x)).view(batch, length, 3, self.heads, -1)
        q, k, v = heads.unbind(2)
        q, k = own.rope(q, cos, sin), own.rope(k, cos, sin)
        found = own.attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
        x = x + self.out(found.transpose(1, 2).reshape(batch, length, width))
        gate, up = self.up(self.between(x)).chunk(2, dim=-1)
        result: Tensor = x + self.down(own.unit(gate, up))
        return result


class GPT(nn.Module):
    """A decoder with rotary positions, and a loss."""

    def __init__(self, sizes: Sizes, operators: Operators) -> None:
        """Make the parameters of a model."""
        super().__init__()
        self.operators = operators
        self.embedding = nn.Embedding(sizes.vocabulary, sizes.width)
        self.blocks = nn.ModuleList(Block(sizes, operators) for _ in range(sizes.layers))
        self.norm = operators.norm(sizes.width)
        self.head = nn.Linear(sizes.width, sizes.vocabulary, bias=False)
        half = sizes.width // sizes.heads // 2
        speed = 10000 ** (-torch.arange(half) / half)
        angles = torch.arange(sizes.length)[:, None] * speed
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, tokens: Tensor, following: Tensor) -> Tensor:
        """Return how surprising the following tokens are."""
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, self.cos, self.sin)
        rows = self.norm(x).flatten(0, 1)
        return self.operators.loss(rows, self.head.weight, following.flatten())


def model_of(sizes: Sizes, operators: Operators, device: str) -> GPT:
    """Return a model whose parameters are the same for each call."""
    TORCH.manual_seed(0)
    made = GPT(sizes, operators)
    for name, parameter in made.named_parameters():
        if parameter.dim() > 1:
            scale = 0.02 / math.sqrt(2 * sizes.layers) if name.endswith(("out", "down")) else 0.02
            nn.init.normal_(parameter, std=scale)
    return made.to(device)


def text_tokens(sizes: Sizes, count: int) -> Tensor:
    """Return pairs of bytes of Python's own library, the most common ones by rank."""
    found = bytearray()
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        found += path.read_bytes()
        if len(found) >= 2 * count:
            break
    pairs = torch.frombuffer(found[: len(found) // 2 * 2], dtype=torch.uint8).view(-1, 2).long()
    codes = pairs[:, 0] * 256 + pairs[:, 1]
    order = codes.bincount(minlength=65536).argsort(descending=True)
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order))
    return rank[codes].clamp(max=sizes.vocabulary - 1)


def batches(sizes: Sizes, steps: int, device: str) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield tokens, and those that follow each of them."""
    tokens = text_tokens(sizes, 4_000_000)
    generator = torch.Generator().manual_seed(1)
    for _ in range(steps):
        last = len(tokens) - sizes.length - 1
        starts: list[int] = TORCH.randint(last, (sizes.batch,), generator=generator).tolist()
        rows = torch.stack([tokens[at : at + sizes.length + 1] for at in starts]).to(device)
        yield rows[:, :-1].contiguous(), rows[:, 1:].contiguous()


def train(
    variant: str, sizes: Sizes, steps: int, device: str, seconds: float, last: float
) -> dict[str, Any]:
    """Train a variant, and return its losses, times and memory.

    It may take so many seconds behind its first step, in which kernels are made, proved and
    compiled; but nothing goes on after the last moment.
    """
    family = variant.removesuffix("+compile").removesuffix(".compile")
    known = {"torch": of_torch, "dtpoly": of_dtpoly, "liger": of_liger}
    known["dtpoly-linear"] = of_dtpoly_alone
    model = model_of(sizes, known[family](), device)
    rate = 3e-4 if sizes.layers > 1 else 1e-2
    optimizer: Any = TORCH.optim.AdamW(model.parameters(), lr=rate, fused=device == "cuda")
    call: Callable[..., Any] = model
    if variant.endswith("compile"):
        TORCH.compiler.reset()
        call = TORCH.compile(model, backend="inductor" if device == "cuda" else "aot_eager")
    losses: list[float] = []
    times: list[float] = []
    begin = time.perf_counter()
    ready, end = 0.0, last
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    for step, (tokens, following) in enumerate(batches(sizes, steps, device)):
        start = time.perf_counter()
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            loss = call(tokens, following)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.item())  # waits for the device
        times.append(time.perf_counter() - start)
        now = time.perf_counter()
        if not step:
            ready, end = now - begin, min(now + seconds, last)
        if now > end:
            print(f"{variant}: stopped after {step + 1} steps, as the time is over")
            break
    timed = times[SKIPPED:] or times[-1:]
    memory = torch.cuda.max_memory_allocated() / 2**30 if device == "cuda" else None
    return {
        "losses": losses,
        "step_ms": 1e3 * statistics.median(timed),
        "first_step_s": ready,
        "tokens_per_s": sizes.batch * sizes.length / statistics.median(timed),
        "peak_gib": memory,
    }


def compared(results: dict[str, Any]) -> None:
    """Print a line for each variant, with how far its losses are from torch's."""
    base = results.get("torch", {}).get("losses", [])
    for name, one in results.items():
        pairs = list(zip(one["losses"], base, strict=False))
        far = max((abs(a - b) for a, b in pairs), default=float("nan"))
        one["furthest_from_torch"] = far
        peak = "" if one["peak_gib"] is None else f"{one['peak_gib']:6.2f} GiB  "
        print(
            f"{name:16} {one['step_ms']:9.2f} ms a step  {peak}loss {one['losses'][0]:.4f} -> "
            f"{one['losses'][-1]:.4f} in {len(one['losses'])} steps, at most {far:.4f} from torch's"
        )


def plotted(results: dict[str, Any], path: Path) -> None:
    """Draw the losses, if matplotlib is installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("matplotlib is not installed, so nothing is drawn")
        return
    figure: Any = Figure(figsize=(8, 4.5), layout="constrained")
    axes: Any = figure.add_subplot()
    for name, one in results.items():
        axes.plot(one["losses"], label=f"{name}: {one['step_ms']:.1f} ms a step", linewidth=1)
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    axes.legend()
    figure.savefig(path)
    print(f"wrote {path}")


def main(arguments: list[str]) -> int:
    """Train each variant, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tiny", action="store_true", help="a toy model, on the CPU")
    parser.add_argument("--steps", type=int, help="how many steps  [default: 200; tiny: 5]")
    parser.add_argument("--seconds", type=float, default=540, help="a limit for all variants")
    parser.add_argument("--only", help="variants, as in torch,dtpoly")
    parser.add_argument("--again", action="store_true", help="run also what was run already")
    parser.add_argument("-o", "--out", type=Path, default=Path("train_gpt.json"))
    said = parser.parse_args(arguments)
    sizes, device = (TINY, "cpu") if said.tiny else (Sizes(), "cuda")
    steps = said.steps or (5 if said.tiny else 200)
    torch.set_float32_matmul_precision("high")
    begin = time.perf_counter()
    wanted = said.only.split(",") if said.only else list(VARIANTS)
    known: dict[str, Any] = json.loads(said.out.read_text()) if said.out.exists() else {}
    results: dict[str, Any] = known.get("results", {})
    failed: list[str] = []
    for at, variant in enumerate(wanted):
        if variant in results and not said.again:
            continue
        now = time.perf_counter() - begin
        share = (said.seconds - now) / (len(wanted) - at)
        try:
            last = begin + said.seconds
            results[variant] = train(variant, sizes, steps, device, share, last)
        except ImportError as error:
            print(f"{variant}: {error}")
            continue
        except Exception:  # the other variants are of use all the same
            traceback.print_exc()
            failed.append(variant)
            continue
        machine = torch.cuda.get_device_name() if device == "cuda" else "cpu"
        compared(results)
        said.out.write_text(
            json.dumps(
                {"device": machine, "torch": torch.__version__, "sizes": vars(sizes)}
                | {"results": results},
                indent=1,
            )
        )
    print(f"wrote {said.out}")
    plotted(results, said.out.with_suffix(".png"))
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
