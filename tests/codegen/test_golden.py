"""The kernels of every listing and example, as a reader sees them."""

import pytest

from dtpoly.plan.runtime_text import FIRST, LAST
from tests.codegen.listings import FILES, PRODUCTS, WITH_KERNELS, code
from tests.conftest import Golden

# From its first line on, but without the runtime; of the others only kernels and plans.
WHOLE = ("softmax",)


@pytest.mark.sampled
@pytest.mark.parametrize("name", FILES)
def test_kernels(name: str, golden: Golden) -> None:
    text = code(name).text
    kernels, _, rest = text.partition(FIRST)
    kernels = kernels.rstrip("\n") + "\n"
    if name in WHOLE:
        shown = f"{kernels}\n\n{rest.partition(LAST)[2].lstrip()}"
    else:
        shown = kernels[kernels.index("@triton.jit\n") :]
    golden(f"codegen/{name}.py.txt", shown)


@pytest.mark.sampled
@pytest.mark.parametrize("name", [*WITH_KERNELS, *PRODUCTS])
def test_the_same_text_again(name: str) -> None:
    again = code.__wrapped__(name)
    assert again.text == code(name).text
