"""On a GPU: the same row in batches of 1, 2, 17 and 1000 has the same bits where that is proved.

The proof takes for granted that Triton compiles what a row is made of alike in each variant of a
kernel (see docs/same-bits.md). That is measured here, on the device at hand: at lengths of rows for
which Triton makes several variants, with rows that begin at aligned addresses and with others.
"""

from pathlib import Path

import pytest
import torch

from dtpoly import load

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).parents[2]
BATCHES = (1, 2, 17, 1000)
# Examples with how many vectors as long as a row they take, and with the scalars behind these.
ROWS = {
    "softmax": (0, ()),
    "row_sum": (0, ()),
    "log_sum_exp": (0, ()),
    "layer_norm": (2, (1e-5,)),
    "rms_norm": (1, (1e-5,)),
}
DEVICE = "cuda"
LENGTHS = (1, 100, 512, 1000, 1024, 4097)


def batch_with(row: torch.Tensor, size: int, at: int, apart: int) -> torch.Tensor:
    """Return random rows, `apart` elements of memory wider than needed, with one row put in."""
    wide = torch.randn(size, len(row) + apart, device=row.device)
    batch = wide[:, : len(row)]
    batch[at] = row
    return batch


@pytest.mark.parametrize("example", [*ROWS])
@pytest.mark.parametrize("length", LENGTHS)
def test_a_row_in_four_batches(example: str, length: int) -> None:
    kernel = load(ROOT / "examples" / f"{example}.dt")
    row = torch.randn(length, device=DEVICE)
    vectors, scalars = ROWS[example]
    more = [*(torch.randn(length, device=DEVICE) for _ in range(vectors)), *scalars]
    wanted: torch.Tensor | None = None
    for size in BATCHES:
        for at in {0, size // 2, size - 1}:
            for apart in (0, 1, 3, 16):
                found = kernel(batch_with(row, size, at, apart), *more)[at]
                wanted = found if wanted is None else wanted
                assert wanted is not None
                assert torch.equal(found, wanted), (size, at, apart)


@pytest.mark.parametrize("columns", [16, 100, 1024])
def test_a_row_of_a_product_in_four_batches(columns: int) -> None:
    kernel = load(ROOT / "examples" / "matmul.dt")
    row = torch.randn(256, device=DEVICE)
    right = torch.randn(256, columns, device=DEVICE)
    wanted: torch.Tensor | None = None
    for size in BATCHES:
        for at in {0, size - 1}:
            found = kernel(batch_with(row, size, at, 0), right)[at]
            wanted = found if wanted is None else wanted
            assert wanted is not None
            assert torch.equal(found, wanted), (size, at)
