"""The kernels of every listing and example, as a reader sees them."""

import pytest

from dtpoly.codegen.module import SHARED_BELOW
from tests.codegen.listings import FILES, PRODUCTS, WITH_KERNELS, code
from tests.conftest import Golden

# With what the functions of a file share; the others without it.
WHOLE = ("softmax",)


@pytest.mark.sampled
@pytest.mark.parametrize("name", FILES)
def test_kernels(name: str, golden: Golden) -> None:
    text = code(name).text
    if name not in WHOLE:
        text = text[text.index("@triton.jit\n") : text.index(f"\n\n{SHARED_BELOW}")] + "\n"
    golden(f"codegen/{name}.py.txt", text)


@pytest.mark.parametrize("name", [*WITH_KERNELS, *PRODUCTS])
def test_the_same_text_again(name: str) -> None:
    again = code.__wrapped__(name)
    assert again.text == code(name).text
