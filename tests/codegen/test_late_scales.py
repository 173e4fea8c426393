"""The largest of a tile's scores is multiplied by a scale above 0, instead of each score."""

import pytest
import torch

from dtpoly.api import parse
from tests.codegen.test_folded_scales import PRODUCT, kernel_of, text_of

LATE = {
    "by a size": f"{PRODUCT} * rsqrt(len(k))",
    "by a quotient of a size": f"{PRODUCT} * (1 / sqrt(len(k)))",
    "by a number": f"0.125 * {PRODUCT}",
    "behind a function": f"30 * tanh({PRODUCT} * 0.03)",
}
EARLY = {
    "by a scalar, whose sign nobody knows": f"{PRODUCT} * c",
    "by a number below 0": f"{PRODUCT} * -0.125",
    "by a number for each query": f"{PRODUCT} * exp(Q[m, 0])",
    "by a difference of sizes": f"{PRODUCT} * rsqrt(len(k) - 3)",
    "by a size, which may be 0": f"{PRODUCT} * len(k)",
    "by a number that 32 bits do not hold": f"{PRODUCT} * 1e-40",
    "not at all": PRODUCT,
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", LATE)
def test_the_maximum_has_the_scale(name: str) -> None:
    text = kernel_of(text_of(LATE[name]))
    assert text.count("_unscaled = tl.reduce(") == text.count(", 1, dt_max)") == 2
    assert "top_max_tile = scores_acc\n" in text or "top_max_tile = scores_unscaled\n" in text


@pytest.mark.sampled
@pytest.mark.parametrize("name", EARLY)
def test_other_scores_have_it_themselves(name: str) -> None:
    text = kernel_of(text_of(EARLY[name]))
    assert "_unscaled" not in text
    assert ", 1, dt_max)" in text


@pytest.mark.sampled
@pytest.mark.parametrize("name", LATE)
@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 40])
def test_it_computes_the_same(name: str, size: int) -> None:
    """Scores of either sign, so that a scale of another sign would have another maximum."""
    scheduled = parse(text_of(LATE[name]))
    make = torch.Generator().manual_seed(size)
    Q, K, V = (
        torch.randn(a, b, generator=make) * 4
        for a, b in ((size, 16), (size + 3, 16), (size + 3, 5))
    )
    product = Q.double() @ K.double().T
    scores = {
        "by a number": 0.125 * product,
        "behind a function": 30 * torch.tanh(product * 0.03),
    }.get(name, product / 4)
    wanted = torch.softmax(scores, -1) @ V.double()
    assert torch.allclose(scheduled(Q, K, V).double(), wanted, rtol=1e-4, atol=1e-4)


def test_products_of_nothing_are_no_numbers() -> None:
    """Scores are 0 then, and the scale is infinite: so it is in torch, and here."""
    scheduled = parse(text_of(LATE["by a size"]))
    Q, K, V = torch.empty(3, 0), torch.empty(5, 0), torch.ones(5, 2)
    assert scheduled(Q, K, V).isnan().all()
    assert torch.softmax(Q @ K.T / 0.0, -1).isnan().all()
