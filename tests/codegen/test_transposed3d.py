"""A transposed convolution in three dimensions, with everything that torch's has."""

import pytest
import torch

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.listings import module, program
from tests.verify.texts import text_of

NAME = "conv_transpose3d"
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
    found = module(NAME).y(a.transpose(1, 2).contiguous().transpose(1, 2), filters, **sizes)
    assert found.shape == wanted.shape
    share = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 3e-2}[dtype]
    torch.testing.assert_close(found.double(), wanted, rtol=share, atol=share)


@pytest.mark.long
def test_it_is_proved() -> None:
    """It has nine labels, and takes most of a minute: a call with the usual limit says so."""
    of = program(NAME)
    assert verify(of, text_of(of), seconds=240).verdict is LayerVerdict.PROVED
