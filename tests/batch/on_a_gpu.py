"""On a GPU: the same row in batches of 1, 2, 17 and 1000, to be run as a process of its own.

    TRITON_INTERPRET=0 python -m tests.batch.on_a_gpu [--only softmax] [--seconds 80]

It must not run where kernels are interpreted, as they are in the other tests. For each row that has
other bits it prints a line, and it ends with 1 if there is any. The theorem is about calls whose
strides are of one kind (docs/same-bits.md); calls with strides of another kind are made, too, and
how many of them have other bits is said, which is no mistake. What was not reached in time is said,
and counts as no mistake.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from dtpoly import load

ROOT = Path(__file__).parents[2]
BATCHES = (1, 2, 17, 1000)
# How many elements of memory a row has more than it needs: rows then begin at other addresses.
APART = (0, 1, 3, 16)
LENGTHS = (1, 100, 512, 1000, 1024, 4097)
COLUMNS = (16, 100, 1024)
# Examples with how many vectors as long as a row they take, and with the scalars behind these.
ROWS: dict[str, tuple[int, tuple[float, ...]]] = {
    "softmax": (0, ()),
    "row_sum": (0, ()),
    "log_sum_exp": (0, ()),
    "layer_norm": (2, (1e-5,)),
    "rms_norm": (1, (1e-5,)),
}
PRODUCT = "matmul"
DEPTH = 256
SEED = 11

Kernel = Callable[..., torch.Tensor]


@dataclass(frozen=True, slots=True)
class RowInBatches:
    """An example, the length of a row, and what it takes beside the rows."""

    example: str
    length: int
    more: tuple[Any, ...]

    @property
    def name(self) -> str:
        """Return what tells it from others."""
        beside = "x".join(
            str(n) for one in self.more[:1] if hasattr(one, "shape") for n in one.shape
        )
        return f"{self.example}, rows of {self.length}" + (f", beside {beside}" if beside else "")


def cases(device: str) -> Iterator[RowInBatches]:
    """Yield all rows that are looked at."""
    for example, (vectors, scalars) in ROWS.items():
        for length in LENGTHS:
            made = tuple(torch.randn(length, device=device) for _ in range(vectors))
            yield RowInBatches(example, length, (*made, *scalars))
    for columns in COLUMNS:
        yield RowInBatches(PRODUCT, DEPTH, (torch.randn(DEPTH, columns, device=device),))


def batch_with(row: torch.Tensor, size: int, at: int, apart: int) -> torch.Tensor:
    """Return random rows, `apart` elements of memory wider than needed, with one row put in."""
    wide = torch.randn(size, len(row) + apart, device=row.device)
    batch = wide[:, : len(row)]
    batch[at] = row
    return batch


def kernel_of(example: str) -> Kernel:
    """Return the function of an example, with the schedule of its file."""
    kernel: Kernel = load(ROOT / "examples" / f"{example}.dt")
    return kernel


def kind_of(stride: int) -> tuple[bool, ...]:
    """Return what a variant of a kernel takes for known of a stride."""
    return stride == 1, stride % 4 == 0, stride % 16 == 0


def steps(length: int, is_alike: bool) -> tuple[int, ...]:
    """Return how far rows may be apart whose strides are of one kind, or of another one."""
    alike = [kind_of(length + apart) == kind_of(length) for apart in APART]
    return tuple(apart for apart, same in zip(APART, alike, strict=True) if same is is_alike)


def differing(
    case: RowInBatches,
    kernel: Kernel,
    device: str,
    batches: tuple[int, ...] = BATCHES,
    aparts: tuple[int, ...] = APART,
) -> list[str]:
    """Return the batches in which a row has other bits than in the first one."""
    row = torch.randn(case.length, device=device)
    wanted: torch.Tensor | None = None
    found: list[str] = []
    for size in batches:
        for at in sorted({0, size // 2, size - 1}):
            for apart in aparts:
                result = kernel(batch_with(row, size, at, apart), *case.more)[at].clone()
                if wanted is None:
                    wanted = result
                # Bits are compared: a nan equals itself, and 0.0 is not -0.0.
                if not torch.equal(result.view(torch.int32), wanted.view(torch.int32)):
                    count = int((result != wanted).sum())
                    where = f"batch of {size}, row {at}, {apart} elements apart"
                    found.append(f"{case.name}: {where}: {count} of {result.numel()} are others")
    return found


def main(arguments: list[str]) -> int:
    """Look at all rows, as long as there is time."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=900.0)
    asked = parser.parse_args(arguments)
    if os.environ.get("TRITON_INTERPRET", "0") not in ("", "0"):
        print("kernels are interpreted here: set TRITON_INTERPRET=0")
        return 2
    if not torch.cuda.is_available():
        print("there is no GPU here")
        return 2
    seeded: Any = torch
    seeded.manual_seed(SEED)
    began, wrong, left = time.monotonic(), 0, 0
    versions = f"torch {torch.__version__}, triton {import_module('triton').__version__}"
    print(f"{torch.cuda.get_device_name()}, {versions}")
    for case in cases("cuda"):
        if asked.only not in case.name:
            continue
        if time.monotonic() - began > asked.seconds:
            left += 1
            continue
        kernel, apart = kernel_of(case.example), steps(case.length, is_alike=False)
        found = differing(case, kernel, "cuda", aparts=steps(case.length, is_alike=True))
        wrong += len(found)
        print("\n".join(found) or f"{case.name}: the same bits", flush=True)
        if apart:
            others = differing(case, kernel, "cuda", aparts=(0, *apart))
            print(f"{case.name}, with strides of another kind: {len(others)} calls differ")
    if left:
        print(f"{left} rows were not looked at: the time is over")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
