"""A transposed convolution in three dimensions, with everything that torch's has."""

import pytest
import torch

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported
from tests.verify.texts import text_of, written

# Stride 2 by 1 by 3, padding 1 by 0 by 2, dilation 1 by 2 by 1; each 2 channels give 3.
TEXT = """
Func y; In A, W; Var b, f, d, h, w; RVar e: 2, q, r, s;
y[b, f, d, h, w] = rsum(
    where((d + 1 - q) % 2 == 0 and (w + 2 - s) % 3 == 0,
            pad(A, 0)[b, 2 * (f // 3) + e, (d + 1 - q) // 2, h - 2 * r, (w + 2 - s) // 3], 0)
    * W[2 * (f // 3) + e, f % 3, q, r, s], e, q, r, s);
y.block(h:2, w:16); y.tensorize(h:0, w:0); y.compile();
"""
# Images, groups, the sides of an image and of a filter, and the output padding.
CALLS = (
    (1, 1, (2, 1, 2), (2, 1, 2), (0, 0, 0)),
    (1, 2, (2, 2, 2), (2, 2, 2), (1, 0, 1)),
)


@pytest.mark.long
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_it_is_that_of_torch(
    call: tuple[int, int, tuple[int, ...], tuple[int, ...], tuple[int, ...]], dtype: torch.dtype
) -> None:
    images, groups, sides, counts, more = call
    (d, h, w), (q, r, s) = sides, counts
    drawn = torch.Generator().manual_seed(1)
    a = torch.randn(images, 2 * groups, *sides, generator=drawn).to(dtype)
    filters = torch.randn(2 * groups, 3, *counts, generator=drawn).to(dtype)
    wanted = torch.nn.functional.conv_transpose3d(
        a.double(),
        filters.double(),
        stride=(2, 1, 3),
        padding=(1, 0, 2),
        output_padding=more,
        groups=groups,
        dilation=(1, 2, 1),
    )
    high = (
        2 * (d - 1) - 2 + q + more[0],
        h - 1 + 2 * (r - 1) + 1 + more[1],
        3 * (w - 1) - 4 + s + more[2],
    )
    sizes = dict(zip("dhw", high, strict=True))
    found = imported(text_of(written(TEXT))).y(
        a.transpose(1, 2).contiguous().transpose(1, 2), filters, **sizes
    )
    assert found.shape == wanted.shape
    share = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 3e-2}[dtype]
    torch.testing.assert_close(found.double(), wanted, rtol=share, atol=share)


@pytest.mark.long
def test_it_is_proved() -> None:
    """It has nine labels, and takes most of a minute: a call with the usual limit says so."""
    of = written(TEXT)
    assert verify(of, text_of(of), seconds=240).verdict is LayerVerdict.PROVED
